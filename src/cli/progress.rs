//! A progress bar on standard error, where a person can see it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Bar over the replicas of an experiment; invisible without a terminal.
pub fn bar(name: &str, replicas: u64, visible: bool) -> ProgressBar {
    // Ten times a second is as often as anybody looks.
    let target = if visible { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{prefix} {bar:32} {pos}/{len} replicas, {eta} left")
        .expect("the template is well-formed");
    let bar = ProgressBar::with_draw_target(Some(replicas), target).with_style(style).with_prefix(name.to_owned());
    if visible {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}
