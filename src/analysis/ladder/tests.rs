use super::*;
use crate::analysis::load::loads;
use crate::scenario::{Overrides, Scenario};

fn plan(text: &str) -> Plan {
    let text = format!("version = 1\nname = \"paths\"\nhorizon = \"1s\"\n{text}");
    let scenario = Scenario::parse("paths", &text, std::path::Path::new(""), &Overrides::default());
    scenario.unwrap_or_else(|wrong| panic!("{wrong}")).variants()[0].1.clone()
}

fn ends(paths: &[Path]) -> Vec<(&str, Option<u64>)> {
    paths.iter().map(|path| (path.hops.last().expect("a call").target.as_str(), path.attempts)).collect()
}

/// web 3 x db (2 copies x 3 x 2 with hedges) = 36, and 3 x 2 of what is made in place of each copy, in two steps. The
/// fallback of the fallback stands before both in the file.
const COPIES: &str = r#"
    clients.web = { arrivals = { burst = { at = "0s" } }, calls.api = { retry = "thrice" } }
    [services.api.calls.last]
    to = "disk"
    [services.api.calls.spare]
    to = "cache"
    if_failed = "last"
    [services.api.calls.db]
    retry = "thrice"
    copies = 2
    hedge = { after = "10ms" }
    if_failed = "spare"
    [services]
    db = {}
    cache = {}
    disk = {}
    [retries]
    thrice = { max_attempts = 3 }
"#;

#[test]
fn copies_and_hedges_multiply_and_fallbacks_are_paths_of_their_own() {
    let plan = plan(COPIES);
    let Paths { paths, left_out, .. } = paths(&plan);
    assert_eq!((ends(&paths), left_out), (vec![("disk", Some(6)), ("cache", Some(6)), ("db", Some(36))], 0));
    let db = &paths[2].hops[1];
    assert_eq!((db.attempts, db.copies, db.hedges, &db.instead_of), (Some(3), 2, 1, &None));
    let shares: Vec<Option<u64>> = paths[2].hops.iter().map(|hop| hop.without_retries).collect();
    assert_eq!(shares, [Some(12), Some(12)]);
    assert_eq!(paths[1].hops[1].instead_of.as_deref(), Some("api->db"));
    assert_eq!(paths[0].hops[1].instead_of.as_deref(), Some("api->spare"));
    // What arrives at the services is the sum over the paths.
    let at_most: Vec<Option<f64>> = loads(&plan).iter().map(|service| service.clients[0].at_most).collect();
    assert_eq!(at_most, [Some(3.0), Some(36.0), Some(6.0), Some(6.0)]);
}

/// 1 s, less 50 ms of the service and, where the step before is needed, 2 x 5 ms of way and 100 ms: 840 ms.
#[test]
fn later_steps_have_the_time_that_is_left() {
    let text = |settings: &str| {
        format!(
            r#"
            clients.web.arrivals = {{ burst = {{ at = "0s" }} }}
            clients.web.calls.api = {{ timeout = "1s", propagate_deadline = true, network = "20ms" }}
            [services.api]
            service_time = "50ms"
            calls.auth = {{ network = "5ms" {settings} }}
            calls.db = {{ timeout = "900ms" }}
            [services.auth]
            service_time = {{ uniform = {{ min = "100ms", max = "200ms" }} }}
            calls.keys = {{}}
            [services]
            keys.service_time = "30ms"
            db = {{}}
            "#
        )
    };
    let budgets = |settings: &str| {
        let plan = plan(&text(settings));
        let Paths { paths, deadlines, .. } = paths(&plan);
        let last = paths[1].hops[1].clone();
        assert_eq!(last.call, "api->db");
        let ms = deadlines.iter().map(|deadline| deadline.as_ms()).collect::<Vec<_>>();
        assert_eq!(last.budget_s, Some(ms[2] / 1e3));
        ms[1..3].to_vec()
    };
    // 20 ms are the way to the api.
    assert_eq!(budgets(""), [930.0, 930.0 - 10.0 - 100.0 - 30.0]);
    // What need not succeed may fail at once.
    assert_eq!(budgets(", optional = true"), [930.0, 930.0]);
    assert_eq!(budgets(", probability = 0.5"), [930.0, 930.0]);
}

/// 500 ms less a tenth or 50 ms; and less 100 ms of work nothing, where only 50 ms are told.
#[test]
fn a_reserve_may_be_a_share_and_work_may_leave_nothing() {
    let told = |reserve: &str, service_time: &str| {
        let plan = plan(&format!(
            r#"
            clients.web.arrivals = {{ burst = {{ at = "0s" }} }}
            clients.web.calls.api = {{ timeout = "500ms", propagate_deadline = true, reserve = "{reserve}" }}
            services.api = {{ service_time = "{service_time}", calls.db = {{ total_timeout = "2s" }} }}
            services.db = {{}}
            "#
        ));
        let Paths { paths, .. } = paths(&plan);
        let [api, db] = &paths[0].hops[..] else { panic!("two calls") };
        assert_eq!(db.budget_s, db.gives_up_s);
        (api.told_s, db.gives_up_s)
    };
    assert_eq!(told("10%", "0s"), (Some(0.45), Some(0.45)));
    assert_eq!(told("50ms", "100ms"), (Some(0.45), Some(0.35)));
    assert_eq!(told("450ms", "100ms"), (Some(0.05), Some(0.0)));
}

/// b calls c three times with 300 ms each, and a waits for 800 ms: b goes on for 100 ms, and what it has sent at 600 ms
/// with it. d is called without a limit.
fn upside_down(cancel: &str) -> Vec<(Option<f64>, Option<Endless>)> {
    let plan = plan(&format!(
        r#"
        clients.web = {{ arrivals = {{ burst = {{ at = "0s" }} }}, calls.a = {{ timeout = "1s" }} }}
        services.a = {{ calls.b = {{ timeout = "800ms" }} }}
        services.b = {{ calls.c = {{ timeout = "300ms", retry = "thrice" }} {cancel} }}
        services.c = {{ calls.d = {{ timeout = "700ms" }} }}
        services.d = {{}}
        retries.thrice = {{ max_attempts = 3 }}
        "#
    ));
    let Paths { paths, .. } = paths(&plan);
    let round = |seconds: f64| (seconds * 1e6).round() / 1e6;
    paths[0].hops.iter().map(|hop| (hop.outlives_s.map(round), hop.outlives)).collect()
}

#[test]
fn what_is_cancelled_outlives_nobody() {
    let nobody = (None, None);
    assert_eq!(upside_down(""), [nobody, nobody, (Some(0.1), None), (Some(0.4), None)]);
    // b is told and gives up what it has sent; c is not, and goes on.
    assert_eq!(upside_down(", cancel = \"running\""), [nobody, nobody, nobody, (Some(0.4), None)]);
    // Only who has not begun is told: nobody who calls.
    assert_eq!(upside_down(", cancel = \"queued\""), upside_down(""));
}

#[test]
fn what_has_no_end_outlives_its_caller_for_ever() {
    let outlives = |timeout: &str| {
        let plan = plan(&format!(
            "clients.web = {{ arrivals = {{ burst = {{ at = \"0s\" }} }}, calls.api = {{ {timeout} }} }}\n\
             services.api.calls.db = {{}}\nservices.db = {{}}\n"
        ));
        let hop = paths(&plan).paths[0].hops[1].clone();
        (hop.outlives_s, hop.outlives)
    };
    assert_eq!(outlives("timeout = \"1s\""), (None, Some(Endless::Never)));
    assert_eq!(outlives(""), (None, None), "its caller is waited for as long");
}

/// Fifteen layers of two services that call both of the next one: 2^15 paths.
#[test]
fn of_a_wide_graph_so_many_paths_are_listed_and_the_rest_is_counted() {
    let mut text = "clients.web.arrivals = { burst = { at = \"0s\" } }\n\
                    clients.web.calls.a0 = { timeout = \"1s\", propagate_deadline = true }\nclients.web.calls.b0 = {}\n"
        .to_owned();
    for layer in 0..15 {
        for side in ["a", "b"] {
            let next = layer + 1;
            let call = |to: &str| format!("{to}{next} = {{ propagate_deadline = true, retry = \"twice\" }}");
            let calls = if next < 15 { format!("calls = {{ {}, {} }}", call("a"), call("b")) } else { String::new() };
            text += &format!("services.{side}{layer} = {{ {calls} }}\n");
        }
    }
    let plan = plan(&(text + "retries.twice = { max_attempts = 2 }\n"));
    let Paths { paths, left_out, deadlines } = paths(&plan);
    assert_eq!((paths.len(), left_out), (200, (1 << 15) - 200));
    assert!(paths.iter().all(|path| path.attempts == Some(1 << 14)));
    // One of the two that call into the next layer has no deadline.
    assert_eq!((deadlines[2], deadlines[4]), (Span::from_s(1), Span::UNLIMITED));
    // Each of the 2^14 paths to a service of the last layer makes 2^14 attempts, from the one choice that makes the
    // most.
    let last = loads(&plan).pop().expect("services");
    assert_eq!(last.clients[0].at_most, Some(libm::exp2(27.0)));
}
