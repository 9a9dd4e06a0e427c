//! Replicas in parallel, and more of them until what matters is known well enough.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::experiment::precision::{Precision, Spread};
use crate::experiment::{CutShort, Experiment};
use crate::metrics::{End, Outcome};
use crate::scenario::Scenario;
use crate::sim::{Bounds, simulate_within};

/// What is kept of one replica.
pub(super) struct Replica<K> {
    /// Which, from 0.
    pub number: u32,
    /// Whether a limit of the simulator cut it short, and where.
    pub cut_short: Option<CutShort>,
    /// What was read from it.
    pub kept: K,
}

/// All that ran.
pub(super) struct Ran<K> {
    /// How many replicas of each variant were to run.
    pub wanted: u32,
    /// By variant, in the order of their numbers: those that were not interrupted.
    pub variants: Vec<Vec<Replica<K>>>,
    /// What was known least well at the end; none unless a precision was asked for.
    pub widest: Option<Spread>,
}

impl<'a> Experiment<'a> {
    /// All variants of a scenario, with its seed and its number of replicas.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, frames: Bounds::default().frames, precision: None }
    }

    /// Ends a replica that has more calls, or more pieces of work at servers, in progress at once than this; without
    /// it, 2^28.
    pub fn at_most_in_progress(self, frames: usize) -> Self {
        Self { frames: frames.min(self.frames), ..self }
    }

    /// Adds replicas, to all variants as many, until this precision is reached. How many that takes follows from the
    /// results alone, and so from the seed.
    pub fn to_precision(self, precision: Precision) -> Self {
        Self { precision: Some(precision), ..self }
    }

    /// How many replicas it runs in all, before any are added.
    pub fn runs(&self) -> u64 {
        self.scenario.variants().len() as u64 * u64::from(self.scenario.replicas)
    }

    /// Runs replicas and keeps of each what `keep` reads from the outcome, given the position of the variant. `widest`
    /// tells what is known least well.
    ///
    /// Nothing here depends on the number of threads: replicas share nothing, and come out in their order.
    pub(super) fn replicas<K: Send>(
        &self,
        stop: &AtomicBool,
        progress: impl Fn() + Sync,
        keep: impl Fn(usize, &Outcome) -> K + Sync,
        widest: impl Fn(&[Vec<Replica<K>>]) -> Option<Spread>,
    ) -> Ran<K> {
        let mut variants: Vec<Vec<Replica<K>>> = self.scenario.variants().iter().map(|_| Vec::new()).collect();
        let (mut done, mut wanted) = (0, self.scenario.replicas);
        loop {
            self.add(&mut variants, done..wanted, stop, &progress, &keep);
            let Some(precision) = self.precision else { return Ran { wanted, variants, widest: None } };
            let spread = widest(&variants);
            let is_cut = variants.iter().flatten().any(|replica| replica.cut_short.is_some());
            let more = spread.as_ref().and_then(|spread| precision.more(wanted, spread.share));
            match more.filter(|_| !is_cut) {
                // Those that are still wanted are missing.
                Some(wanted) if stop.load(Ordering::Relaxed) => return Ran { wanted, variants, widest: spread },
                Some(more) => (done, wanted) = (wanted, more),
                None => return Ran { wanted, variants, widest: spread },
            }
        }
    }

    /// Runs the replicas with these numbers, of every variant.
    fn add<K: Send>(
        &self,
        variants: &mut [Vec<Replica<K>>],
        numbers: Range<u32>,
        stop: &AtomicBool,
        progress: &(impl Fn() + Sync),
        keep: &(impl Fn(usize, &Outcome) -> K + Sync),
    ) {
        let (plans, seed) = (self.scenario.variants(), self.scenario.seed);
        let each = numbers.len();
        let bounds = Bounds { stop, frames: self.frames, ..Bounds::default() };
        let run = |run: usize| {
            let (variant, number) = (run / each, numbers.start + (run % each) as u32);
            let plan = &plans[variant].1;
            let outcome = simulate_within(plan, seed, number, bounds);
            let cut_short = match outcome.ended {
                End::Interrupted => return None,
                End::Limit(limit) => Some(CutShort::of(plan, number, &outcome, limit)),
                End::Drained | End::Horizon => None,
            };
            progress();
            Some(Replica { number, cut_short, kept: keep(variant, &outcome) })
        };
        let mut ran: Vec<Option<Replica<K>>> = (0..each * plans.len()).into_par_iter().map(run).collect();
        let mut ran = ran.drain(..);
        for variant in variants {
            variant.extend(ran.by_ref().take(each).flatten());
        }
    }
}
