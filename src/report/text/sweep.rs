//! What a sweep found.

use crate::experiment::axis::Cell;
use crate::experiment::{SweepCell, SweepSummary};
use crate::number::{self, Style};
use crate::report::text::grid::{self, Column};
use crate::report::text::{Counted, TITLE, WARNING, styled};
use crate::wrap;

/// The most rows of the table: more are for a program, or a chart.
const ROWS_MAX: usize = 60;

/// The figures that are shown, a row for each cell and variant, for a page of `width` columns. `resumed` cells were not
/// simulated anew.
pub(super) fn render(sweep: &SweepSummary, resumed: usize, width: usize) -> String {
    let mut text = heading(sweep, resumed, width);
    let several = sweep.cells.iter().any(|cell| cell.variants.len() > 1);
    let rows: Vec<(&SweepCell, usize)> =
        sweep.cells.iter().flat_map(|cell| (0..cell.variants.len()).map(move |variant| (cell, variant))).collect();
    let shown = &rows[..rows.len().min(ROWS_MAX)];
    if shown.is_empty() || sweep.shown.is_empty() {
        return text;
    }
    let column = |head: String, cell: &dyn Fn(&SweepCell, usize) -> String| Column {
        head,
        cells: shown.iter().map(|&(row, variant)| cell(row, variant)).collect(),
    };
    let label = |cell: &SweepCell, variant: usize| {
        let values = match &cell.values[..] {
            [value] => value.trim_matches('"').to_owned(),
            values => {
                let paths = sweep.axes.iter().map(|axis| axis.path.clone());
                Cell { settings: paths.zip(values.iter().cloned()).collect() }.to_string()
            }
        };
        let variant = several.then(|| cell.variants[variant].variant.clone());
        [values].into_iter().chain(variant).collect::<Vec<_>>().join(", ")
    };
    let head = match &sweep.axes[..] {
        [axis] => axis.key().to_owned(),
        _ => "cell".to_owned(),
    };
    let columns = sweep.shown.iter().map(|&at| {
        let measure = &sweep.measures[at];
        let figure = move |cell: &SweepCell, variant: usize| {
            let figures = &cell.variants[variant];
            if figures.partial {
                return "cut short".to_owned();
            }
            number::measured(&figures.stats[at], measure, figures.replicas)
        };
        let head = measure.to_string();
        // What it is about stands above the metric.
        let head = head.rsplit_once('.').map_or(head.clone(), |(path, metric)| format!("{path}\n{metric}"));
        column(head, &figure)
    });
    let columns: Vec<Column> = columns.collect();
    text += "\n";
    text += &grid::render(&column(head, &label), &columns, width);
    if sweep.axes.len() > 2 {
        text += &format!(" no chart: {} settings vary, and it shows one or two\n", sweep.axes.len());
    }
    if rows.len() > shown.len() {
        text += &format!(" ... and {} more in sweep.csv\n", Counted(rows.len() - shown.len(), "row"));
    }
    text
}

fn heading(sweep: &SweepSummary, resumed: usize, width: usize) -> String {
    let mut text = styled(TITLE, &sweep.scenario.name);
    let variants = sweep.cells.first().map_or(1, |cell| cell.variants.len());
    let replicas = if sweep.precision.is_some() { "at least " } else { "" };
    let varied: Vec<String> = sweep.axes.iter().map(|axis| format!("{} ({})", axis.path, axis.values.len())).collect();
    text += &format!(
        ": {} of {}, {replicas}{} each, seed {}\n",
        Counted(sweep.grid, "cell"),
        Counted(variants, "variant"),
        Counted(sweep.replicas as usize, "replica"),
        sweep.seed
    );
    text += &wrap::words(format!("varied: {}", varied.join(", ")).split(' '), ["", "  "], width);
    if resumed > 0 {
        let were = if resumed == 1 { "was" } else { "were" };
        text += &format!("{} {were} finished before\n", Counted(resumed, "cell"));
    }
    if let Some(precision) = sweep.precision.filter(|precision| precision.missed > 0) {
        let (share, most) = (number::plain(precision.wanted, Style::Share, 3), precision.replicas_max as usize);
        let sentence = format!(
            "in {} {} were not enough for ± {share}; a higher `--max-replicas` allows more",
            Counted(precision.missed, "cell"),
            Counted(most, "replica")
        );
        let sentence = wrap::words(sentence.split(' '), ["", "  "], width);
        text += &sentence.lines().map(|line| styled(WARNING, line) + "\n").collect::<String>();
    }
    let missing = sweep.grid - sweep.cells.len();
    if missing > 0 {
        let sentence = format!("partial: {} of {} are missing", number::whole(missing), Counted(sweep.grid, "cell"));
        text += &styled(WARNING, &sentence);
        text += "\n";
    }
    let cut = sweep.cells.iter().filter(|cell| cell.variants.iter().any(|variant| variant.partial)).count();
    if cut > 0 {
        let sentence = format!("partial: in {} a limit of the simulator was reached", Counted(cut, "cell"));
        text += &styled(WARNING, &sentence);
        text += "\n";
    }
    text
}
