//! What wrong scenarios are answered with: each mistake at its place, with the way out, word for word.
//!
//! One program for all of them: they are many, small, and quick, and each program takes its time to be linked.

mod budgets;
mod capacity;
mod faults;
mod forms;
mod limits;
mod mistakes;
mod model;
mod operations;
mod overrides;
mod protection;
mod retries;
mod syntax;
mod told;
mod values;
