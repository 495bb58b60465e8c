//! Orders as a text for people.

use intent_gateway_api::evidence::Finding;
use intent_gateway_api::name;
use intent_gateway_api::orders::{
    OrderBody, OrderChange, OrderChanges, OrderDetail, OrderHistoryEvent, OrderList, OrderNext, OrderRecord,
    OrderReport, OrderSummary, PartnerOrder,
};
use intent_gateway_api::overdue::{OverdueAtPartnerBody, OverdueList, OverdueSummary};
use intent_gateway_domain::money::Paise;

use crate::partner::reports::overdue_table;
use crate::terminal::{harmless, pairs, table};

/// One line an order.
pub(crate) fn list(OrderList { orders, next }: &OrderList) -> String {
    let more = next.as_ref().map(|next| format!("more: --before {}", harmless(next)));
    if orders.is_empty() {
        return more.unwrap_or_else(|| "no such order".to_owned());
    }
    let rows: Vec<[String; 6]> = orders.iter().map(row).collect();
    let text = table(["order", "opened", "intent", "partner", "state", "known as"], &rows);
    more.map_or_else(|| text.clone(), |more| format!("{text}\n{more}"))
}

fn row(order: &OrderSummary) -> [String; 6] {
    let OrderSummary { id, intent, partner, opened_at, identifiers, request_id, .. } = order;
    let known_as = if identifiers.is_empty() { format!("request {request_id}") } else { identifiers.join(" ") };
    [id.clone(), opened_at.clone(), intent.clone(), partner.clone(), state(order), known_as]
}

fn state(OrderSummary { state, is_open, in_doubt, .. }: &OrderSummary) -> String {
    match (in_doubt, is_open) {
        (true, _) => format!("{state} (in doubt)"),
        (false, true) => state.clone(),
        (false, false) => format!("{state} (over)"),
    }
}

/// Overdue orders, one line each.
pub(crate) fn overdue(OverdueList { orders, next }: &OverdueList) -> String {
    if orders.is_empty() {
        return "no order waits for a report".to_owned();
    }
    let table = overdue_table(orders);
    match next {
        Some(next) => format!("{table}\nmore: --after {}", harmless(next)),
        None => table,
    }
}

/// What is overdue, one line a partner.
pub(crate) fn overdue_by_partner(OverdueSummary { partners }: &OverdueSummary) -> String {
    if partners.is_empty() {
        return "no order waits for a report".to_owned();
    }
    let row = |sums: &OverdueAtPartnerBody| {
        [
            sums.partner.clone(),
            sums.of_week.to_string(),
            sums.of_month.to_string(),
            sums.older.to_string(),
            sums.oldest_due_at.clone(),
            sums.at_stake_inr.to_string(),
        ]
    };
    let rows: Vec<[String; 6]> = partners.iter().map(row).collect();
    table(["partner", "up to 7 days", "up to 30", "older", "oldest due", "commission at most, INR"], &rows)
}

/// One line a change, and what to go on with.
pub(crate) fn changes(OrderChanges { events, next, more }: &OrderChanges) -> String {
    let rows: Vec<[String; 5]> = events.iter().map(change).collect();
    let told = match rows.as_slice() {
        [] => "nothing has changed".to_owned(),
        rows => table(["changed", "order", "intent", "state", "request"], rows),
    };
    let go_on = if *more { "more" } else { "from here on" };
    format!("{told}\n{go_on}: --after {}", harmless(next))
}

fn change(change: &OrderChange) -> [String; 5] {
    let OrderChange { order, intent, state, is_open, changed_at, request_id, .. } = change;
    let state = if *is_open { state.clone() } else { format!("{state} (over)") };
    [changed_at.clone(), order.clone(), intent.clone(), state, request_id.clone()]
}

/// An order for its orchestrator.
pub(crate) fn detail(detail: &OrderDetail) -> String {
    let OrderDetail { body, ranking_receipt, option: _, quoted_inr, next } = detail;
    let mut rows = head(body, *quoted_inr);
    rows.extend(ranking_receipt.iter().map(|receipt| ("ranking", receipt.clone())));
    let mut sections = vec![pairs(&rows), kept(body), history(body)];
    if let Some(OrderNext { reference, tools }) = next {
        let rows = tools.iter().map(|next| {
            let until = next.until.clone().unwrap_or_else(|| "-".to_owned());
            [next.tool.clone(), name(&next.role), until, next.purpose.clone()]
        });
        let rows: Vec<[String; 4]> = rows.collect();
        let may = if rows.is_empty() {
            "no tool has its turn".to_owned()
        } else {
            table(["next", "role", "until", ""], &rows)
        };
        sections.push(format!("{may}\nreference  {}", harmless(reference)));
    }
    join(sections)
}

/// An order for the platform team, without what the user and the partner have said.
pub(crate) fn record(record: &OrderRecord) -> String {
    let mut rows = head(&record.body, record.quoted_inr);
    let version = record.contract_version.as_ref().map_or_else(|| "not loaded".to_owned(), ToString::to_string);
    rows.push(("contract", format!("{version}, {}", record.contract)));
    rows.push(("option", record.option_id.clone()));
    rows.extend(record.ranking_receipt.iter().map(|receipt| ("ranking", receipt.clone())));
    rows.extend(record.ledger_receipt.iter().map(|receipt| ("entry", receipt.clone())));
    let findings = match record.findings.as_slice() {
        [] => "nothing was found".to_owned(),
        findings => table(["finding", "severity", "code", "why"], &findings.iter().map(finding).collect::<Vec<_>>()),
    };
    join(vec![pairs(&rows), history(&record.body), findings])
}

fn finding(Finding { number, severity, violation, .. }: &Finding) -> [String; 4] {
    [number.to_string(), severity.as_str().to_owned(), violation.code.clone(), violation.message.clone()]
}

/// An order for its partner.
pub(crate) fn at_partner(order: &PartnerOrder) -> String {
    let PartnerOrder { body, expected, ledger_receipt } = order;
    let mut rows = head(body, expected.quoted_inr);
    rows.extend(ledger_receipt.iter().map(|receipt| ("entry", receipt.clone())));
    if body.report.is_none() {
        let charged = |status: &String| {
            let charged = expected.charged_statuses.contains(status);
            if charged { format!("{status} (charged)") } else { status.clone() }
        };
        rows.push(("report it as", expected.statuses.iter().map(charged).collect::<Vec<_>>().join(", ")));
    }
    join(vec![pairs(&rows), kept(body), history(body)])
}

/// What everybody is told first.
fn head(body: &OrderBody, quoted_inr: Option<Paise>) -> Vec<(&'static str, String)> {
    let OrderBody { order, partner_name, meaning, milestones, report, .. } = body;
    let partner = partner_name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let meaning = meaning.as_ref().map(|meaning| format!(": {meaning}")).unwrap_or_default();
    let mut rows = vec![
        ("order", order.id.clone()),
        ("intent", order.intent.clone()),
        ("partner", format!("{}{partner}", order.partner)),
        ("state", format!("{}{meaning}", state(order))),
        ("opened", order.opened_at.clone()),
        ("changed", order.changed_at.clone()),
        ("search", order.search_request_id.clone()),
        ("request", order.request_id.clone()),
    ];
    if !order.identifiers.is_empty() {
        rows.push(("known as", order.identifiers.join(", ")));
    }
    if !milestones.is_empty() {
        rows.push(("the user is", milestones.iter().map(name).collect::<Vec<_>>().join(", ")));
    }
    rows.extend(quoted_inr.map(|quoted| ("quoted", format!("{quoted} INR"))));
    rows.extend(
        report.iter().map(|OrderReport { at, external_id, status }| {
            ("reported", format!("{status}, as {external_id}, at {at}"))
        }),
    );
    rows
}

/// What the order keeps, one value a line; nothing where it keeps nothing.
fn kept(OrderBody { kept, .. }: &OrderBody) -> String {
    let rows: Vec<[String; 2]> = kept.iter().map(|(name, value)| [name.clone(), value.to_string()]).collect();
    if rows.is_empty() { String::new() } else { table(["kept", "value"], &rows) }
}

fn history(OrderBody { history, .. }: &OrderBody) -> String {
    let row = |event: &OrderHistoryEvent| {
        let OrderHistoryEvent { at, what, tool, request_id, state, code } = event;
        let detail = [state, code, request_id].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        [at.clone(), name(what), tool.clone().unwrap_or_else(|| "-".to_owned()), detail]
    };
    table(["when", "what", "tool", "to what end"], &history.iter().map(row).collect::<Vec<_>>())
}

fn join(sections: Vec<String>) -> String {
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn order(more: &Value) -> Value {
        let mut order = json!({
            "id": "ord_1", "intent": "auto.fix", "partner": "coolcar", "state": "booked", "is_open": true, "in_doubt": false,
            "opened_at": "2026-01-01T00:00:00Z", "changed_at": "2026-01-02T00:00:00Z", "request_id": "booking-1",
            "search_request_id": "search-1", "identifiers": ["BK\u{1b}1"],
            "partner_name": "CoolCar", "meaning": "It is booked.", "milestones": ["confirmed"],
            "kept": {"start": "soon"}, "report": null,
            "history": [{"at": "2026-01-01T00:00:00Z", "what": "called", "tool": "book", "request_id": "booking-1"}],
            "ranking_receipt": "rank_1", "option": {"secret": "Asha"}, "quoted_inr": 1499.5,
        });
        for (name, value) in more.as_object().expect("an object") {
            order[name] = value.clone();
        }
        order
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    fn assert_tells(text: &str, expected: &[&str]) {
        let lines = lines(text);
        for line in expected {
            assert!(lines.iter().any(|told| told == line), "{line}: {text}");
        }
    }

    #[test]
    fn a_list_has_a_line_for_each_order() {
        let doubtful = order(&json!({"state": "pending", "in_doubt": true, "identifiers": []}));
        let over = order(&json!({"state": "completed", "is_open": false}));
        let page = json!({"orders": [order(&json!({})), doubtful, over], "next": "ord_0"});
        let text = list(&serde_json::from_value(page).expect("a page"));
        assert_tells(
            &text,
            &[
                "ord_1 2026-01-01T00:00:00Z auto.fix coolcar booked BK\\u{1b}1",
                "ord_1 2026-01-01T00:00:00Z auto.fix coolcar pending (in doubt) request booking-1",
                "ord_1 2026-01-01T00:00:00Z auto.fix coolcar completed (over) BK\\u{1b}1",
                "more: --before ord_0",
            ],
        );
        let none = |next: Value| list(&serde_json::from_value(json!({"orders": [], "next": next})).expect("a page"));
        assert_eq!((none(json!(null)), none(json!("ord_0"))), ("no such order".into(), "more: --before ord_0".into()));
    }

    #[test]
    fn an_orchestrator_is_told_what_comes_next() {
        let tool = json!({"tool": "cancel", "role": "cancel", "purpose": "Cancels.", "until": "2026-01-03T00:00:00Z",
            "idempotency_key": null, "request_schema": {}});
        let detailed = order(&json!({"next": {"reference": "bkg_x", "tools": [tool]}}));
        let text = detail(&serde_json::from_str(&detailed.to_string()).expect("an order"));
        assert_tells(
            &text,
            &[
                "partner coolcar (CoolCar)",
                "state booked: It is booked.",
                "the user is confirmed",
                "quoted 1499.50 INR",
                "start \"soon\"",
                "2026-01-01T00:00:00Z called book booking-1",
                "cancel cancel 2026-01-03T00:00:00Z Cancels.",
                "reference bkg_x",
            ],
        );
        let nothing = order(&json!({"next": {"reference": "bkg_x", "tools": []}}));
        let text = detail(&serde_json::from_str(&nothing.to_string()).expect("an order"));
        assert_tells(&text, &["no tool has its turn"]);
    }

    #[test]
    fn the_team_is_told_of_findings_and_not_of_what_was_said() {
        let found = json!({"number": 7, "at_ms": 0, "partner": "coolcar", "intent": "auto.fix", "request_id": "r", "source": null,
            "option": null, "option_id": null, "external_id": "BK-1", "severity": "note", "excerpt": null,
            "violation": {"pointer": "", "code": "LATE", "message": "It was late."}});
        let report = json!({"at": "2026-01-04T00:00:00Z", "external_id": "BK-1", "status": "completed"});
        let recorded = order(&json!({"contract": "ab".repeat(32), "contract_version": null, "option_id": "slot-1",
            "ledger_receipt": "rcpt_1", "findings": [found], "report": report}));
        let text = record(&serde_json::from_str(&recorded.to_string()).expect("an order"));
        assert_tells(
            &text,
            &["entry rcpt_1", "reported completed, as BK-1, at 2026-01-04T00:00:00Z", "7 note LATE It was late."],
        );
        assert!(!text.contains("Asha") && !text.contains("soon"), "{text}");
    }

    #[test]
    fn a_partner_is_told_what_to_report() {
        let expected =
            json!({"statuses": ["completed", "no_show"], "charged_statuses": ["completed"], "quoted_inr": null});
        let own = order(&json!({"expected": expected, "ledger_receipt": null}));
        let text = at_partner(&serde_json::from_str(&own.to_string()).expect("an order"));
        assert_tells(&text, &["report it as completed (charged), no_show", "start \"soon\""]);
    }

    #[test]
    fn changes_end_with_what_to_go_on_with() {
        let change = json!({"order": "ord_1", "intent": "auto.fix", "state": "completed", "is_open": false, "in_doubt": false,
            "changed_at": "2026-01-02T00:00:00Z", "request_id": "booking-1", "search_request_id": "search-1"});
        let told = |events: Value, more: bool| {
            changes(&serde_json::from_value(json!({"events": events, "next": "c-1", "more": more})).expect("changes"))
        };
        assert_tells(
            &told(json!([change]), true),
            &["2026-01-02T00:00:00Z ord_1 auto.fix completed (over) booking-1", "more: --after c-1"],
        );
        assert_eq!(told(json!([]), false), "nothing has changed\nfrom here on: --after c-1");
    }
}
