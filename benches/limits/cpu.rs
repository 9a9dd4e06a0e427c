//! The processor's time and memory, as the system counts them.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What something has used.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// Time of the processor, in seconds.
    pub cpu_s: f64,
    /// The most memory at once, in KiB.
    pub memory_kib: f64,
}

impl Used {
    fn of(usage: Usage) -> Self {
        let cpu_us = (usage.user_time() + usage.system_time()).num_microseconds();
        Self { cpu_s: cpu_us as f64 / 1e6, memory_kib: usage.max_rss() as f64 }
    }

    /// The most memory at once, in MB.
    pub fn memory_mb(self) -> f64 {
        self.memory_kib * 1_024.0 / 1e6
    }
}

/// What all children that have ended used; the memory is that of the largest.
pub fn of_children() -> Used {
    Used::of(getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts"))
}

/// The processor's seconds that `work` takes in this process.
pub fn seconds(work: impl FnOnce()) -> f64 {
    let now_s = || Used::of(getrusage(UsageWho::RUSAGE_SELF).expect("the system counts")).cpu_s;
    let before_s = now_s();
    work();
    now_s() - before_s
}

/// What the cheapest of so many runs has used.
pub fn best_of(runs: u32, run: impl Fn() -> Used) -> Used {
    (0..runs).map(|_| run()).min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s)).expect("there is a run")
}
