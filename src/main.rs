//! The command line: arguments in, an exit code out.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
