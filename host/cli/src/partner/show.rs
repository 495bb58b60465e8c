//! The gateway's answers as texts for people: what matters for the next decision, and no more.

use std::collections::BTreeSet;

use intent_gateway_api::account::{AccountList, OverviewBody};
use intent_gateway_api::connection::{
    ConnectionBody, ConnectionList, HeldConfirmationBody, ProbeAnswer, ProbeBody, SwitchedOn, TestReport,
};
use intent_gateway_api::documents::DocumentBody;
use intent_gateway_api::manifest::{ManifestsBody, SubmissionBody};
use intent_gateway_api::name;
use intent_gateway_api::review::{ReviewBody, ReviewList, ReviewSummary, SignInBody, SignInServerBody};
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::golive::GoLiveItem;
use intent_gateway_domain::id::IntentId;
use intent_gateway_onboarding::NextStep;
use intent_gateway_onboarding::compliance::ChecklistItem;
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::delivered::{Inflated, Measure};
use intent_gateway_onboarding::descriptors::{DriftKind, ToolReport};
use intent_gateway_onboarding::manifest::Status;

use super::reasons;
use crate::terminal::{Palette, Tone, count, harmless, pairs, table};

/// Places of a service area that are shown.
const PLACES_SHOWN_MAX: usize = 8;

/// A text that grows section by section.
#[derive(Default)]
pub(super) struct Sections(Vec<String>);

impl Sections {
    pub(super) fn section(&mut self, heading: &str, text: String) {
        self.0.push(format!("{heading}\n{}", indent(&text)));
    }

    pub(super) fn finish(self) -> String {
        self.0.join("\n\n")
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

pub(super) fn accounts(AccountList { accounts, next }: &AccountList, _: Palette) -> String {
    let rows: Vec<[String; 5]> = accounts
        .iter()
        .map(|account| {
            let profile = if account.has_profile { "given" } else { "missing" };
            let created = account.created_at.clone();
            [
                account.account_id.clone(),
                account.business_name.clone(),
                account.email.clone(),
                created,
                profile.to_owned(),
            ]
        })
        .collect();
    with_next(table(["account", "business", "e-mail", "since", "profile"], &rows), next.as_deref())
}

pub(super) fn connections(ConnectionList { connections, next }: &ConnectionList, _: Palette) -> String {
    let rows: Vec<[String; 5]> = connections
        .iter()
        .map(|connection| {
            let probe =
                connection.probe.as_ref().map_or("none", |probe| if probe.passed { "passed" } else { "failed" });
            [
                connection.account_id.clone(),
                connection.state.as_str().to_owned(),
                connection.since.clone(),
                probe.to_owned(),
                connection.endpoint.url().to_owned(),
            ]
        })
        .collect();
    with_next(table(["account", "state", "since", "last probe", "endpoint"], &rows), next.as_deref())
}

/// A list that goes on says how.
pub(super) fn with_next(table: String, next: Option<&str>) -> String {
    match next {
        Some(next) => format!("{table}\nmore: --after {}", harmless(next)),
        None => table,
    }
}

pub(super) fn overview(overview: &OverviewBody, palette: Palette) -> String {
    let OverviewBody {
        account_id,
        business_name,
        email,
        created_at,
        credentials,
        manifest,
        connection,
        checklist,
        next,
        ..
    } = overview;
    let mut page = Sections::default();
    let none = || "none".to_owned();
    page.section(
        "Account",
        pairs(&[
            ("account", account_id.clone()),
            ("business", business_name.clone()),
            ("e-mail", email.clone()),
            ("since", created_at.clone()),
            ("client_id", credentials.as_ref().map_or_else(none, |issued| issued.client_id.clone())),
            ("webhook", credentials.as_ref().and_then(|issued| issued.webhook_url.clone()).unwrap_or_else(none)),
        ]),
    );
    page.section("Manifest", manifest.as_ref().map_or_else(none, |manifest| manifests(manifest, palette)));
    match connection {
        None => page.section("Connection", none()),
        Some(connection) => page.0.push(self::connection(connection, palette)),
    }
    if !checklist.is_empty() {
        let items = checklist.iter().map(|item| Item {
            code: &item.code,
            text: &item.text,
            state: name(&item.state),
            detail: item.wanted.as_deref().unwrap_or_default(),
        });
        page.section("Checklist", self::checklist(&items.collect::<Vec<_>>(), palette));
    }
    page.section("Next", self::next(next));
    page.finish()
}

/// Two lines for each step: what it is, whose turn it is and what it concerns; then what to do.
fn next(steps: &[NextStep]) -> String {
    if steps.is_empty() {
        return "nothing: requests are routed".to_owned();
    }
    let lines = steps.iter().map(|NextStep { code, who, intent, paper, text }| {
        let about = intent.as_ref().map(IntentId::as_str).or(paper.as_deref());
        let about = about.map(|about| format!(", {}", harmless(about))).unwrap_or_default();
        format!("{}  ({}{about})\n  {}", harmless(code), harmless(who), harmless(text))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn manifests(ManifestsBody { latest, approved, review }: &ManifestsBody, palette: Palette) -> String {
    let status = palette.paint(status_tone(latest.status), latest.status.as_str());
    let mut text = format!("submission {}: {status}", latest.number);
    if let Some(review) = review {
        text.push_str(&format!(", review {}", harmless(review)));
    }
    if let Some(approved) = approved.as_ref().filter(|approved| approved.number != latest.number) {
        text.push_str(&format!("\nin force: submission {}", approved.number));
    }
    if let Some(notes) = latest.notes.as_ref().filter(|notes| !notes.is_empty()) {
        text.push_str(&format!("\nnotes: {}", harmless(notes)));
    }
    format!("{text}\n{}", submission(latest))
}

fn status_tone(status: Status) -> Tone {
    match status {
        Status::Approved => Tone::Good,
        Status::Rejected => Tone::Bad,
        Status::Draft | Status::PendingReview => Tone::Doubtful,
    }
}

/// What was submitted, and what a reviewer is to know of it.
fn submission(SubmissionBody { manifest, warnings, flags, .. }: &SubmissionBody) -> String {
    let mut lines = vec![format!("business: {}", harmless(&manifest.business_name))];
    for entry in &manifest.intents {
        let shown = entry.service_area.iter().take(PLACES_SHOWN_MAX).map(|place| harmless(place)).collect::<Vec<_>>();
        let more = entry.service_area.len().saturating_sub(PLACES_SHOWN_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        lines.push(format!("lists {} in {}{more}", harmless(entry.intent.as_str()), shown.join(", ")));
    }
    lines.extend(flags.iter().map(|flag| format!("look at: {}", harmless(&flag.message))));
    lines.extend(violations("warning", warnings));
    lines.join("\n")
}

fn violations(word: &str, violations: &[Violation]) -> Vec<String> {
    let line = |Violation { pointer, code, message }: &Violation| {
        let at = if pointer.is_empty() { String::new() } else { format!(" at {}", harmless(pointer)) };
        format!("{word}: {} [{}{at}]", harmless(message), harmless(code))
    };
    violations.iter().map(line).collect()
}

/// All that is known of a connection.
fn connection(connection: &ConnectionBody, palette: Palette) -> String {
    let mut page = Sections::default();
    page.section("Connection", state(connection, palette));
    let probe = connection.probe.as_ref().map_or_else(|| "none".to_owned(), |probe| self::probe(probe, palette));
    page.section("Last probe", probe);
    for report in connection.tests.values() {
        page.0.push(self::report(report, palette));
    }
    page.finish()
}

/// Where a connection stands.
pub(super) fn state(connection: &ConnectionBody, palette: Palette) -> String {
    let ConnectionBody {
        account_id,
        state,
        since,
        endpoint,
        quarantine,
        failed_retests,
        confirmations,
        suspension,
        next_probe_at,
        ..
    } = connection;
    let tone = match state {
        ConnectionState::Live => Tone::Good,
        ConnectionState::Sandbox => Tone::Doubtful,
        ConnectionState::ProbeFailed | ConnectionState::Suspended => Tone::Bad,
    };
    let mut lines = vec![
        format!("{} is {} since {}", harmless(account_id), palette.paint(tone, state.as_str()), harmless(since)),
        format!("endpoint: {}", harmless(&describe(endpoint))),
    ];
    if let Some(suspension) = suspension {
        let (at, by) = (harmless(&suspension.at), harmless(&suspension.by.subject));
        lines.push(format!("suspended at {at} by {by}: {}", harmless(&suspension.reason)));
    }
    if let Some(at) = next_probe_at {
        lines.push(format!("probed again at {}", harmless(at)));
    }
    for (intent, drifts) in quarantine {
        let changed = drifts.iter().map(|drift| format!("{} ({})", drift.tool, change(drift.kind))).collect::<Vec<_>>();
        lines.push(harmless(&format!("out of service: {intent}, for changed tools: {}", changed.join(", "))));
    }
    for (intent, failed) in failed_retests {
        let until = &failed.routed_until;
        lines.push(harmless(&format!("{intent}: the last test did not pass; routed until {until} all the same")));
    }
    for (intent, held) in confirmations {
        lines.extend(held.iter().filter_map(|(code, held)| show_end(intent, code, held)));
    }
    lines.join("\n")
}

/// By whom a requirement was confirmed and until when that holds; nothing where it holds for good.
fn show_end(intent: &str, code: &str, held: &HeldConfirmationBody) -> Option<String> {
    let HeldConfirmationBody { at, by, valid_until, routed_until } = held;
    let until = valid_until.as_ref()?;
    let by = by.as_ref().map(|by| format!(" by {}", by.subject)).unwrap_or_default();
    let routed = routed_until.as_ref().map(|routed| format!("; not routed from {routed} on")).unwrap_or_default();
    Some(harmless(&format!("{intent}: {code} confirmed at {at}{by}, holds until {until}{routed}")))
}

fn change(kind: DriftKind) -> &'static str {
    match kind {
        DriftKind::Added => "added",
        DriftKind::Removed => "removed",
        DriftKind::SchemaChanged => "another schema",
        DriftKind::DescriptionChanged => "another description",
        DriftKind::TermsChanged => "other terms",
    }
}

/// What a probe came to, and where the connection stands after it.
pub(super) fn show_probe(ProbeAnswer { connection, .. }: &ProbeAnswer, palette: Palette) -> String {
    let mut page = Sections::default();
    page.section("Probe", connection.probe.as_ref().map_or_else(String::new, |probe| self::probe(probe, palette)));
    page.section("Connection", state(connection, palette));
    page.finish()
}

fn describe(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Mcp { url } => format!("{url} (MCP)"),
        Endpoint::Rest { base_url, openapi_url } => format!("{base_url} (REST, described at {openapi_url})"),
        Endpoint::Graphql { url } => format!("{url} (GraphQL)"),
    }
}

fn probe(probe: &ProbeBody, palette: Palette) -> String {
    let verdict = verdict(probe.passed, palette);
    let mut lines = vec![format!("{verdict} at {}, {} ms", harmless(&probe.started_at), probe.elapsed_ms)];
    let steps = probe.steps.iter().map(|step| {
        format!("{} {} ({} ms)", name(&step.step), if step.passed { "passed" } else { "failed" }, step.elapsed_ms)
    });
    lines.push(format!("steps: {}", harmless(&steps.collect::<Vec<_>>().join(", "))));
    if let Some(server) = &probe.server {
        // An API that is wrapped speaks no MCP.
        let revision = probe.protocol_version.as_deref();
        let revision = revision.map_or_else(String::new, |revision| format!(", MCP {}", harmless(revision)));
        lines.push(format!("server: {} {}{revision}", harmless(&server.name), harmless(&server.version)));
    }
    lines.extend(violations("failure", &probe.failures));
    lines.extend(probe.tool_report.iter().flat_map(tools));
    lines.extend(probe.notes.iter().map(|note| format!("note: {}", harmless(note))));
    lines.join("\n")
}

/// What happened to the tools.
fn tools(ToolReport { accepted, skipped, ignored, missing, warnings }: &ToolReport) -> Vec<String> {
    let names: Vec<&str> = accepted.iter().map(|tool| tool.name.as_str()).collect();
    let listed = if names.is_empty() { String::new() } else { format!(": {}", harmless(&names.join(", "))) };
    let mut lines = vec![format!("{} accepted{listed}", count(accepted.len(), "tool"))];
    let unnamed = |name: &Option<String>| harmless(name.as_deref().unwrap_or("without a name"));
    for tool in skipped {
        lines.extend(violations(&format!("tool {} skipped", unnamed(&tool.name)), &tool.violations));
    }
    lines.extend(
        ignored.iter().map(|tool| format!("tool {} ignored: {}", unnamed(&tool.name), harmless(&tool.message))),
    );
    lines.extend(missing.iter().map(|(intent, tools)| format!("{intent} lacks {}", harmless(&tools.join(", ")))));
    lines.extend(violations("warning", warnings));
    lines
}

fn verdict(passed: bool, palette: Palette) -> String {
    if passed { palette.paint(Tone::Good, "passed") } else { palette.paint(Tone::Bad, "failed") }
}

pub(super) fn report(report: &TestReport, palette: Palette) -> String {
    let TestReport { intent, passed, contract_version, at, samples, items, .. } = report;
    let verdict =
        if *passed { palette.paint(Tone::Good, "passed") } else { palette.paint(Tone::Bad, "not passed yet") };
    let mut lines = vec![format!("{verdict} at {}, by contract {}", harmless(at), harmless(contract_version))];
    for (number, sample) in samples.iter().enumerate() {
        let what = match &sample.failure {
            Some(code) => format!("no usable answer [{}]", harmless(code)),
            None => format!("{}, {} dropped", count(sample.options, "option"), sample.dropped),
        };
        lines.push(format!("sample {}: {what}, {} ms", number + 1, sample.elapsed_ms));
        lines.extend(sample.error.iter().flat_map(reasons::error));
    }
    lines.extend(reasons::lines(samples, palette));
    let items =
        items.iter().map(|GoLiveItem { code, text, state, detail }| Item { code, text, state: name(state), detail });
    lines.push(checklist(&items.collect::<Vec<_>>(), palette));
    format!("Test of {}\n{}", harmless(intent), indent(&lines.join("\n")))
}

/// An item of a report or a review, with the name of its state.
struct Item<'a> {
    code: &'a str,
    text: &'a str,
    state: String,
    detail: &'a str,
}

/// Two lines for each item: what must hold, and what was seen.
fn checklist(items: &[Item<'_>], palette: Palette) -> String {
    let width = items.iter().map(|item| item.state.chars().count()).max().unwrap_or(0);
    let lines = items.iter().map(|Item { code, text, state, detail }| {
        let tone = match state.as_str() {
            "passed" | "confirmed" => Tone::Good,
            "failed" => Tone::Bad,
            _ => Tone::Doubtful,
        };
        let state = palette.paint(tone, &format!("{state:<width$}"));
        let (code, text, detail) = (harmless(code), harmless(text), harmless(detail));
        let detail = if detail.is_empty() { String::new() } else { format!("\n{:width$}  {detail}", "") };
        format!("{state}  {code}: {text}{detail}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn switched_on(SwitchedOn { routed, connection }: &SwitchedOn, palette: Palette) -> String {
    let live = palette.paint(Tone::Good, "live");
    format!("{} is {live}; routed: {}", harmless(&connection.account_id), harmless(&list(routed)))
}

pub(super) fn reviews(ReviewList { reviews, next }: &ReviewList, _: Palette) -> String {
    let rows: Vec<[String; 6]> = reviews
        .iter()
        .map(|review| {
            [
                review.id.clone(),
                review.status.as_str().to_owned(),
                review.account_id.clone(),
                about(review),
                review.opened_at.clone(),
                review.due_at.clone(),
            ]
        })
        .collect();
    with_next(table(["review", "status", "account", "about", "opened", "due"], &rows), next.as_deref())
}

fn list(intents: &BTreeSet<IntentId>) -> String {
    intents.iter().map(IntentId::as_str).collect::<Vec<_>>().join(", ")
}

/// What a review is about, in a few words.
fn about(review: &ReviewSummary) -> String {
    let subject = &review.subject;
    match (subject.number, &subject.intents, &subject.inflation) {
        (Some(number), ..) => format!("{} {number}", subject.kind),
        (None, Some(intents), _) => format!("{} of {}", subject.kind, list(intents)),
        (None, None, Some(inflation)) => format!("{} of {}", subject.kind, inflation.intent),
        (None, None, None) => match &subject.sign_in {
            Some(sign_in) => format!("{} at {}", subject.kind, sign_in.named.issuer),
            None => subject.kind.clone(),
        },
    }
}

/// Declared signals, each beside what was delivered and the most that this bears out.
fn show_inflated(signals: &[Inflated]) -> String {
    let rows: Vec<[String; 5]> = signals
        .iter()
        .map(|Inflated { axis, declared, measure, delivered, at_most, reports }| {
            let delivered = match measure {
                Measure::CompletionRate => format!("{:.0} % completed", delivered * 100.0),
                Measure::MeanLateMinutes => format!("{delivered:.0} min late on average"),
            };
            let at_most = at_most.map_or_else(|| "not all at the top".to_owned(), |at_most| format!("{at_most:.2}"));
            [axis.as_str().to_owned(), declared.to_string(), delivered, at_most, reports.to_string()]
        })
        .collect();
    table(["signal", "declared", "delivered", "borne out", "reports"], &rows)
}

/// What a partner's server names beside what held, and whose it is besides.
fn show_sign_in(SignInBody { named, before, shared_with }: &SignInBody) -> String {
    let server = |server: &SignInServerBody| {
        let resource = server.resource.as_deref().unwrap_or("any");
        format!("{} for {resource}, at {}", server.issuer, server.origins.join(", "))
    };
    let before = before.as_ref().map_or_else(|| "nothing".to_owned(), server);
    let shared = if shared_with.is_empty() { "nobody".to_owned() } else { shared_with.join(", ") };
    pairs(&[("named", server(named)), ("before", before), ("shared with", shared)])
}

pub(super) fn review(
    ReviewBody { review, account, submission, checklist, documents, .. }: &ReviewBody,
    palette: Palette,
) -> String {
    let mut page = Sections::default();
    let mut rows = vec![
        ("review", review.id.clone()),
        ("about", about(review)),
        ("status", review.status.as_str().to_owned()),
        ("account", format!("{} ({}, {})", account.account_id, account.business_name, account.email)),
        ("opened", review.opened_at.clone()),
        ("due", review.due_at.clone()),
    ];
    if let Some(decision) = &review.decision {
        rows.push(("decided", format!("{} by {}", decision.at, decision.by.subject)));
        rows.push(("notes", decision.notes.clone()));
    }
    page.section("Review", pairs(&rows));
    if let Some(submission) = submission {
        page.section(&format!("Submission {}", submission.number), self::submission(submission));
    }
    if let Some(sign_in) = &review.subject.sign_in {
        page.section("Sign-in", show_sign_in(sign_in));
    }
    if let Some(inflation) = &review.subject.inflation {
        page.section("Signals", show_inflated(&inflation.inflated));
    }
    if !checklist.is_empty() {
        let items = checklist.iter().map(|ChecklistItem { code, text, state, detail }| Item {
            code,
            text,
            state: name(state),
            detail,
        });
        page.section("Checklist", self::checklist(&items.collect::<Vec<_>>(), palette));
    }
    if !documents.is_empty() {
        page.section("Documents", self::documents(documents));
    }
    page.finish()
}

/// Documents, without what stands in them.
pub(super) fn documents(documents: &[DocumentBody]) -> String {
    let rows: Vec<[String; 5]> = documents
        .iter()
        .map(|document| {
            [
                document.id.clone(),
                document.kind.clone(),
                document.file_name.clone(),
                document.size_bytes.to_string(),
                document.uploaded_at.clone(),
            ]
        })
        .collect();
    table(["document", "kind", "file", "bytes", "since"], &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_confirmation_is_shown_with_its_end() {
        let held = |by: serde_json::Value, until: Option<&str>, routed: Option<&str>| {
            let held = json!({"at": "A", "by": by, "valid_until": until, "routed_until": routed});
            show_end("auto.fix", "SEEN", &serde_json::from_value(held).expect("a confirmation"))
        };
        let asha = json!({"role": "admin", "subject": "asha"});
        let text = "auto.fix: SEEN confirmed at A by asha, holds until B";
        assert_eq!(held(asha.clone(), Some("B"), None).as_deref(), Some(text));
        assert_eq!(held(asha.clone(), Some("B"), Some("C")), Some(format!("{text}; not routed from C on")));
        assert_eq!(held(json!(null), Some("B"), None), Some(text.replace(" by asha", "")));
        assert_eq!(held(asha, None, None), None, "it holds for good");
    }

    #[test]
    fn a_review_of_signals_shows_what_was_delivered() {
        let at_top = json!({"axis": "taste", "declared": 1.0, "measure": "completion_rate", "delivered": 0.45,
            "at_most": null, "reports": 40});
        let late = json!({"axis": "time", "declared": 0.9, "measure": "mean_late_minutes", "delivered": 60.4,
            "at_most": 0.631, "reports": 20});
        let review: ReviewBody = serde_json::from_value(json!({
            "id": "rev_1", "account_id": "ptr_1", "status": "open", "opened_at": "a", "due_at": "b", "decision": null,
            "subject": {"kind": "inflation", "number": null, "intents": null, "sign_in": null,
                "inflation": {"intent": "test.find_things", "declared": {"time": 0.9, "taste": 1.0, "budget": 0.5, "safety": 0.5},
                    "inflated": [late, at_top]}},
            "account": {"account_id": "ptr_1", "partner_id": "ptr_1", "business_name": "CoolCar", "email": "a@b.example", "created_at": "c",
                "has_profile": true},
            "submission": null, "checklist": [], "documents": [],
        }))
        .expect("a review");
        let text = super::review(&review, Palette::PLAIN);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        for line in [
            "about inflation of test.find_things",
            "time 0.9 60 min late on average 0.63 20",
            "taste 1 45 % completed not all at the top 40",
        ] {
            assert!(lines.iter().any(|found| found == line), "{line}: {text}");
        }
    }
}
