//! Every metric: its name, its kind, its labels and what it says.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use super::http::{HTTP_IN_FLIGHT, HTTP_REQUEST};
use super::watch::{CERTIFICATE_END, CLOCK_JUMPS, CLOCK_OFFSET, STORE_CHECKED, STORE_PROBLEMS};

/// Upper ends of the buckets of all histograms, seconds: from half a millisecond to the longest that a tool call may take
/// (spec 1, Limits).
pub const BUCKETS_SECONDS: [f64; 16] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0];

pub(super) const STAGE: &str = "intent_gateway_stage_seconds";
pub(super) const PARTNER_CALL: &str = "intent_gateway_partner_call_seconds";
pub(super) const SEARCHES: &str = "intent_gateway_searches_total";
pub(super) const TOOL_CALLS: &str = "intent_gateway_tool_calls_total";
pub(super) const COMPLETIONS: &str = "intent_gateway_completions_total";
pub(super) const LEDGER_ENTRY: &str = "intent_gateway_ledger_last_entry";
pub(super) const TASK_PANICS: &str = "intent_gateway_task_panics_total";
pub(super) const CONTRACT_FAULTS: &str = "intent_gateway_contract_faults_total";
pub(super) const HEALTH_CHANGES: &str = "intent_gateway_partner_health_changes_total";
pub(super) const SHED: &str = "intent_gateway_requests_shed_total";
pub(super) const ADMISSION_WAIT: &str = "intent_gateway_admission_wait_seconds";
pub(super) const LIVE_INTENTS: &str = "intent_gateway_live_intents";
pub(super) const ORDERS_OVERDUE: &str = "intent_gateway_orders_overdue";
pub(super) const ORDERS_AT_STAKE: &str = "intent_gateway_orders_overdue_commission_paise";
pub(super) const ORDERS_IN_DOUBT: &str = "intent_gateway_orders_in_doubt";
pub(super) const EVENTS_SENT: &str = "intent_gateway_partner_events_total";
pub(super) const CHAIN_SOUND: &str = "intent_gateway_chain_sound";
pub(super) const QUEUE_LENGTH: &str = "intent_gateway_queue_length";
pub(super) const JOURNAL_LOST: &str = "intent_gateway_journal_lost_total";
pub(super) const READY_TROUBLES: &str = "intent_gateway_ready_troubles";
pub(super) const STORE_AVAILABLE: &str = "intent_gateway_store_available";
pub(super) const TASK_IN_ORDER: &str = "intent_gateway_task_in_order";
pub(super) const GATEWAYS_LIVE: &str = "intent_gateway_gateways_live";
pub(super) const DUTY_HELD: &str = "intent_gateway_duty_held";
pub(super) const UNSHARED_CALLS: &str = "intent_gateway_unshared_calls_total";
pub(super) const JOURNAL_NOT_KEPT: &str = "intent_gateway_journal_not_kept_total";
pub(super) const DISK_FREE: &str = "intent_gateway_disk_free_bytes";
pub(super) const RECEIPTS_THINNED: &str = "intent_gateway_receipts_thinned_total";
pub(super) const STORE_BYTES: &str = "intent_gateway_store_bytes";
pub(super) const CONTRACT_FLIP: &str = "intent_gateway_contract_flip_seconds";
pub(super) const CONTRACT_STAGING: &str = "intent_gateway_contract_staging_seconds";
pub(super) const SHADOW: &str = "intent_gateway_rollout_comparisons_total";
pub(super) const BUILD_INFO: &str = "intent_gateway_build_info";

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Durations, in [`BUCKETS_SECONDS`].
    Histogram,
}

/// A metric of the gateway.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, after Prometheus' conventions.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its labels, always or where they apply.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

/// Every metric of the gateway, without those of the process.
pub const METRICS: [Metric; 40] = [
    Metric {
        name: STAGE,
        kind: Kind::Histogram,
        labels: &["stage", "intent", "version", "partner"],
        help: "Time that a stage of a search or of a tool call took; `partner` with the stages call and scan alone.",
    },
    Metric {
        name: PARTNER_CALL,
        kind: Kind::Histogram,
        labels: &["intent", "tool", "partner", "outcome"],
        help: "Time of one call to a partner; retries are calls of their own.",
    },
    Metric { name: SEARCHES, kind: Kind::Counter, labels: &["intent", "outcome"], help: "Searches." },
    Metric {
        name: TOOL_CALLS,
        kind: Kind::Counter,
        labels: &["intent", "tool", "outcome"],
        help: "Calls of tools by reference.",
    },
    Metric {
        name: COMPLETIONS,
        kind: Kind::Counter,
        labels: &["intent", "outcome"],
        help: "Completion reports; `intent` where the report was booked, now or before.",
    },
    Metric {
        name: LEDGER_ENTRY,
        kind: Kind::Gauge,
        labels: &[],
        help: "Number of the entry that this process booked last.",
    },
    Metric {
        name: TASK_PANICS,
        kind: Kind::Counter,
        labels: &["task"],
        help: "Panics of work in the background; the work goes on.",
    },
    Metric {
        name: CONTRACT_FAULTS,
        kind: Kind::Counter,
        labels: &["intent", "version", "code"],
        help: "Calls of contracts that failed.",
    },
    Metric {
        name: HEALTH_CHANGES,
        kind: Kind::Counter,
        labels: &["partner", "change"],
        help: "Changes of partners' health.",
    },
    Metric {
        name: HTTP_REQUEST,
        kind: Kind::Histogram,
        labels: &["method", "route", "status"],
        help: "Time from a request's head to its answer's head.",
    },
    Metric { name: HTTP_IN_FLIGHT, kind: Kind::Gauge, labels: &[], help: "Requests under way." },
    Metric {
        name: SHED,
        kind: Kind::Counter,
        labels: &["lane"],
        help: "Requests that were refused before any work because the gateway had more to do than it can.",
    },
    Metric {
        name: ADMISSION_WAIT,
        kind: Kind::Histogram,
        labels: &[],
        help: "Time that a request waited to be begun; those that did not wait are not counted.",
    },
    Metric { name: LIVE_INTENTS, kind: Kind::Gauge, labels: &[], help: "Intents with a live contract." },
    Metric {
        name: ORDERS_OVERDUE,
        kind: Kind::Gauge,
        labels: &[],
        help: "Orders whose time is over and that no report has closed, at the last look of this gateway.",
    },
    Metric {
        name: ORDERS_AT_STAKE,
        kind: Kind::Gauge,
        labels: &[],
        help: "The commission on overdue orders, at most, in paise.",
    },
    Metric {
        name: ORDERS_IN_DOUBT,
        kind: Kind::Gauge,
        labels: &[],
        help: "Orders of which nobody knows whether their partner has them, at the last look of this gateway.",
    },
    Metric {
        name: EVENTS_SENT,
        kind: Kind::Counter,
        labels: &["outcome"],
        help: "Events posted to partners' webhooks, by outcome: delivered, not_taken; stopped counts webhooks that are sent nothing any more.",
    },
    Metric {
        name: CHAIN_SOUND,
        kind: Kind::Gauge,
        labels: &["chain"],
        help: "1 where the audit log or the ledger was as it was written and anchored at the last check, else 0.",
    },
    Metric {
        name: STORE_CHECKED,
        kind: Kind::Gauge,
        labels: &[],
        help: "When this gateway last found everything in the store to be as it must be, seconds since the epoch.",
    },
    Metric {
        name: STORE_PROBLEMS,
        kind: Kind::Gauge,
        labels: &[],
        help: "What was not as it must be in the store at the last check of this gateway.",
    },
    Metric { name: CLOCK_JUMPS, kind: Kind::Counter, labels: &[], help: "Times that the machine's clock was set." },
    Metric {
        name: CLOCK_OFFSET,
        kind: Kind::Gauge,
        labels: &["clock"],
        help: "By how much another clock is ahead of the machine's, seconds: the store's, or that of partners in the middle.",
    },
    Metric {
        name: CERTIFICATE_END,
        kind: Kind::Gauge,
        labels: &[],
        help: "Until when the listener's certificate is valid; absent where it serves without TLS.",
    },
    Metric { name: QUEUE_LENGTH, kind: Kind::Gauge, labels: &["queue"], help: "What waits to be kept." },
    Metric {
        name: JOURNAL_LOST,
        kind: Kind::Counter,
        labels: &[],
        help: "Findings and receipts that were lost, because they came too fast or the store failed.",
    },
    Metric {
        name: STORE_AVAILABLE,
        kind: Kind::Gauge,
        labels: &[],
        help: "1 where the store could be read and written at the last look, else 0.",
    },
    Metric {
        name: TASK_IN_ORDER,
        kind: Kind::Gauge,
        labels: &["task"],
        help: "1 where work in the background was done well and in time, else 0.",
    },
    Metric {
        name: READY_TROUBLES,
        kind: Kind::Gauge,
        labels: &["code"],
        help: "What is not as it should be, as `/ready` shows it: how many of each code.",
    },
    Metric {
        name: GATEWAYS_LIVE,
        kind: Kind::Gauge,
        labels: &[],
        help: "Gateways that share the store and live, as this one last heard; it counts among them.",
    },
    Metric {
        name: DUTY_HELD,
        kind: Kind::Gauge,
        labels: &["duty"],
        help: "1 where this gateway does the work that one gateway does for all, else 0.",
    },
    Metric {
        name: UNSHARED_CALLS,
        kind: Kind::Counter,
        labels: &[],
        help: "Calls of users that this gateway counted alone, for the store did not count them in time.",
    },
    Metric {
        name: JOURNAL_NOT_KEPT,
        kind: Kind::Counter,
        labels: &["what"],
        help: "Receipts and findings that were not kept on purpose, because the disk of the store is nearly full.",
    },
    Metric { name: DISK_FREE, kind: Kind::Gauge, labels: &["place"], help: "Bytes that are free for the gateway." },
    Metric {
        name: RECEIPTS_THINNED,
        kind: Kind::Counter,
        labels: &[],
        help: "Receipts of rankings that have gone before their segments.",
    },
    Metric { name: STORE_BYTES, kind: Kind::Gauge, labels: &["part"], help: "Bytes that the store takes." },
    Metric {
        name: CONTRACT_FLIP,
        kind: Kind::Histogram,
        labels: &[],
        help: "Time from the change of which version of a contract is to serve until it served at this gateway.",
    },
    Metric {
        name: CONTRACT_STAGING,
        kind: Kind::Histogram,
        labels: &["outcome"],
        help: "Time to make a version of a contract ready at this gateway.",
    },
    Metric {
        name: SHADOW,
        kind: Kind::Counter,
        labels: &["intent", "outcome"],
        help: "Rankings that were compared under the candidate of a rollout (`compared`), or would have been (`left_out`).",
    },
    Metric { name: BUILD_INFO, kind: Kind::Gauge, labels: &["version"], help: "Always 1; says what runs." },
];

/// Tells the recorder what each metric means. Wants the recorder to be installed before.
pub fn describe() {
    for Metric { name, kind, help, .. } in METRICS {
        match kind {
            Kind::Counter => describe_counter!(name, help),
            Kind::Gauge => describe_gauge!(name, help),
            Kind::Histogram => describe_histogram!(name, Unit::Seconds, help),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_follows_the_conventions() {
        for Metric { name, kind, labels, help } in METRICS {
            assert!(name.starts_with("intent_gateway_") && !help.is_empty(), "{name}");
            assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
            assert!(name.ends_with("_seconds") || kind != Kind::Histogram, "{name}: times are in seconds");
            assert!(!labels.contains(&"le"), "{name}");
        }
        assert!(BUCKETS_SECONDS.is_sorted());
    }
}
