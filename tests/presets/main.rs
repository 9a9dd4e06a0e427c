//! Presets: how they lie beneath policies, and that each does what its product does, number by number.

mod budgets;
mod command;
mod common;
mod every;
mod mechanism;
mod protection;
mod schedules;
mod servers;
