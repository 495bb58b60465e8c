//! Which answer is honest when: one table, and a second one of what is known not to be. Whatever neither has is a failure.
//!
//! A gateway that can do what it is asked for answers 200. Anything else needs a reason, and says it: a process that does not
//! run, a store that is away, more load than fits, a partner that fails, a clock that is wrong.

use crate::plan::Kind;
use crate::record::{Attempt, Call, Injected};

/// How long after a fault its consequences may show: the time within which everything has to recover, milliseconds.
pub const RECOVERY_MAX_MS: u64 = 5_000;
/// How long a breaker may leave a partner out after its last failure, milliseconds: the longest wait, and the call that is
/// let through then.
const PARTNER_LEFT_OUT_MS: u64 = 5 * 60_000 + 45_000;
/// By how much clocks of the bench and the machine's own work may be apart, milliseconds.
const SLACK_MS: u64 = 250;

/// Why an answer may be other than 200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// None is needed.
    Always,
    /// The process of the gateway was down, or stood still.
    ProcessDown,
    /// The gateway stood still: what it had under way ran out of time.
    ProcessFrozen,
    /// The store could not be reached, or took no write.
    StoreDown,
    /// There was much more load than usual.
    Overload,
    /// The partner that is booked at has had faults.
    PartnerFails,
    /// The gateway's clock was an hour off.
    ClockOff,
    /// A call before, under the same key, may still be under way.
    InDoubt,
}

/// One line of the table.
struct Honest {
    reason: Reason,
    calls: &'static [Call],
    answers: &'static [&'static str],
}

const ALL: &[Call] = &[Call::Search, Call::Book, Call::Report];
const WRITES: &[Call] = &[Call::Book, Call::Report];

/// What is honest.
const TABLE: &[Honest] = &[
    Honest { reason: Reason::Always, calls: ALL, answers: &["200"] },
    Honest {
        reason: Reason::ProcessDown,
        calls: ALL,
        answers: &["no connection", "connection broken", "no answer", "503 DRAINING"],
    },
    Honest {
        reason: Reason::ProcessFrozen,
        calls: ALL,
        answers: &["200 in part", "504 TIMEOUT", "504 PARTNER_TIMEOUT", "502 PARTNER_UNREACHABLE", "503 OVERLOADED"],
    },
    Honest {
        reason: Reason::StoreDown,
        calls: WRITES,
        answers: &["503 STORE_UNAVAILABLE", "503 OVERLOADED", "504 TIMEOUT"],
    },
    Honest { reason: Reason::Overload, calls: ALL, answers: &["503 OVERLOADED"] },
    // The second where the partner had answered, and the store was too busy to record it.
    Honest { reason: Reason::Overload, calls: &[Call::Book], answers: &["503 PARTNER_BUSY", "503 STORE_UNAVAILABLE"] },
    Honest {
        reason: Reason::PartnerFails,
        calls: &[Call::Book],
        answers: &[
            "502 PARTNER_UNREACHABLE",
            "502 PARTNER_HTTP_ERROR",
            "502 PARTNER_PROTOCOL_ERROR",
            "504 PARTNER_TIMEOUT",
            "503 PARTNER_DOWN",
            "503 PARTNER_BUSY",
            "429 RATE_LIMITED",
        ],
    },
    Honest { reason: Reason::ClockOff, calls: &[Call::Report], answers: &["401 TIMESTAMP_OUT_OF_WINDOW"] },
    Honest { reason: Reason::InDoubt, calls: &[Call::Book], answers: &["409 CALL_UNDER_WAY"] },
];

/// What is not, and is known: counted, told, and no failure. Whoever mends one takes its line out.
const GAPS: &[Honest] = &[
    // A gateway that does not get round to its partners answers as if they had nothing.
    Honest { reason: Reason::Overload, calls: &[Call::Search], answers: &["200 in part"] },
];

/// What keeps gateways from their store.
const STORE_DOWN: [Kind; 6] = [
    Kind::PostgresRestart,
    Kind::PostgresCrash,
    Kind::PostgresFrozen,
    Kind::PostgresCut,
    Kind::PostgresSlow,
    Kind::DiskFull,
];
/// Refusals that say when to come again (`Retry-After`).
const SAY_WHEN: &[&str] = &[
    "503 STORE_UNAVAILABLE",
    "503 OVERLOADED",
    "503 PARTNER_DOWN",
    "503 PARTNER_BUSY",
    "429 RATE_LIMITED",
    "409 CALL_UNDER_WAY",
];

/// How an answer is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Honest,
    /// It is not honest, which is known.
    Gap(String),
    /// It is not honest, or says too little.
    Breach(String),
}

/// Judges an answer, given what was injected.
#[must_use]
pub fn judge(attempt: &Attempt, injected: &[Injected]) -> Judged {
    let answer = attempt.outcome.to_string();
    let is_in = |table: &[Honest]| {
        table.iter().any(|line| {
            line.calls.contains(&attempt.call)
                && line.answers.contains(&answer.as_str())
                && holds(line.reason, attempt, injected)
        })
    };
    if !is_in(TABLE) {
        let told = format!("{}: {answer}", attempt.call);
        return if is_in(GAPS) { Judged::Gap(told) } else { Judged::Breach(told) };
    }
    if SAY_WHEN.contains(&answer.as_str()) && !attempt.says_when {
        return Judged::Breach(format!("{}: {answer} without Retry-After", attempt.call));
    }
    Judged::Honest
}

/// Whether a reason was there for a request.
fn holds(reason: Reason, attempt: &Attempt, injected: &[Injected]) -> bool {
    let met = |kinds: &[Kind], later_ms: u64| {
        injected.iter().any(|one| {
            kinds.contains(&one.kind)
                && one.concerns(attempt.gateway)
                && attempt.began_ms <= one.ended_ms + later_ms
                && attempt.ended_ms + SLACK_MS >= one.began_ms
        })
    };
    match reason {
        Reason::Always => true,
        Reason::ProcessDown => met(&[Kind::Kill, Kind::Roll, Kind::Freeze], SLACK_MS),
        Reason::ProcessFrozen => met(&[Kind::Freeze], SLACK_MS),
        Reason::StoreDown => met(&STORE_DOWN, RECOVERY_MAX_MS),
        Reason::Overload => met(&[Kind::Burst], RECOVERY_MAX_MS),
        Reason::ClockOff => met(&[Kind::ClockBack, Kind::ClockAhead], RECOVERY_MAX_MS),
        Reason::PartnerFails => injected.iter().any(|one| {
            let at = attempt.faulty_partner.map(crate::plan::Place::Partner);
            Some(one.place) == at
                && attempt.ended_ms + SLACK_MS >= one.began_ms
                && attempt.began_ms <= one.ended_ms + PARTNER_LEFT_OUT_MS
        }),
        Reason::InDoubt => attempt.is_in_doubt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ON_SQLITE, Place};
    use crate::record::Outcome;

    fn attempt(call: Call, gateway: usize, ended_ms: u64, outcome: Outcome) -> Attempt {
        let began_ms = ended_ms.saturating_sub(10);
        let (faulty_partner, says_when, is_first, is_in_doubt) = (None, true, true, false);
        Attempt { call, gateway, faulty_partner, began_ms, ended_ms, outcome, says_when, is_first, is_in_doubt }
    }

    fn refused(status: u16, code: &str) -> Outcome {
        Outcome::Refused(status, code.to_owned())
    }

    const fn injected(kind: Kind, place: Place) -> Injected {
        Injected { kind, place, began_ms: 100_000, ended_ms: 104_000 }
    }

    fn is_breach(judged: &Judged) -> bool {
        matches!(judged, Judged::Breach(_))
    }

    #[test]
    fn an_answer_needs_a_reason_at_its_gateway_and_time() {
        let down = [injected(Kind::Kill, Place::Gateway(1))];
        let at = |gateway, ms| judge(&attempt(Call::Search, gateway, ms, Outcome::NoConnection), &down);
        assert_eq!(at(1, 102_000), Judged::Honest);
        assert!(is_breach(&at(0, 102_000)), "the other one runs");
        assert!(is_breach(&at(1, 99_000)) && is_breach(&at(1, 105_000)), "it runs then");
        let full = attempt(Call::Search, 0, 1, Outcome::Full);
        assert_eq!(judge(&full, &[]), Judged::Honest);
        assert!(is_breach(&judge(&Attempt { outcome: Outcome::InPart, ..full.clone() }, &down)));
        // A store that is away is none of a search's.
        let away = [injected(Kind::PostgresRestart, Place::Postgres)];
        let overloaded = |call, gateway, ms| judge(&attempt(call, gateway, ms, refused(503, "OVERLOADED")), &away);
        assert_eq!(overloaded(Call::Report, 0, 102_000), Judged::Honest);
        assert_eq!(overloaded(Call::Report, 0, 104_000 + RECOVERY_MAX_MS), Judged::Honest);
        assert!(is_breach(&overloaded(Call::Report, 0, 105_000 + RECOVERY_MAX_MS)));
        assert!(is_breach(&overloaded(Call::Report, ON_SQLITE, 102_000)));
        assert!(is_breach(&overloaded(Call::Search, 0, 102_000)));
        let unavailable = |says_when| {
            let told = attempt(Call::Report, 0, 102_000, refused(503, "STORE_UNAVAILABLE"));
            judge(&Attempt { says_when, ..told }, &away)
        };
        assert_eq!(unavailable(true), Judged::Honest);
        assert!(is_breach(&unavailable(false)));
        assert!(is_breach(&judge(&attempt(Call::Report, 0, 102_000, refused(500, "INTERNAL_ERROR")), &away)));
        let burst = [injected(Kind::Burst, Place::Everywhere)];
        let known = judge(&attempt(Call::Search, 0, 102_000, Outcome::InPart), &burst);
        assert_eq!(known, Judged::Gap("search: 200 in part".to_owned()));
    }

    #[test]
    fn a_partners_fault_excuses_calls_of_that_partner_alone() {
        let fails = [injected(Kind::PartnerReset, Place::Partner(2))];
        let book = |faulty_partner, ms| {
            let down = attempt(Call::Book, 0, ms, refused(503, "PARTNER_DOWN"));
            judge(&Attempt { faulty_partner, ..down }, &fails)
        };
        assert_eq!(book(Some(2), 200_000), Judged::Honest);
        assert!(is_breach(&book(Some(1), 200_000)) && is_breach(&book(None, 200_000)));
        assert!(is_breach(&book(Some(2), 99_000)), "before its fault");
        let in_part = judge(&attempt(Call::Search, 0, 102_000, Outcome::InPart), &fails);
        assert!(is_breach(&in_part), "others have options");
    }

    #[test]
    fn some_refusals_say_when_and_a_repeat_may_find_the_first_call_under_way() {
        let under_way = attempt(Call::Book, 0, 50_000, refused(409, "CALL_UNDER_WAY"));
        assert!(is_breach(&judge(&under_way, &[])));
        let repeated = Attempt { is_in_doubt: true, ..under_way };
        assert_eq!(judge(&repeated, &[]), Judged::Honest);
        assert!(is_breach(&judge(&Attempt { says_when: false, ..repeated }, &[])));
    }
}
