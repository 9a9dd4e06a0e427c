//! A progress bar on standard error, where a person can see it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Replicas.
    Replicas,
    /// Cells of a grid.
    Cells,
}

/// Bar over so many, or a count where nobody knows yet how many it takes; invisible without a terminal.
pub fn bar(name: &str, count: Option<u64>, unit: Unit, visible: bool) -> ProgressBar {
    // Ten times a second is as often as anybody looks.
    let target = if visible { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
    let unit = match unit {
        Unit::Replicas => "replicas",
        Unit::Cells => "cells",
    };
    let template = match count {
        Some(_) => format!("{{prefix}} {{bar:32}} {{pos}}/{{len}} {unit}, {{eta}} left"),
        None => format!("{{prefix}} {{spinner}} {{pos}} {unit}"),
    };
    let style = ProgressStyle::with_template(&template).expect("the template is well-formed");
    let bar = ProgressBar::with_draw_target(count, target).with_style(style).with_prefix(name.to_owned());
    if visible {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}
