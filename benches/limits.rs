//! What the speed of this simulator must be, and what it is: a table.
//!
//! The unit is `h`, one hold operation of a plain binary heap at 10^5 pending events, measured in turn with each row in
//! the same process: a ratio can be compared between machines and on a busy one, a time cannot. All times are those of
//! the processor, the best of five; the replicas in parallel are compared by the clock on the wall, for there is no
//! other way to see that two threads are faster than one.
//!
//!     cargo bench --bench limits
//!     cargo bench --bench limits -- --huge     with 10^8 clients as well, which takes more than a minute and 6 GB
//!
//! It reports and judges nothing: whoever changes the engine reads it.

#[path = "hold/agenda.rs"]
mod agenda_hold;
#[path = "limits/cpu.rs"]
mod cpu;
mod hold;
#[path = "limits/work.rs"]
mod work;

use std::hint::black_box;
use std::process::ExitCode;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

use cpu::{Used, best_of, seconds};
use hold::HeapHold;

/// Runs of which the best counts.
const RUNS: u32 = 5;
/// Hold operations of the heap per run.
const HOLDS: u32 = 1_000_000;

/// Something that is measured, with what it must be and what would be better still.
struct Row {
    work: &'static str,
    is: String,
    must: String,
    aim: String,
    holds: bool,
}

impl Row {
    /// Of `measured`, in `unit`; less is better.
    fn at_most(work: &'static str, measured: f64, unit: &str, must: f64, aim: f64) -> Self {
        let written = |figure: f64| format!("{figure:.2} {unit}");
        Self { work, is: written(measured), must: written(must), aim: written(aim), holds: measured <= must }
    }

    /// Of `measured`, in `unit`; more is better.
    fn at_least(work: &'static str, measured: f64, unit: &str, must: f64, aim: f64) -> Self {
        Self { holds: measured >= must, ..Self::at_most(work, measured, unit, must, aim) }
    }
}

/// The heap's time and the time of something else, taken in turn.
struct Beside {
    heap: HeapHold,
    best_h: f64,
}

impl Beside {
    /// How many holds of the heap one operation of `work` takes, which says how many operations it was.
    fn ratio(&mut self, mut work: impl FnMut() -> u64) -> f64 {
        let (mut best_h, mut best) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..RUNS {
            let spent = seconds(|| (0..HOLDS).for_each(|_| _ = black_box(self.heap.hold())));
            best_h = best_h.min(spent / f64::from(HOLDS));
            let mut operations = 0;
            let spent = seconds(|| operations = work());
            best = best.min(spent / operations as f64);
        }
        self.best_h = self.best_h.min(best_h);
        best / best_h
    }
}

fn main() -> ExitCode {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    // What cargo says when it is to measure; asked by `cargo test --benches` there is nothing to do.
    if !has("--bench") {
        return ExitCode::SUCCESS;
    }
    let is_huge = has("--huge");
    // First of all: what the largest child has used is only known of all children together.
    let start = best_of(RUNS, work::three_tier);
    let large = best_of(RUNS, || work::storm_of_program(10_000_000));
    let mut beside = Beside { heap: HeapHold::new(100_000), best_h: f64::INFINITY };
    let mut rows = vec![
        Row::at_most("storm of 10^6, per event", beside.ratio(work::storm(1_000_000)), "h", 0.75, 0.5),
        Row::at_most(
            "agenda at 10^6 pending, per pop and push",
            beside.ratio(work::agenda(1_000_000)),
            "h",
            0.45,
            0.32,
        ),
        Row::at_most("chain, per event", beside.ratio(work::scenario("benches/chain.toml")), "h", 0.9, 0.5),
        Row::at_most("protected, per event", beside.ratio(work::scenario("benches/protected.toml")), "h", 1.25, 0.7),
        Row::at_least("64 replicas of the chain, 2 threads to 1", work::gain_of_two_threads(RUNS), "x", 1.9, 2.0),
        Row::at_most("storm of 10^7, whole process", large.cpu_s, "s", 3.5, 2.2),
        Row::at_most("storm of 10^7, memory", large.memory_mb(), "MB", 750.0, 500.0),
        Row::at_most("run of three-tier.toml without charts", start.cpu_s * 1e3, "ms", 50.0, 20.0),
    ];
    if is_huge {
        let Used { cpu_s, .. } = work::storm_of_program(100_000_000);
        rows.push(Row::at_most("storm of 10^8, whole process, one run", cpu_s, "s", f64::INFINITY, 40.0));
        let memory_gb = cpu::of_children().memory_mb() / 1e3;
        rows.push(Row::at_most("storm of 10^8, memory", memory_gb, "GB", f64::INFINITY, 8.0));
    }
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(["work", "is", "must", "aim", ""]);
    for Row { work, is, must, aim, holds } in rows {
        table.add_row([work, &is, &must.replace("inf", "-"), &aim, if holds { "" } else { "missed" }]);
    }
    table.column_iter_mut().skip(1).take(3).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    println!("h = {:.1} ns\n\n{table}", beside.best_h * 1e9);
    ExitCode::SUCCESS
}
