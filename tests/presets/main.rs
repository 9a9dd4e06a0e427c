//! Presets: how they lie beneath policies, and that each does what its product does, number by number.

mod common;
mod mechanism;
