//! Where messages go: results on standard output, everything else on standard error.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

use crate::cli::args::ColorChoice;

/// Width of text when standard output is no terminal.
const PLAIN_WIDTH: usize = 100;

/// The terminal, or what stands in its place.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    choice: anstream::ColorChoice,
}

impl Terminal {
    /// With colours as the user wants them.
    pub fn new(color: ColorChoice) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { choice }
    }

    /// Columns for text on standard output.
    pub fn width(&self) -> usize {
        match terminal_size::terminal_size_of(io::stdout()) {
            Some((terminal_size::Width(columns), _)) => usize::from(columns),
            None => std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(PLAIN_WIDTH),
        }
    }

    /// Whether a progress bar may be drawn.
    pub fn is_animated(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Writes a result to standard output; colours in it are removed where they are not wanted.
    pub fn result(&self, text: &str) -> io::Result<()> {
        let mut stdout = AutoStream::new(io::stdout().lock(), self.choice);
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// Writes a message to standard error. If even that fails, nobody is left to be told.
    pub fn message(&self, text: &str) {
        let mut stderr = AutoStream::new(io::stderr().lock(), self.choice);
        let _ = writeln!(stderr, "{text}");
    }

    /// Writes an error to standard error.
    pub fn error(&self, text: &str) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        self.message(&format!("{red}error{red:#}: {text}"));
    }
}
