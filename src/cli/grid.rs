//! A scenario file with every combination of what varies.

use std::path::Path;

use rayon::prelude::*;
use stormsim::experiment::axis::{self, Axis, AxisError, Cell};
use stormsim::scenario::{Diagnostics, Overrides, Scenario, ScenarioFile};

use crate::cli::args::Settings;
use crate::cli::simulation::overrides;
use crate::cli::terminal::Terminal;
use crate::cli::{CommandError, interrupt};

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
        Self::of(axes.map_err(wrong)?)
    }

    fn of(axes: Vec<Axis>) -> Result<Self, CommandError> {
        let count = axis::check(&axes).map_err(wrong)?;
        Ok(Self { axes, count })
    }

    /// One of the cells.
    pub fn cell(&self, position: usize) -> Cell {
        axis::cell(&self.axes, position)
    }
}

fn wrong(error: AxisError) -> CommandError {
    CommandError::Message(format!("`--vary`: {error}"))
}

/// A file that is taken with each cell's settings.
#[derive(Debug)]
pub struct Grid {
    file: ScenarioFile,
    overrides: Overrides,
}

impl Grid {
    /// Reads the file; if it cannot be read, that is shown, and there is no result. `expects` says whether its
    /// expectations matter.
    pub fn read(file: &Path, settings: &Settings, expects: bool, terminal: &Terminal) -> Option<Self> {
        match ScenarioFile::read(file) {
            Ok(file) => {
                let overrides = Overrides { without_expectations: !expects, ..overrides(settings) };
                Some(Self { file, overrides })
            }
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

    /// Rounds what a range has between whole numbers where the setting takes no others.
    pub fn fit(&self, axes: Vec<Axis>) -> Result<Axes, CommandError> {
        let is_right = |axis: &Axis| {
            let cell = |value: &String| Cell::of(&axis.path, value);
            axis.values.iter().all(|value| self.scenario(&cell(value)).is_ok())
        };
        let fit = |axis: Axis| match axis.rounded() {
            Some(rounded) if !is_right(&axis) && is_right(&rounded) => rounded,
            _ => axis,
        };
        Axes::of(axes.into_iter().map(fit).collect())
    }

    /// The same, of one variant only.
    pub fn variant(&self, cell: &Cell, variant: &str) -> Result<Scenario, Diagnostics> {
        let variant = Some(variant.to_owned());
        self.file.scenario(&Overrides { vary: cell.overrides(), variant, ..self.overrides.clone() })
    }

    /// Whether all cells are right, as far as nobody interrupts; shows what is wrong with the first that is not. It also
    /// says which variants set themselves what varies: they are other variants then than their names say.
    pub fn check(&self, axes: &Axes, terminal: &Terminal) -> bool {
        let wrong = |position: usize| {
            let is_over = interrupt::is_requested();
            if is_over { None } else { Some((position, self.scenario(&axes.cell(position)).err()?)) }
        };
        let Some((position, diagnostics)) = (0..axes.count).into_par_iter().find_map_first(wrong) else {
            self.note_replaced(&axes.cell(0), terminal);
            return true;
        };
        terminal.message(&diagnostics.render(true, terminal.width()));
        if axes.count > 1 {
            terminal.message(&format!("note: the first of the cells that are wrong: {}", axes.cell(position)));
        }
        false
    }

    /// Says which variants set themselves what varies.
    pub fn note_replaced(&self, cell: &Cell, terminal: &Terminal) {
        let replaced = self.scenario(cell).map_or_else(|_| Vec::new(), |scenario| scenario.replaced);
        for (variant, path) in replaced {
            terminal.message(&format!(
                "note: `{variant}` sets `{path}` itself, or what it is a part of; it varies there, too"
            ));
        }
    }
}
