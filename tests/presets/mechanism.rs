//! How the keys of a preset and those of the file become one policy, and what is said where they do not.

use std::path::Path;

use insta::assert_snapshot;
use stormsim::analysis::lint;
use stormsim::failure::ErrorKind;
use stormsim::policy::{Backoff, BudgetRule, Jitter};
use stormsim::scenario::{Overrides, ScenarioFile};
use stormsim::time::Span;

use crate::common::{plan, policy, scenario, set, text};

fn exponential(base_ms: u64, factor: f64) -> Backoff {
    policy(
        "p-retry",
        &[&format!("retries.p-retry.backoff.exponential={{ base = \"{base_ms}ms\", factor = {factor:?} }}")],
    )
    .schedule
    .backoff()
    .clone()
}

/// A call names a preset, and there is no policy of that name: the preset is one.
#[test]
fn a_preset_is_a_policy_where_there_is_none_of_its_name() {
    let plan = plan(&text("grpc", ""), &Overrides::default());
    assert_eq!(plan.labels.policies, ["none", "grpc"]);
    let grpc = &plan.policies[1];
    assert_eq!(grpc.max_attempts, 4);
    assert_eq!((grpc.schedule.jitter(), grpc.schedule.cap()), (&Jitter::Spread(0.2), Some(Span::from_s(1))));
    assert!(grpc.retry_on.contains(ErrorKind::Refused) && !grpc.retry_on.contains(ErrorKind::Timeout));
}

/// A policy of the file that has the name of a preset is what the file says of it, and nothing else.
#[test]
fn a_policy_of_the_file_comes_before_a_preset_of_its_name() {
    let plan = plan(&text("grpc", "[retries.grpc]\nmax_retries = 1\n"), &Overrides::default());
    assert_eq!((plan.policies[1].max_attempts, plan.policies[1].schedule.backoff()), (2, &Backoff::None));
}

/// Leaf by leaf: a key of the same choice merges, another choice takes its place, of two keys that exclude each other
/// the table's own stays.
#[test]
fn the_keys_of_a_table_lie_over_those_of_its_preset() {
    let policies = r#"[retries.mine]
preset = "grpc"
max_retries = 1
backoff.exponential.factor = 3.0
jitter = "full"
"#;
    let plan = plan(&text("mine", policies), &Overrides::default());
    let mine = &plan.policies[1];
    assert_eq!(plan.labels.policies, ["none", "mine"]);
    assert_eq!(mine.max_attempts, 2);
    assert_eq!(*mine.schedule.backoff(), exponential(100, 3.0));
    assert_eq!((mine.schedule.jitter(), mine.schedule.cap()), (&Jitter::Full, Some(Span::from_s(1))));
    assert!(!mine.retry_on.contains(ErrorKind::Timeout), "what the table does not say is the preset's");
    assert_eq!(*policy("grpc", &["retries.grpc.backoff.fixed=5s"]).schedule.backoff(), Backoff::Fixed(Span::from_s(5)));
    assert_eq!(*policy("grpc", &["retries.grpc.backoff=none"]).schedule.backoff(), Backoff::None);
    assert_eq!(policy("grpc", &["retries.grpc.max_retries=8"]).max_attempts, 9);
}

/// A table of which a part is another table of the same choice keeps the rest of the preset's.
#[test]
fn inline_tables_merge_as_dotted_keys_do() {
    let policies = "[retries.mine]\npreset = \"finagle\"\nbudget = { windowed_ratio = { ratio = 0.5 } }\n";
    let whole = plan(&text("mine", policies), &Overrides::default());
    let BudgetRule::WindowedRatio(merged) = &whole.budgets[0].rule else { panic!("{:?}", whole.budgets) };
    let dotted = plan(&text("finagle", ""), &set(&["retries.finagle.budget.windowed_ratio.ratio=0.5"]));
    let BudgetRule::WindowedRatio(set) = &dotted.budgets[0].rule else { panic!("{:?}", dotted.budgets) };
    assert_eq!(merged, set);
    let other = plan(&text("finagle", ""), &Overrides::default());
    assert_ne!(
        merged,
        match &other.budgets[0].rule {
            BudgetRule::WindowedRatio(rule) => rule,
            rule => panic!("{rule:?}"),
        }
    );
}

/// Whatever brings a policy into being: a variant, a flag, what varies.
#[test]
fn variants_and_flags_change_what_a_preset_says_and_name_presets() {
    let variants = r#"
[variants.more]
"retries.grpc.max_attempts" = 5
[variants.other]
"clients.web.calls.api.retry" = "aws-legacy"
[variants.own]
"clients.web.calls.api.retry" = "own"
"retries.own" = { preset = "p-retry", max_retries = 3 }
[variants.plain]
"#;
    let attempts = |overrides: &Overrides| {
        let scenario = scenario(&text("grpc", variants), overrides).unwrap_or_else(|errors| panic!("{errors}"));
        let variants = scenario.variants().iter();
        variants.map(|(_, plan)| plan.policy_of(plan.groups[0].choices[0].1).max_attempts).collect::<Vec<_>>()
    };
    assert_eq!(attempts(&Overrides::default()), [5, 5, 4, 4]);
    assert_eq!(attempts(&set(&["retries.grpc.max_retries=1"])), [2, 5, 4, 2]);
    let vary = |text: &str| Overrides { vary: vec![text.to_owned()], ..Overrides::default() };
    assert_eq!(attempts(&set(&["retries.own.preset=aws-legacy", "clients.web.calls.api.retry=own"])), [5, 5, 4, 5]);
    let variants = &variants[..variants.find("[variants.own]").unwrap()];
    let varied = scenario(&text("grpc", variants), &vary("clients.web.calls.api.retry=hystrix"));
    let varied = varied.unwrap_or_else(|errors| panic!("{errors}"));
    assert!(varied.variants().iter().all(|(_, plan)| plan.policies.last().unwrap().max_attempts == 1));
    let backoff = policy("mine", &["retries.mine.preset=aws-legacy", "retries.mine.backoff.exponential.base=2s"]);
    assert_eq!(*backoff.schedule.backoff(), exponential(2_000, 2.0));
}

/// Two policies of one preset are two policies.
#[test]
fn a_preset_lies_beneath_as_many_policies_as_name_it() {
    let policies = "[retries.one]\npreset = \"grpc\"\n[retries.two]\npreset = \"grpc\"\ncap_order = \"both\"\n";
    let plan = plan(&text("grpc", policies), &Overrides::default());
    assert_eq!(plan.labels.policies, ["none", "one", "two", "grpc"]);
    let [one, two, grpc] = [1, 2, 3].map(|at| &plan.policies[at].schedule);
    assert!(one == grpc && one != two);
}

/// The hash of the file is that of the file; what it means changes with what the preset is overridden with.
#[test]
fn the_meaning_of_a_scenario_has_its_presets_in_it() {
    let of = |retry: &str, settings: &[&str]| scenario(&text(retry, ""), &set(settings)).unwrap();
    assert_eq!(of("grpc", &[]).sha256, of("grpc", &["retries.grpc.cap=2s"]).sha256);
    assert_ne!(of("grpc", &[]).meaning(), of("grpc", &["retries.grpc.cap=2s"]).meaning());
    let written = "[retries.grpc]\npreset = \"grpc\"\n";
    assert_eq!(scenario(&text("grpc", written), &set(&[])).unwrap().meaning(), of("grpc", &[]).meaning());
}

fn errors(retry: &str, rest: &str, settings: &[&str]) -> String {
    scenario(&text(retry, rest), &set(settings)).unwrap_err()
}

/// A slip is answered with what was meant, in the policies of the file and in presets.
#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let policies = "[retries.patient]\nmax_retries = 1\n";
    assert_snapshot!(
        [
            errors("envoi", policies, &[]),
            errors("patent", policies, &[]),
            errors("something-else", policies, &[]),
            errors("mine", "[retries.mine]\npreset = \"grcp\"\n", &[]),
            errors("mine", "[retries.mine]\npreset = \"something-else\"\ncap = \"1s\"\n", &[]),
            errors("mine", "[retries.mine]\npreset = 7\n", &[]),
            errors("aws-standard-2.2", "", &[]),
        ]
        .join("\n\n")
    );
}

/// What nothing uses is a slip in a path, of a preset as of a policy; but what others use is none here.
#[test]
fn what_is_set_of_a_preset_that_nothing_uses_is_a_slip() {
    let policies = "[retries.patient]\nmax_retries = 1\n";
    assert_snapshot!(
        [
            errors("patient", policies, &["retries.grpc.max_retries=3"]),
            errors("grpc", "", &["retries.grcp.max_retries=3"]),
            errors("patient", &format!("{policies}[variants.v]\n\"retries.grpc.max_retries\" = 3\n"), &[]),
        ]
        .join("\n\n")
    );
    let variants = format!("{policies}[variants.a]\n[variants.b]\n\"clients.web.calls.api.retry\" = \"grpc\"\n");
    assert!(scenario(&text("patient", &variants), &set(&["retries.grpc.max_retries=3"])).is_ok());
}

/// Where the file and its preset contradict each other both are shown, each in its own text.
#[test]
fn what_does_not_go_with_a_preset_is_told_where_it_is() {
    assert_snapshot!(
        [
            errors("mine", "[retries.mine]\npreset = \"finagle\"\nbudget.windowed_ratio.ttl = \"2m\"\n", &[]),
            errors("mine", "[retries.mine]\npreset = \"grpc\"\nbakoff = \"none\"\n", &[]),
            errors("mine", "[retries.mine]\npreset = \"grpc\"\nmax_retries = 1\nmax_attempts = 2\n", &[]),
            errors(
                "mine",
                "[retries.mine]\npreset = \"aws-legacy\"\nbackoff = { fixed = \"1s\", linear = { step = \"1s\" } }\n",
                &[]
            ),
            errors("mine", "[retries]\nmine = \"grpc\"\n", &[]),
            errors("tenacity", "", &["horizon=none"]),
        ]
        .join("\n\n")
    );
}

fn linted(text: &str) -> Vec<(String, String, usize)> {
    let file = ScenarioFile::of("shop.toml", text.to_owned(), Path::new(""));
    let linted = lint::lint(&file, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
    let findings = linted.findings.iter().filter(|finding| finding.rule == "no-jitter");
    findings
        .map(|finding| {
            (finding.path.clone(), format!("{:?}", finding.allowed), finding.position.map_or(0, |at| at.line))
        })
        .collect()
}

/// What is wrong with what a preset says is found where the file names it, and can be allowed there by its path.
#[test]
fn findings_about_a_preset_are_where_it_is_named() {
    let bursts = |retry: &str, rest: &str| text(retry, rest).replace("burst = {} }", "burst = {} }\ncount = 100");
    let by_call = bursts("p-retry", "");
    let line = |text: &str, of: &str| text.lines().position(|line| line.contains(of)).unwrap() + 1;
    let path = "retries.p-retry.backoff".to_owned();
    assert_eq!(linted(&by_call), [(path.clone(), "None".to_owned(), line(&by_call, "retry = "))]);
    let by_key = bursts("p-retry", "[retries.p-retry]\nmax_retries = 2\npreset = \"p-retry\"\n");
    assert_eq!(linted(&by_key), [(path.clone(), "None".to_owned(), line(&by_key, "preset ="))]);
    let own = bursts("mine", "[retries.mine]\npreset = \"p-retry\"\nbackoff.exponential.factor = 3.0\n");
    assert_eq!(linted(&own), [("retries.mine.backoff".to_owned(), "None".to_owned(), line(&own, "backoff"))]);
    let allow = "[[allow]]\nrules = [\"no-jitter\"]\nreason = \"a test\"\nat = \"retries.p-retry\"\n";
    let allowed = bursts("p-retry", allow);
    assert_eq!(linted(&allowed), [(path, "Some(\"a test\")".to_owned(), line(&allowed, "retry = "))]);
}
