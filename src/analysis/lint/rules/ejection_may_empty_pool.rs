//! Outlier ejection that takes away more than can be done without.
//!
//! Silent about services with a single server, which gets everything, ejected or not; and where what comes is too much
//! for all servers together, which no ejection changes.

use crate::analysis::lint::findings::{Findings, Hit};
use crate::analysis::lint::rule::{Check, Example, Rule};
use crate::analysis::lint::subject::Subject;
use crate::analysis::lint::words;
use crate::plan::{Service, ServiceId};
use crate::scenario::Severity;

pub static RULE: Rule = Rule {
    id: "ejection-may-empty-pool",
    severity: Severity::Warning,
    finds: "Outlier ejection may take out every server, or so many that the others cannot do what comes in.",
    why: "When something that all servers depend on fails, each of them looks like an outlier, and one after the other \
          is taken out. Those that are left get the load of all, fail under it, and are next. Envoy's \
          `max_ejection_percent` is 10 by default for this reason.",
    instead: "lower `ejection.max_share` until the servers that are left can do what comes in",
    example: Example {
        bad: r#"
clients.web = { arrivals = { constant = { rate = 300 } }, calls.api = { timeout = "1s" } }
[services.api]
instances = 4
workers = 2
service_time = "20ms"
ejection = { consecutive = 5, max_share = 1.0 }
"#,
        good: &["services.api.ejection.max_share=0.25"],
    },
    check: Check::Variant(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (id, service) in (0..).map(ServiceId).zip(&subject.plan.services) {
        let instances = service.capacity.instances;
        let Some(ejection) = &service.capacity.ejection else { continue };
        // All at once are none: then the balancer picks from all of them. It is at its worst one before that.
        let ejected = ejection.most.min(instances - 1);
        let left = instances - ejected;
        let offered_rps = subject.crowd(id).per_second;
        let capacity_rps = (service.capacity_rps(), capacity_of(service, left));
        let is_too_little = matches!(capacity_rps, (Some(all), Some(left)) if offered_rps <= all && offered_rps > left);
        if ejected == 0 || (ejection.most < instances && !is_too_little) {
            continue;
        }
        let path = subject.service_path(id);
        let count = |servers: u32| words::count(f64::from(servers));
        let message = if ejection.most >= instances {
            format!("`{path}` may eject all of its {} servers", count(instances))
        } else {
            format!("`{path}` may eject {} of its {} servers", count(ejected), count(instances))
        };
        let servers = if left == 1 { "1 server has".to_owned() } else { format!("{} servers have", count(left)) };
        let figure = match (capacity_rps.1, offered_rps > 0.0) {
            (Some(left), true) => format!(
                "with {} ejected, {servers} {} requests per second to do, and can do {}",
                count(ejected),
                words::count(offered_rps),
                words::count(left)
            ),
            (Some(left), false) => {
                format!(
                    "with {} ejected, {servers} all to do, and can do {} per second",
                    count(ejected),
                    words::count(left)
                )
            }
            (None, true) => format!(
                "with {} ejected, {servers} all {} requests per second to do",
                count(ejected),
                words::count(offered_rps)
            ),
            (None, false) => {
                format!("with {} ejected, {servers} the work of {} to do", count(ejected), count(instances))
            }
        };
        findings.add(Hit { owner: path, keys: &["ejection.max_share", "ejection"], message, figure });
    }
}

/// What a service can do per second with so many servers.
fn capacity_of(service: &Service, instances: u32) -> Option<f64> {
    let mut fewer = service.clone();
    fewer.capacity.instances = instances;
    fewer.capacity_rps()
}
