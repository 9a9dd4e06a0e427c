//! In the steady state of a run nothing is allocated: what is in progress lives in tables that have grown to the most
//! they ever held.
//!
//! One program with one test, for the allocator that counts is that of the whole program.

use std::path::Path;

use stormsim::scenario::{Overrides, Scenario};
use stormsim::sim::{Note, Tap, simulate_tapped};
use stormsim::time::{Instant, Span};

#[global_allocator]
static COUNTED: dhat::Alloc = dhat::Alloc;

/// Looks at the count of allocations at the first note from `from` on, and at the last one before `until`.
struct Allocations {
    from: Instant,
    until: Instant,
    first: Option<u64>,
    last: u64,
    attempts: u64,
}

impl Tap for Allocations {
    fn note(&mut self, now: Instant, note: Note) {
        if now < self.from || now >= self.until {
            return;
        }
        self.last = dhat::HeapStats::get().total_blocks;
        self.first.get_or_insert(self.last);
        self.attempts += u64::from(matches!(note, Note::Sent { .. }));
    }
}

/// After an outage of a second, which has filled queues and tables, and some seconds of quiet: so many attempts are
/// made in three seconds, over thirty windows of 100 ms and three buckets of the timeline, and none allocates.
fn nothing_is_allocated(file: &str, attempts: u64) {
    let set = ["horizon=12s", "faults.outage.from=1s", "faults.outage.until=2s"];
    let overrides = Overrides { set: set.map(str::to_owned).into(), ..Overrides::default() };
    let scenario = Scenario::load(Path::new(file), &overrides).expect("it is right");
    let at_s = |s: u64| Instant::ZERO + Span::from_ms(1_000 * s);
    let mut seen = Allocations { from: at_s(8), until: at_s(11), first: None, last: 0, attempts: 0 };
    simulate_tapped(&scenario.variants()[0].1, 42, 0, &mut seen);
    assert!(seen.attempts > attempts, "{file} made only {} attempts", seen.attempts);
    assert_eq!(seen.first.map(|first| seen.last - first), Some(0), "{file} allocates");
}

#[test]
fn a_run_in_its_steady_state_allocates_nothing() {
    let _counting = dhat::Profiler::builder().testing().build();
    // It can be seen: otherwise nothing would ever be counted.
    let before = dhat::HeapStats::get().total_blocks;
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(dhat::HeapStats::get().total_blocks, before + 1);
    nothing_is_allocated("benches/chain.toml", 80_000);
    nothing_is_allocated("benches/protected.toml", 80_000);
}
