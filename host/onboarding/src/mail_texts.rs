//! What partners are told by mail of probes, tests, going live, strikes, suspensions, changed tools and notices: what was seen,
//! where, what was sent, and what ends it. Texts alone; when they are sent is for the steps that they belong to.

use std::collections::BTreeMap;

use crate::descriptors::{Drift, DriftKind};
use crate::notices::{Notice, NoticeStage};
use crate::sessions::Requester;
use crate::text::date_and_time;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::{Finding, cut};
use intent_gateway_domain::golive::{GoLiveItem, GoLiveReport, ItemState};
use intent_gateway_domain::health::{STRIKE_WINDOW_MS, STRIKES_OUT};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::order::Order;
use intent_gateway_domain::sign_in::SignInServer;

/// Characters of each text that partners, orchestrators and contracts have named.
const TEXT_SHOWN_MAX_CHARS: usize = 300;
/// Days in which strikes count together.
const WINDOW_DAYS: u64 = STRIKE_WINDOW_MS / (24 * 60 * 60 * 1_000);

/// Where the partner sees what is left to do.
const STATUS: &str = "`intent-gateway partner status` shows it whole, and what is to be done next.";

/// A change that the owner of an account is told of.
pub(crate) struct ChangeNotice<'a> {
    /// What has happened.
    pub(crate) text: &'a str,
    pub(crate) by: &'a Requester,
    pub(crate) base_url: &'a str,
    /// Undoes it.
    pub(crate) code: &'a str,
    pub(crate) until: Timestamp,
}

/// The mail about a change of the secrets or addresses that an account is entered or reached by.
pub(crate) fn changed(name: &str, account: &PartnerId, notice: &ChangeNotice<'_>) -> String {
    let ChangeNotice { text, by, base_url, code, until } = notice;
    let who = match &by.session {
        None => "the platform team",
        Some(session) if session.proven_at.is_some() => "somebody who has signed in with a code sent to this address",
        Some(_) => "somebody with the account's credentials or a token of them",
    };
    format!(
        "Hello {name},\n\n{text} It was asked for by {who}.\n\nIf that was you, there is nothing to do.\n\nIf it was not, \
         undo it before {}:\n\n  curl {base_url}/api/v1/business/undo --header 'content-type: application/json' \\\n    \
         --data '{{\"account_id\": \"{account}\", \"code\": \"{code}\"}}'\n\nThat takes it back, with all of its kind that \
         came after it, and ends every session of the account. Then sign in with a code sent to this address and rotate the \
         client_secret with `at_once`: whoever did this holds a secret or a token of yours.\n",
        date_and_time(*until)
    )
}

/// That a secret or a key was replaced; `until` says how long the one before works, where it does.
pub(crate) fn rotated(what: &str, until: Option<Timestamp>) -> String {
    match until {
        Some(until) => format!("your {what} was replaced; the one before works until {}.", date_and_time(until)),
        None => {
            format!("your {what} was replaced, and every one before ended at once: undoing brings none of them back.")
        }
    }
}

/// That something of the business's has an address, and had none before.
pub(crate) fn set(what: &str, address: &str) -> String {
    format!("your {what} now has the address {}; it had none before.", short(address))
}

/// That something of the business's is called at another address.
pub(crate) fn moved(what: &str, from: &str, to: &str) -> String {
    format!("the address of your {what} was changed from {} to {}.", short(from), short(to))
}

/// The mail about a connection that requests are routed to from now on.
pub(crate) fn live(name: &str, intents: impl Iterator<Item = IntentId>) -> String {
    let intents: String = intents.map(|intent| format!("- {intent}\n")).collect();
    format!(
        "Hello {name},\n\nyour connection is live: requests of these intents are routed to you from now on.\n\n{intents}\n\
         `intent-gateway partner findings` shows what is found wrong with what you answer, and `intent-gateway partner \
         status` whether anything is to be done.\n"
    )
}

/// The mail about a suspension that was lifted.
pub(crate) fn lifted(name: &str, reason: &str) -> String {
    format!(
        "Hello {name},\n\nthe suspension of your connection was lifted. It starts from the sandbox: it goes live after a probe \
         and a test of each intent that pass, and once your manifest is approved again.\n\nReason:\n{reason}\n\n{STATUS}\n"
    )
}

/// The mail about a statement that is ready.
pub(crate) fn statement(name: &str, month: &str) -> String {
    format!(
        "Hello {name},\n\nyour statement of {month} is ready: what you have reported, and the commission on it.\n\n\
         `intent-gateway statement {month}` shows it. If something is wrong, tell the platform team which entry and \
         why: it can take an entry back and book what is right.\n"
    )
}

/// The mail about a webhook that is sent no events any more.
pub(crate) fn events_stopped(name: &str, url: &str, reason: &str) -> String {
    format!(
        "Hello {name},\n\nno events are sent to your webhook {} any more.\n\nReason:\n{reason}\n\nWhat was not sent is kept \
         for 30 days, and can be sent again. Mend the webhook, then have sending begin again: `intent-gateway partner event \
         enable`. Completion reports are not concerned: yours are taken as before.\n",
        short(url)
    )
}

/// The mail about a new secret for events; `until` says how long the one before works, where there was one and it does.
pub(crate) fn event_secret_rotated(name: &str, until: Option<Timestamp>) -> String {
    let rest = match until {
        Some(until) => format!("Events are signed with the one before as well until {}.", date_and_time(until)),
        None => "Events are signed with no other from now on.".to_owned(),
    };
    format!(
        "Hello {name},\n\nthe secret that events to your webhook are signed with was replaced. {rest}\n\nIf it was not you, end \
         every session of your account and rotate your secrets.\n"
    )
}

/// The mail about orders that wait for a report.
pub(crate) fn unreported(name: &str, orders: &[Order]) -> String {
    let line = |order: &Order| {
        let named = order.identifiers.first().map_or(order.id.as_str(), String::as_str);
        let due = order.overdue.as_ref().map(|noted| date_and_time(noted.due_at_ms)).unwrap_or_default();
        format!("- {} ({}), over since {due}\n", short(named), order.intent)
    };
    let orders: String = orders.iter().map(line).collect();
    format!(
        "Hello {name},\n\nthe time of these orders is over, and no completion report of yours has closed them.\n\n{orders}\n\
         Send a report for each, whatever its outcome; docs/completion-reports.md says how. `intent-gateway partner overdue` \
         lists what is waited for. What is not reported within a week becomes a finding, and stands in your statement.\n"
    )
}

/// The mail about a probe that failed before the connection was live; `failures` are not none.
pub(crate) fn failed_probe(name: &str, failures: &[Violation]) -> String {
    let failures: String =
        failures.iter().map(|failure| format!("- {}: {}\n", short(&failure.code), short(&failure.message))).collect();
    format!(
        "Hello {name},\n\nthe platform team has looked at your server, and it cannot be used yet.\n\n{failures}\n\
         Mend what failed and ask the platform team to probe again. {STATUS}\n"
    )
}

/// The mail about an authorization server that has to be looked at.
pub(crate) fn sign_in(name: &str, review: &str, named: &SignInServer) -> String {
    let SignInServer { issuer, resource, .. } = named;
    let resource = resource.as_deref().unwrap_or_default();
    format!(
        "Hello {name},\n\nyour server sends users to an authorization server that is another one than before, or the first \
         one, named after you were live, or that another partner uses as well. The platform team looks at it first (review {review}); until then no user links an account \
         at yours, and no user's token is sent to you.\n\n- issuer: {}\n- resource: {}\n\nIf you did not mean this change, \
         put it back: nothing else is to be done then.\n",
        short(issuer),
        short(resource),
    )
}

/// The mail about a test that an intent did not pass before it was routed.
pub(crate) fn failed_test(name: &str, intent: &IntentId, report: &GoLiveReport) -> String {
    format!(
        "Hello {name},\n\nthe platform team has tested your connection for {intent}, and the test did not pass.\n{}\n\
         Mend what failed and ask the platform team to test again. {STATUS}\n",
        test_items(report)
    )
}

/// The mail about a repeated test that a live intent did not pass; `until` says how long it is routed all the same.
pub(crate) fn failed_retest(name: &str, intent: &IntentId, report: &GoLiveReport, until: &str) -> String {
    format!(
        "Hello {name},\n\nthe test of your live connection for {intent} was repeated and did not pass. Requests are still \
         routed to you until {until}. After that they are not, until the test passes.\n{}\n\
         Mend what failed and ask the platform team to test again. {STATUS}\n",
        test_items(report)
    )
}

/// The items of a test that did not pass, and those that wait for a person.
fn test_items(report: &GoLiveReport) -> String {
    let lists =
        [(ItemState::Failed, "What failed:"), (ItemState::ByHand, "What the platform team still has to look at:")];
    let mut text = String::new();
    for (state, heading) in lists {
        let items: String = of_state(report, state)
            .map(|item| format!("- {} [{}]: {}\n", short(&item.text), item.code, short(&item.detail)))
            .collect();
        if !items.is_empty() {
            text.push_str(&format!("\n{heading}\n{items}"));
        }
    }
    text
}

/// The items of a report that stand so.
pub(crate) fn of_state(report: &GoLiveReport, state: ItemState) -> impl Iterator<Item = &GoLiveItem> {
    report.items.iter().filter(move |item| item.state == state)
}

/// A strike that a partner is told of, and how many incidents of its rule there are by now.
pub(crate) struct StrikeNotice<'a> {
    pub(crate) finding: &'a Finding,
    pub(crate) incidents: usize,
}

/// The mail about strikes that do not suspend yet; `more` are not told one by one.
pub(crate) fn strikes(
    name: &str,
    account: &PartnerId,
    base_url: &str,
    told: &[StrikeNotice<'_>],
    more: usize,
) -> String {
    let mut told: Vec<String> = told
        .iter()
        .map(|StrikeNotice { finding, incidents }| {
            format!("{}\n  incident {incidents} of {STRIKES_OUT}", incident(finding))
        })
        .collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    format!(
        "Hello {name},\n\nsomething that you sent breaks a rule that counts towards suspension.\n\n{}\n\n\
         {STRIKES_OUT} incidents of one rule within {WINDOW_DAYS} days suspend a connection; one request or order is one \
         incident, and counts for {WINDOW_DAYS} days. Mend what you send there before the next request. If the rule was \
         not broken, tell the platform team.\n\n{}",
        told.join("\n\n"),
        where_to_look(account, base_url)
    )
}

/// The mail about a suspension; `incidents` are those that led to it, where strikes did.
pub(crate) fn suspension(
    name: &str,
    account: &PartnerId,
    base_url: &str,
    reason: &str,
    incidents: &[Finding],
) -> String {
    let seen: String = incidents.iter().map(|finding| format!("{}\n\n", incident(finding))).collect();
    format!(
        "Hello {name},\n\nyour connection was suspended; no requests are routed to it.\n\nReason:\n{reason}\n\n{seen}\
         What lifts it: mend the cause, and tell the platform team what you have changed. The team lifts the suspension, \
         and what happened until then does not count again. The connection then starts from the sandbox: it goes live \
         after a probe and a test of each intent that pass, and once your manifest is approved again.\n\n{}",
        where_to_look(account, base_url)
    )
}

/// The mail about intents that are out of service because their tools have changed.
pub(crate) fn quarantine(name: &str, review: &str, drift: &BTreeMap<IntentId, Vec<Drift>>) -> String {
    let intents: String = drift.iter().map(|(intent, drifts)| format!("{intent}\n{}\n", changes(drifts))).collect();
    format!(
        "Hello {name},\n\nthe tools that your server lists have changed since they were accepted. Until the platform team \
         has looked at the change, no requests of these intents are routed to you:\n\n{intents}\n\
         What ends it: either put the tools back as they were, and they are routed again after the next probe, which is \
         made once a day or when the team is asked for one. Or leave them: the platform team decides on the change \
         (review {review}), and they are routed again when it accepts it. A tool whose description alone is reworded \
         stays in service.\n"
    )
}

fn changes(drifts: &[Drift]) -> String {
    let line = |drift: &Drift| {
        let what = match drift.kind {
            DriftKind::Added => "it was not there before",
            DriftKind::Removed => "it is gone, or not sound any more",
            DriftKind::SchemaChanged => "its input or output schema is another",
            DriftKind::DescriptionChanged => "its description is another",
            DriftKind::TermsChanged => "other members, such as `_meta.platform` or annotations, are others",
        };
        format!("  {}: {what}\n", short(&drift.tool))
    };
    drifts.iter().map(line).collect()
}

/// One incident: what was found where, and what was sent.
fn incident(finding: &Finding) -> String {
    let Finding { intent, request_id, option_place, option_id, external_id, violation, excerpt, .. } = finding;
    let mut lines = vec![format!("{}: {}", short(&violation.code), short(&violation.message))];
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("  {name}: {}", short(value)));
        }
    };
    line("intent", intent);
    line("request", request_id);
    line("order", external_id.as_deref().unwrap_or_default());
    line("option", option_id.as_deref().unwrap_or_default());
    // People count from one.
    line("option's place", &option_place.map(|place| (u64::from(place) + 1).to_string()).unwrap_or_default());
    line("field", &violation.pointer);
    line("sent", excerpt.as_deref().unwrap_or_default());
    lines.join("\n")
}

/// The mail about a notice: its subject and its text.
pub(crate) fn notice(name: &str, notice: &Notice, stage: NoticeStage) -> (String, String) {
    let Notice { title, text, version, intents, takes_effect_at_ms, withdrawn, .. } = notice;
    let at = date_and_time(*takes_effect_at_ms);
    let version = version.as_ref().map(|version| format!("Version: {version}\n")).unwrap_or_default();
    let named: Vec<&str> = intents.iter().map(IntentId::as_str).collect();
    let named = if named.is_empty() { String::new() } else { format!("Intents: {}\n", named.join(", ")) };
    let where_shown = "All notices: `intent-gateway partner notices`, or the dashboard.\n";
    let whole = format!("Takes effect: {at}\n{version}{named}\n{text}\n\n{where_shown}");
    match (stage, withdrawn) {
        (NoticeStage::Published, _) => {
            (format!("Notice: {title}"), format!("Hello {name},\n\nsomething will change: {title}\n\n{whole}"))
        }
        (NoticeStage::Reminder, _) => (
            format!("Soon in effect: {title}"),
            format!("Hello {name},\n\nin a few days, this takes effect: {title}\n\n{whole}"),
        ),
        (NoticeStage::Withdrawn, withdrawn) => {
            let reason = withdrawn.as_ref().map_or("", |withdrawn| withdrawn.reason.as_str());
            let text = format!(
                "Hello {name},\n\nwhat was to take effect on {at} is withdrawn: {title}\n\nReason:\n{reason}\n\nNothing \
                 has to be done for it.\n\n{where_shown}"
            );
            (format!("Withdrawn: {title}"), text)
        }
    }
}

fn where_to_look(account: &PartnerId, base_url: &str) -> String {
    format!(
        "All that was found, with what was sent:\n  \
         GET {base_url}/api/v1/business/tier1/accounts/{account}/findings?severity=strike\n  \
         intent-gateway partner findings --severity strike\n"
    )
}

/// A text that somebody else has named, cut.
pub(crate) fn short(text: &str) -> String {
    cut(text, TEXT_SHOWN_MAX_CHARS)
}
