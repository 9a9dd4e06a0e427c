//! The faults of a sketch: what each strikes of what its effect fits, and which plans need a horizon because of them.

use stormsim::dist::name_key;
use stormsim::plan::{
    Arrivals, CallId, Capacity, Direction, Effect, Fault, GroupId, Plan, ServiceId, Target, Timeout, Windows,
};
use stormsim::time::Instant;

use super::sketch::{FaultSketch, Sketch, TargetSketch};

impl Sketch {
    /// Adds the faults to a plan that is otherwise whole.
    pub(super) fn add_faults(&self, plan: &mut Plan) {
        for (index, sketch) in self.faults.iter().enumerate() {
            let targets = targets(plan, sketch);
            if targets.is_empty() {
                continue;
            }
            let name = format!("fault{index}");
            let fault = Fault {
                key: name_key(&name),
                targets,
                first_instances: sketch.first_instances,
                windows: sketch.windows.clone(),
                effect: sketch.effect.clone(),
            };
            if !self.unlimited || fault.only_turns_away() {
                plan.faults.push(fault);
                plan.labels.faults.push(name);
            }
        }
        if plan.horizon.is_none() && plan.faults.iter().any(|fault| may_stop_everything(plan, fault)) {
            plan.horizon = Some(self.last_horizon);
        }
    }
}

/// Each once, in the order of their numbers.
fn targets(plan: &Plan, sketch: &FaultSketch) -> Vec<Target> {
    let one_of = |number: usize, all: usize| (number % all) as u32;
    let target = |target: &TargetSketch| match *target {
        TargetSketch::Service(number) => Target::Service(ServiceId(one_of(number, plan.services.len()))),
        TargetSketch::Call(number) => Target::Call(CallId(one_of(number, plan.calls.len()))),
        TargetSketch::Group(number) => Target::Group(GroupId(one_of(number, plan.groups.len()))),
    };
    let mut targets: Vec<Target> = Vec::new();
    for target in sketch.targets.iter().map(target) {
        if fits(plan, sketch, target) && !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

/// Whether a fault can be on a target, as far as what a sketch may say is concerned.
fn fits(plan: &Plan, sketch: &FaultSketch, target: Target) -> bool {
    match (&sketch.effect, target) {
        (Effect::Capacity { .. }, Target::Service(service)) => {
            plan.services[service.index()].capacity.workers != Capacity::NO_LIMIT
        }
        (Effect::Pause, Target::Service(_)) => {
            let pauses = plan.faults.iter().filter(|fault| fault.effect == Effect::Pause);
            let here = pauses.filter(|fault| fault.targets.contains(&target));
            here.into_iter().all(|fault| are_apart(&fault.windows, &sketch.windows))
        }
        (Effect::Load { .. }, Target::Group(group)) => {
            matches!(plan.groups[group.index()].arrivals, Arrivals::Constant { .. } | Arrivals::Poisson(_))
        }
        _ => true,
    }
}

/// Whether no instant can be in both. Of windows that come again it is not said.
fn are_apart(one: &Windows, other: &Windows) -> bool {
    match (one, other) {
        (Windows::Once(one), Windows::Once(other)) => one.end <= other.start || other.end <= one.start,
        _ => false,
    }
}

/// Whether there is a last window, and it ends. (Random ones of a sketch are cut off.)
fn ends(windows: &Windows) -> bool {
    match windows {
        Windows::Once(window) => window.end < Instant::LIMIT,
        Windows::Repeated { .. } => false,
        Windows::Random { .. } => true,
    }
}

/// Whether something may wait for what never comes.
fn may_stop_everything(plan: &Plan, fault: &Fault) -> bool {
    let waits_for_ever = |call: &stormsim::plan::Call| {
        call.timeout == Timeout::NONE
            && call.total_timeout == Timeout::NONE
            && (call.connect_timeout == Timeout::NONE || fault.effect != Effect::BlackHole)
    };
    let is_struck = |(id, call): (u32, &stormsim::plan::Call)| {
        let on_its_way = [Target::Call(CallId(id)), Target::Service(call.target)];
        on_its_way.iter().any(|target| fault.targets.contains(target)) && waits_for_ever(call)
    };
    match fault.effect {
        Effect::BlackHole | Effect::Loss { direction: Direction::Request | Direction::Response, .. } => {
            (0..).zip(&plan.calls).any(is_struck)
        }
        // Those that come again may be too close for any work between them.
        Effect::Pause => !ends(&fault.windows),
        // Half of a worker is one. Without any, for good or by turns of several faults, nothing goes on.
        Effect::Capacity { factor } => factor < 0.5 && !ends(&fault.windows),
        Effect::Fail(_) | Effect::Refuse | Effect::Crash | Effect::Slow { .. } | Effect::Load { .. } => false,
    }
}
