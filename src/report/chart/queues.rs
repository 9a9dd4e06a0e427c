//! Queues over time: for each service with limited workers how many wait, and how many of the workers are taken.

use super::backdrop::Backdrop;
use super::head::{self, Head};
use super::panel::{Line, Panel, Reach};
use super::stack;
use super::steps::{Gather, points};
use crate::experiment::{BucketMeans, Summary, VariantSummary};
use crate::metrics::catalogue::ScopeKind;
use crate::number::Style;
use crate::report::services::{self, Selection};

/// More services than this make a picture that no screen shows at once.
const SERVICES_SHOWN: usize = 4;
/// Rows of a panel of a queue, and of one of workers.
const QUEUE: i32 = 120;
const WORKERS: i32 = 64;

/// `queues.png`: the number waiting and the utilisation, by service, with a line per variant.
pub fn queues(summary: &Summary) -> Vec<u8> {
    let services = shown(summary);
    let backdrop = Backdrop::of(summary);
    let entries = head::entries(summary).chain(backdrop.legend()).collect();
    let remark = services.remark("with the longest queues");
    let head = Head::of(summary, "queues and utilisation over time", &remark, entries);
    let panels: Vec<_> = services.names.iter().flat_map(|name| of_service(summary, &backdrop, name)).collect();
    stack::chart(&head, &panels, summary)
}

/// Whether there is anything to show: a service with limited workers.
pub fn has_queues(summary: &Summary) -> bool {
    !shown(summary).names.is_empty()
}

fn shown(summary: &Summary) -> Selection<'_> {
    services::ranked(head::shown(summary), "queue_max", SERVICES_SHOWN, |variant, name| {
        workers(variant, name).is_some()
    })
}

fn workers(variant: &VariantSummary, service: &str) -> Option<f64> {
    Some(variant.limits.get(service)?.workers? as f64)
}

/// The panels of a service; that of a queue in which nobody ever waited would be a blank.
fn of_service<'a>(
    summary: &Summary,
    backdrop: &'a Backdrop<'a>,
    service: &str,
) -> impl Iterator<Item = Panel<'a>> + use<'a> {
    let waiting = waiting(summary, backdrop, service);
    let queued = waiting.lines.iter().any(|line| !line.points.is_empty());
    let utilisation = utilisation(summary, backdrop, service, if queued { "" } else { ", nobody waits" });
    queued.then_some(waiting).into_iter().chain([utilisation])
}

fn waiting<'a>(summary: &Summary, backdrop: &'a Backdrop<'a>, service: &str) -> Panel<'a> {
    Panel {
        backdrop,
        heading: format!("{service}: waiting for a worker"),
        heading_of_none: format!("{service}: nobody waits for a worker"),
        height: QUEUE,
        reach: Reach::Own,
        style: Style::Count,
        gather: Gather::Highest,
        lines: lines(summary, service, |_| Some(1.0), |bucket| bucket.queued),
        levels: Vec::new(),
    }
}

fn utilisation<'a>(summary: &Summary, backdrop: &'a Backdrop<'a>, service: &str, remark: &str) -> Panel<'a> {
    Panel {
        backdrop,
        heading: format!("{service}: share of its workers taken{remark}"),
        heading_of_none: format!("{service}: no worker is taken"),
        height: WORKERS,
        reach: Reach::Whole,
        style: Style::Share,
        gather: Gather::Mean,
        lines: lines(summary, service, |variant| workers(variant, service), |bucket| bucket.busy),
        levels: Vec::new(),
    }
}

/// A line per variant of what `value` says, in units of `whole`; none for a variant without that.
fn lines(
    summary: &Summary,
    service: &str,
    whole: impl Fn(&VariantSummary) -> Option<f64>,
    value: fn(&BucketMeans) -> f64,
) -> Vec<Line> {
    let line = |(variant, color): (&VariantSummary, _)| {
        let whole = whole(variant)?;
        let buckets = variant.series(ScopeKind::Service, service);
        Some(Line { color, points: points(buckets, |bucket| bucket.index, |bucket| value(bucket) / whole) })
    };
    head::colored(summary).filter_map(line).collect()
}
