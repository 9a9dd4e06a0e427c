//! Ctrl-C: the first one asks the simulation to stop and keeps what is finished, the second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, Exit};

static STOP: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C, and the signal by which other programs ask this one to end.
pub fn install(terminal: Terminal) -> Result<(), CommandError> {
    let handler = move || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
        terminal.message("stopping: what is finished is kept; once more to stop at once");
    };
    ctrlc::set_handler(handler).map_err(|error| CommandError::Message(format!("cannot take over Ctrl-C: {error}")))
}

/// Set once somebody wants the simulation to stop.
pub fn requested() -> &'static AtomicBool {
    &STOP
}

/// Whether somebody does.
pub fn is_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
