//! When requests begin.

use stormsim::dist::Dist;
use stormsim::plan::{Arrivals, Piece, Profile};
use stormsim::scenario::{Overrides, Scenario};
use stormsim::time::{Instant, Span};

use crate::{SMALL, only_plan, parse, s};

/// `SMALL` with other arrivals, and more keys of its client group.
fn arrivals(text: &str, keys: &str) -> Arrivals {
    let text = SMALL.replace("arrivals = { burst = {} }", &format!("arrivals = {text}\n{keys}"));
    only_plan(&parse(&text, &Overrides::default())).groups[0].arrivals.clone()
}

/// A rate of a profile, from an instant in seconds on.
fn piece(from: u64, rate: f64, slope: f64) -> Piece {
    Piece { from: s(from), rate, slope }
}

#[test]
fn each_kind_of_arrivals_becomes_its_own() {
    let poisson = |pieces| Arrivals::Poisson(Profile::new(pieces));
    let window = "from = \"2s\"\nuntil = \"9s\"";
    assert_eq!(arrivals("{ burst = {} }", window), Arrivals::Burst { at: s(2) });
    assert_eq!(arrivals("{ constant = { rate = 80 } }", window), Arrivals::Constant { rate: 80.0 });
    assert_eq!(arrivals("{ poisson = { rate = 0.5 } }", window), poisson(vec![piece(2, 0.5, 0.0)]));
    let second = Dist::Constant(Span::from_s(1));
    assert_eq!(
        arrivals("{ closed = { think = \"1s\", requests = 3 } }", ""),
        Arrivals::Closed { think: second.clone(), requests: 3 }
    );
    assert_eq!(
        arrivals("{ closed = { think = \"1s\" } }", window),
        Arrivals::Closed { think: second, requests: u64::MAX }
    );
    assert_eq!(
        arrivals("{ periodic = { every = \"60s\" } }", window),
        Arrivals::Periodic { every: Span::from_s(60), offset: Dist::ZERO }
    );
}

/// Up from 10/s at 5 s to 30/s at 15 s is 2/s per second; then 7/s at a step, and down to nothing within 7 s. The times
/// are those of the run, not of the group. Arrivals that end of themselves need no other end.
#[test]
fn a_profile_steps_and_ramps() {
    let points = r#"{ profile = [
        { at = "5s", rate = 10 }, { at = "15s", rate = 30, ramp = true }, { at = "20s", rate = 7 },
        { at = "27s", rate = 0, ramp = true },
    ] }"#;
    let pieces = vec![piece(5, 10.0, 2.0), piece(15, 30.0, 0.0), piece(20, 7.0, -1.0), piece(27, 0.0, 0.0)];
    assert_eq!(arrivals(points, "from = \"6s\""), Arrivals::Poisson(Profile::new(pieces)));
}

#[test]
fn a_trace_is_read_from_beside_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("arrivals.csv"), "time_s,user\n0,a\n1.5 , b\n1.5,c\n2.000000001,d\n").unwrap();
    let text = SMALL.replace("{ burst = {} }", "{ trace = { file = \"arrivals.csv\" } }");
    let scenario = Scenario::parse("test.toml", &text, folder.path(), &Overrides::default()).unwrap();
    let expected = [0, 1_500_000_000, 1_500_000_000, 2_000_000_001].map(Instant::from_ns);
    assert_eq!(only_plan(&scenario).groups[0].arrivals, Arrivals::Trace(expected.to_vec()));
}
