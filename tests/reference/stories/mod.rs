//! Stories of one rule each, by the sections of the rules.

mod arrivals;
mod budgets;
mod calls;
mod cancelling;
mod ejections;
mod faults;
mod guards;
mod hedges;
mod levels_of_budgets;
mod measured;
mod operations;
mod outages;
mod pools;
mod queues;
mod rules_of_budgets;
mod servers;
mod steps;
