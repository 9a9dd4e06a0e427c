//! What the format has and this version does not: refused with an honest message, never ignored. A milestone that
//! builds something deletes it here.

use crate::scenario::diagnostics::Diagnostic;
use crate::scenario::source::Place;

/// The version that does not have it.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// "`services.db.workers` is not built yet". `what` comes in back-ticks.
pub fn refusal(what: &str, place: &Place) -> Diagnostic {
    Diagnostic::new(format!("{what} is not built yet in stormsim {VERSION}"))
        .at(place)
        .hint("take it out: nothing that a scenario says is silently ignored")
}

#[cfg(test)]
mod tests {
    use crate::scenario::reader::Read;
    use crate::scenario::shape::Shape;
    use crate::scenario::tables::ScenarioTable;

    /// A line that stays here after its milestone would be dead: what is built is found first.
    #[test]
    fn nothing_is_both_built_and_unbuilt() {
        assert!(visit(ScenarioTable::SHAPE) > 20, "the walk reaches the tables and choices of the format");
    }

    /// Checks everything beneath a shape and returns how many tables and choices there were.
    fn visit(shape: Shape) -> usize {
        match shape {
            Shape::Value | Shape::Duration => 0,
            Shape::Named(inner) => visit(*inner),
            Shape::Table(table) => {
                assert!(table.unbuilt.iter().all(|key| table.find(key).is_none()), "{}", table.noun);
                1 + table.keys.iter().map(|key| visit(key.shape)).sum::<usize>()
            }
            Shape::Choice(choice) => {
                assert!(choice.unbuilt.iter().all(|tag| choice.find(tag).is_none()), "{}", choice.noun);
                1 + choice.tags.iter().filter_map(|&(_, inner)| inner).map(visit).sum::<usize>()
            }
        }
    }
}
