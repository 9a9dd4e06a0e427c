//! Queues whose answer is known on paper: the simulator against the formulas, and the page that shows both.

#[path = "queueing_theory/formulas.rs"]
mod formulas;
#[path = "queueing_theory/models.rs"]
mod models;
#[path = "queueing_theory/page.rs"]
mod page;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use models::{Figure, Results};

/// Both scenarios, run once for all tests of this file.
static RESULTS: LazyLock<Results> = LazyLock::new(Results::new);

/// Means are compared with theory in two ways. 2 % is what the reference figures ask for: it is several standard errors
/// everywhere, for which the scenario has enough customers. Twice the 95 % interval of 20 replicas is 4.19 standard
/// errors, which a right mean misses once in 2,000, and a wrong one cannot hide behind it where the interval is narrow.
#[test]
fn every_figure_agrees_with_theory() {
    let mut wrong = String::new();
    for model in RESULTS.models() {
        for figure in &model.figures {
            let Figure { what, theory, ours, interval: [low, high] } = *figure;
            let reach = high - low;
            if figure.deviation().abs() > 0.02 || (ours - theory).abs() > reach {
                let _ = writeln!(wrong, "{}: {what}: {ours} ({low} to {high}) is not {theory}", model.title);
            }
            assert!(reach / 2.0 < 0.02 * theory, "{}: {what}: {low} to {high} proves nothing", model.title);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The integral of the number in progress, the sum of the times and the count of the answers are kept apart; only what
/// was in progress at the warm-up and at the end makes a difference between them, a few of 300,000.
#[test]
fn littles_law_holds_at_every_queue() {
    for little in RESULTS.little() {
        let ratio = little.product() / little.in_progress;
        assert!((ratio - 1.0).abs() < 0.01, "{}: {} is not {}", little.variant, little.product(), little.in_progress);
    }
}

/// Equal seeds give equal bytes, so that the page can be compared as a text.
#[test]
fn the_page_shows_what_came_out() {
    let page = page::write(&RESULTS, &RESULTS.models());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/queueing.md");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/queueing.md is not current: UPDATE_DOCS=1 cargo test --test queueing_theory");
}
