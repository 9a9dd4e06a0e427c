//! A scenario file with every combination of what varies.

use std::path::Path;

use rayon::prelude::*;
use stormsim::experiment::axis::{self, Axis, Cell};
use stormsim::scenario::{Diagnostics, Overrides, Scenario, ScenarioFile};

use crate::cli::CommandError;
use crate::cli::args::Settings;
use crate::cli::simulation::overrides;
use crate::cli::terminal::Terminal;

/// Settings that vary, and how many combinations of their values there are.
#[derive(Clone, Debug)]
pub struct Axes {
    /// In the order in which they were given.
    pub axes: Vec<Axis>,
    /// How many cells they make.
    pub count: usize,
}

impl Axes {
    /// Those of the flags.
    pub fn parse(vary: &[String]) -> Result<Self, CommandError> {
        let axes = vary.iter().map(|text| Axis::parse(text)).collect::<Result<Vec<_>, _>>();
        axes.and_then(|axes| axis::check(&axes).map(|count| Self { axes, count }))
            .map_err(|error| CommandError::Message(format!("`--vary`: {error}")))
    }

    /// One of the cells.
    pub fn cell(&self, position: usize) -> Cell {
        axis::cell(&self.axes, position)
    }
}

/// A file that is taken with each cell's settings.
#[derive(Debug)]
pub struct Grid {
    file: ScenarioFile,
    overrides: Overrides,
}

impl Grid {
    /// Reads the file; if it cannot be read, that is shown, and there is no result.
    pub fn read(file: &Path, settings: &Settings, terminal: &Terminal) -> Option<Self> {
        match ScenarioFile::read(file) {
            Ok(file) => Some(Self { file, overrides: overrides(settings) }),
            Err(diagnostics) => {
                terminal.message(&diagnostics.render(true, terminal.width()));
                None
            }
        }
    }

    /// The scenario with the settings of a cell.
    pub fn scenario(&self, cell: &Cell) -> Result<Scenario, Diagnostics> {
        self.file.scenario(&Overrides { vary: cell.overrides(), ..self.overrides.clone() })
    }

    /// The same, of one variant only.
    pub fn variant(&self, cell: &Cell, variant: &str) -> Result<Scenario, Diagnostics> {
        let variant = Some(variant.to_owned());
        self.file.scenario(&Overrides { vary: cell.overrides(), variant, ..self.overrides.clone() })
    }

    /// Shows what is wrong with the first cell that is, if any; whether all are right.
    pub fn check(&self, axes: &Axes, positions: &[usize], terminal: &Terminal) -> bool {
        let wrong = |&position: &usize| Some((position, self.scenario(&axes.cell(position)).err()?));
        let Some((position, diagnostics)) = positions.par_iter().find_map_first(wrong) else { return true };
        terminal.message(&diagnostics.render(true, terminal.width()));
        if axes.count > 1 {
            terminal.message(&format!("note: the first of the cells that are wrong: {}", axes.cell(position)));
        }
        false
    }
}
