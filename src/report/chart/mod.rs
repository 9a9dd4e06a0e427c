//! The charts, as PNG files in memory. Nothing else knows plotters or fonts.
//!
//! Every chart has the same head: title, subtitle, and a legend in a strip of its own, so that it covers no data.
//! Colours are told apart by people with any common colour vision. The font is part of the program: a chart has the
//! same bytes on every machine.

mod amplification;
mod backdrop;
mod blank;
mod canvas;
mod color_scale;
mod curves;
mod faults;
mod flags;
mod font;
mod foot;
mod frontier;
mod head;
mod heat_map;
mod heat_panel;
mod histogram;
mod in_flight;
mod latency;
mod legend;
mod level;
mod lines;
mod load;
mod palette;
mod panel;
mod peaks;
mod queues;
mod recoveries;
mod rows;
mod scale;
mod setting;
mod setting_axis;
mod stack;
mod steps;
mod sweep;
mod sweep_lines;
mod ticks;
mod time_axis;
mod timeline;
mod value_axis;

pub use amplification::amplification;
pub use frontier::frontier;
pub use in_flight::{has_limits, in_flight};
pub use latency::latency;
pub use load::load;
pub use peaks::peaks;
pub use queues::{has_queues, queues};
pub use sweep::{has_sweep, sweep};
pub use timeline::timeline;

/// Width of every chart, in pixels.
pub const WIDTH: u32 = 1_200;

/// Blank at the left and right edge of every chart, in pixels.
const MARGIN: i32 = 24;
