//! What services can do at once: servers, workers, queues, limiters. Settings that mean nothing beside others are no
//! errors, so that variants can switch things on and off.

use crate::plan::{Balance, CallDraft, Cancel, Capacity, Contention, DropRule, GroupDraft, Order, Queue, ServiceDraft};
use crate::policy::{Codel, Limiter};
use crate::scenario::counts::{Admitted, AdmittedRate, InFlight, Instances, QueueLimit, Workers};
use crate::scenario::field::{Field, OrNone};
use crate::scenario::resolve::Resolver;
use crate::scenario::source::Place;
use crate::scenario::tables::{
    BalanceChoice, CancelChoice, CodelTable, ContentionTable, DropChoice, FixedWindowTable, LimiterBucketTable,
    LimiterChoice, QueueOrderChoice, QueueTable, ServiceTable,
};
use crate::scenario::values::{Duration, NotNegative, Rate, Whole};
use crate::time::Span;

/// What `folly::Codel` takes for good, unless the scenario says otherwise.
const CODEL_DEFAULT: Codel = Codel { target: Span::from_ms(5), interval: Span::from_ms(100) };

/// The way out for a limiter that lets nothing in, or everything.
const NO_LIMITER: &str = "for no limiter write `limiter = \"none\"`";

/// The way out for controlled delay without a delay.
const NO_CODEL: &str = "for a queue that drops nobody write `drop = \"never\"`";

/// The most servers of all services together, and the most pools, breakers, throttles and limits of hedges: one for each
/// instance of a caller and each of its calls that has one. Each keeps a state of some hundred bytes, in each replica that runs.
const SERVERS_MAX: u64 = 1_000_000;
const POOLS_MAX: u64 = 1 << 24;

impl Resolver<'_> {
    /// Each service and each pool may be within its own limits, and all together too many.
    pub(super) fn check_totals(&mut self, groups: &[GroupDraft], services: &[ServiceDraft]) {
        let servers: u64 = services.iter().map(|service| u64::from(service.capacity.instances)).sum();
        if let (true, Some(place)) = (servers > SERVERS_MAX, self.tables.services.key()) {
            let message = format!("the services have {servers} servers in all; the limit is {SERVERS_MAX}");
            self.refuse(place, message, "lower an `instances`; one server with more `workers` may do");
        }
        let pools = |instances: u32, calls: &[CallDraft]| {
            u64::from(instances) * calls.iter().map(CallDraft::states_per_caller).sum::<u64>()
        };
        let of_groups: u64 = groups.iter().map(|group| pools(group.clients, &group.calls)).sum();
        let of_services: u64 = services.iter().map(|service| pools(service.capacity.instances, &service.calls)).sum();
        let all = of_groups + of_services;
        // The place is where most of them are.
        let (key, hint) = if of_groups >= of_services {
            (
                self.tables.clients.key(),
                "lower a `count`, share what can be shared (`shared_by = \"group\"`), or give the pool to a service that \
                 the clients call",
            )
        } else {
            (
                self.tables.services.key(),
                "lower the `instances` of a service whose calls have these, or share what can be shared \
                 (`shared_by = \"group\"`)",
            )
        };
        if let (true, Some(place)) = (all > POOLS_MAX, key) {
            let message = format!(
                "there are {all} pools, breakers, throttles and limits of hedges in all, one for each caller; the limit \
                 is {POOLS_MAX}"
            );
            self.refuse(place, message, hint);
        }
    }

    /// What the service at `path` can do at once.
    pub(super) fn capacity(&mut self, path: &str, table: &ServiceTable) -> Capacity {
        let none = Capacity::UNLIMITED;
        let instances = table.instances.get().map_or(none.instances, |&Instances(count)| narrow(count));
        Capacity {
            instances,
            ejection: self.ejection(path, &table.ejection, instances),
            balance: table.balance.get().map_or(none.balance, balance),
            workers: limit(table.workers.get().and_then(|limit| limit.value()).map(|&Workers(count)| count)),
            holds_worker: table.holds_worker.get().copied().unwrap_or(none.holds_worker),
            queue: match table.queue.get() {
                Some(queue) => self.queue(path, queue),
                None => none.queue,
            },
            max_in_flight: limit(
                table.max_in_flight.get().and_then(|limit| limit.value()).map(|&InFlight(count)| count),
            ),
            limiter: table.limiter.get().map_or(none.limiter, |choice| self.limiter(path, choice)),
            retry_after: table.limiter.get().and_then(retry_after),
            contention: self.contention(path, &table.contention),
            cancel: match table.cancel.get() {
                Some(CancelChoice::Ignore) | None => Cancel::Ignore,
                Some(CancelChoice::Queued) => Cancel::Queued,
                Some(CancelChoice::Running) => Cancel::Running,
            },
        }
    }

    fn queue(&mut self, path: &str, table: &QueueTable) -> Queue {
        Queue {
            limit: limit(table.limit.get().and_then(|limit| limit.value()).map(|&QueueLimit(count)| count)),
            order: match table.order.get() {
                Some(QueueOrderChoice::Fifo) | None => Order::Fifo,
                Some(QueueOrderChoice::Lifo) => Order::Lifo,
                Some(QueueOrderChoice::AdaptiveLifo) => Order::AdaptiveLifo,
            },
            drop_rule: match table.drop.get() {
                Some(DropChoice::Never) | None => DropRule::Never,
                Some(DropChoice::Expired) => DropRule::Expired,
                Some(DropChoice::DeadlineAware) => DropRule::DeadlineAware,
                Some(DropChoice::Codel(codel)) => DropRule::Codel(self.codel(path, &codel.value)),
            },
        }
    }

    fn codel(&mut self, path: &str, table: &CodelTable) -> Codel {
        let owner = format!("`{path}.queue.drop.codel`");
        self.above_zero(&table.target, &owner, "target", NO_CODEL);
        self.above_zero(&table.interval, &owner, "interval", NO_CODEL);
        Codel {
            target: table.target.get().map_or(CODEL_DEFAULT.target, |&Duration(span)| span),
            interval: table.interval.get().map_or(CODEL_DEFAULT.interval, |&Duration(span)| span),
        }
    }

    fn limiter(&mut self, path: &str, choice: &LimiterChoice) -> Limiter {
        match choice {
            LimiterChoice::None => Limiter::Unlimited,
            LimiterChoice::FixedWindow(window) => self.fixed_window(path, &window.value, &window.place),
            LimiterChoice::TokenBucket(bucket) => self.limiter_bucket(path, &bucket.value, &bucket.place),
        }
    }

    fn fixed_window(&mut self, path: &str, table: &FixedWindowTable, place: &Place) -> Limiter {
        let owner = format!("`{path}.limiter.fixed_window`");
        self.require(&table.limit, &owner, "limit", "1000", Some(place));
        self.require(&table.every, &owner, "every", "\"100ms\"", Some(place));
        self.above_zero(&table.every, &owner, "every", NO_LIMITER);
        let (Some(&Admitted(Whole(limit))), Some(&Duration(every))) = (table.limit.get(), table.every.get()) else {
            return Limiter::Unlimited;
        };
        Limiter::FixedWindow { limit, every }
    }

    fn limiter_bucket(&mut self, path: &str, table: &LimiterBucketTable, place: &Place) -> Limiter {
        let owner = format!("`{path}.limiter.token_bucket`");
        self.require(&table.rate, &owner, "rate", "500", Some(place));
        self.require(&table.burst, &owner, "burst", "50", Some(place));
        let (Some(&AdmittedRate(Rate(rate))), Some(&Admitted(Whole(burst)))) = (table.rate.get(), table.burst.get())
        else {
            return Limiter::Unlimited;
        };
        Limiter::TokenBucket { rate, burst }
    }

    fn contention(&mut self, path: &str, field: &Field<OrNone<ContentionTable>>) -> Contention {
        let Some((table, place)) = field.spanned().and_then(|given| Some((given.value.value()?, &given.place))) else {
            return Contention::NONE;
        };
        let owner = format!("`{path}.contention`");
        self.require(&table.knee, &owner, "knee", "50", Some(place));
        self.require(&table.slope, &owner, "slope", "0.02", Some(place));
        let (Some(&knee), Some(&NotNegative(slope))) = (table.knee.get(), table.slope.get()) else {
            return Contention::NONE;
        };
        Contention { knee: narrow(knee), slope }
    }
}

/// What a limiter says about when to try again.
fn retry_after(choice: &LimiterChoice) -> Option<Span> {
    let given = match choice {
        LimiterChoice::None => return None,
        LimiterChoice::FixedWindow(window) => &window.value.retry_after,
        LimiterChoice::TokenBucket(bucket) => &bucket.value.retry_after,
    };
    given.get().and_then(|limit| limit.value()).map(|&Duration(span)| span)
}

fn balance(choice: &BalanceChoice) -> Balance {
    match choice {
        BalanceChoice::RoundRobin => Balance::RoundRobin,
        BalanceChoice::Random => Balance::Random,
        BalanceChoice::LeastLoaded => Balance::LeastLoaded,
        BalanceChoice::TwoChoices => Balance::TwoChoices,
        BalanceChoice::Primary => Balance::Primary,
        BalanceChoice::ByCopy => Balance::ByCopy,
    }
}

/// A limit that may be absent.
fn limit<const MAX: u64>(count: Option<Whole<1, MAX>>) -> u32 {
    count.map_or(Capacity::NO_LIMIT, narrow)
}

/// A count as a plan holds it.
pub(super) fn narrow<const MIN: u64, const MAX: u64>(Whole(count): Whole<MIN, MAX>) -> u32 {
    u32::try_from(count).expect("the format allows at most 2^31")
}
