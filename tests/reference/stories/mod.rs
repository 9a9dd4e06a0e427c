//! Stories of one rule each, by the sections of the rules.

mod arrivals;
mod budgets;
mod calls;
mod measured;
mod steps;
