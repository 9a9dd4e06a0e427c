//! One file per command, and what they share: streams, colours, exit codes. No simulation logic.

mod again;
mod args;
mod baseline;
mod compare;
mod explain;
mod frontier;
mod grid;
mod import;
mod init;
mod interrupt;
mod lint;
mod paths;
mod presets;
mod progress;
mod run;
mod schema;
mod simulation;
mod sweep;
mod terminal;
mod test;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use args::{Arguments, Command};
use terminal::Terminal;

/// How a command ended, as a number that scripts can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Good.
    Good = 0,
    /// An expectation failed.
    Failed = 1,
    /// A usage, scenario or I/O error, or a limit of the simulator.
    Error = 2,
    /// The user interrupted; what was finished is kept.
    Interrupted = 130,
}

/// Why a command could not do its work. The message for the user has been printed, or is in here.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    /// A complete message.
    #[error("{0}")]
    Message(String),
    /// Standard output failed.
    #[error("cannot write to standard output: {0}")]
    Stream(#[from] io::Error),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(mut error) => {
            suggest_run(&mut error);
            // Help and version go to standard output and are no error; a closed pipe is not worth a word.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let terminal = Terminal::new(arguments.color);
    let result = match &arguments.command {
        Command::Run(run) => interrupt::install(terminal).and_then(|()| run::run(run, &terminal)),
        Command::Compare(compare) => interrupt::install(terminal).and_then(|()| compare::run(compare, &terminal)),
        Command::Sweep(sweep) => interrupt::install(terminal).and_then(|()| sweep::run(sweep, &terminal)),
        Command::Frontier(frontier) => interrupt::install(terminal).and_then(|()| frontier::run(frontier, &terminal)),
        Command::Test(test) => interrupt::install(terminal).and_then(|()| test::run(test, &terminal)),
        Command::Explain(explain) => explain::run(explain, &terminal),
        Command::Lint(lint) => lint::run(lint, &terminal),
        Command::Import(import) => import::run(import, &terminal),
        Command::Init(init) => init::run(init, &terminal),
        Command::Presets(presets) => presets::run(presets, &terminal),
        Command::Schema => schema::run(&terminal),
    };
    match result {
        Ok(exit) => ExitCode::from(exit as u8),
        // Whoever reads has seen enough: `stormsim run FILE | head` is a success.
        Err(CommandError::Stream(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            terminal.error(&error.to_string());
            ExitCode::from(Exit::Error as u8)
        }
    }
}

/// Says how a scenario is simulated to whoever named one in place of a command.
fn suggest_run(error: &mut clap::Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return };
    if Path::new(word).extension().is_some_and(|extension| extension == "toml") {
        let tip = format!("to simulate it: stormsim run {word}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}
