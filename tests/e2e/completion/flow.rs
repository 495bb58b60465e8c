//! The whole way of an order on each store: a business signs up and goes live, a search shows its options, it reports how
//! the order ended, and the commission is in the ledger once.

use std::collections::BTreeSet;
use std::process::Command;

use intent_gateway_domain::money::Paise;
use serde_json::{Value, json};

use super::{Kept, Reporter, ac_report, acknowledgement, finding, receipt, refusal, with};
use crate::harness::{Gateway, built, request};
use crate::onboarding::{INTENT, Platform, stores};

/// What an AC service may be, by the vocabulary of the contract.
const SCOPES: [&str; 6] =
    ["basic_check", "refrigerant_topup", "leak_diagnosis", "compressor_service", "full_overhaul", "cabin_filter_only"];

#[tokio::test(flavor = "multi_thread")]
async fn from_a_search_to_the_ledger() {
    for (name, store) in stores() {
        eprintln!("on {name}");
        report_on(Platform::start(store.as_deref()), store.as_deref()).await;
    }
}

/// A report in another spelling: other order of members, other blanks, other escapes, other forms of numbers.
fn respelled(report: &Value) -> String {
    let members = report.as_object().expect("an object").iter().rev().map(|(name, value)| match value.as_f64() {
        Some(number) => format!("\t{} :\r\n {}e-3", json!(name), number * 1_000.0),
        None => format!("\t{} :\r\n {}", json!(name), value.to_string().replace('-', "\\u002d")),
    });
    format!("\n{{{}}} ", members.collect::<Vec<_>>().join(" ,"))
}

/// Whether a command of the gateway's ended with success, and what it printed.
fn command(gateway: &Gateway, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(built("debug/intent-gateway"));
    let output = command.args(arguments).arg("--config").arg(gateway.folder.path().join("gateway.toml")).output();
    let output = output.expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

async fn report_on(platform: Platform, store: Option<&str>) {
    let ready = platform.ready("ops@coolcar.example").await;
    let business = &ready.business;
    let webhook = format!("{}/webhook", business.path("credentials"));
    let hook = json!({"webhook_url": "https://coolcar.example/hook"});
    let saved = platform.put(&webhook, &business.token, hook).await;
    let key = saved.body["webhook_signing_key"].as_str().unwrap_or_else(|| panic!("no key: {}", saved.body));
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&business.id]).await;

    // What is quoted.
    let searched = with(request(), &[("request_id", json!("flow-1"))]);
    let shown = platform.gateway.found(&searched).await;
    let options = shown["options"].as_array().expect("a list");
    let offered: BTreeSet<&str> =
        options.iter().filter_map(|option| option["option"]["service_scope"]["code"].as_str()).collect();
    let best = options.first().unwrap_or_else(|| panic!("nothing is offered: {shown}"));
    let (scope, price) = (&best["option"]["service_scope"]["code"], &best["option"]["estimated_price"]);
    let labour_inr = price["labour_inr"].as_i64().expect("whole rupees");
    let kept = Kept::of(platform.gateway.folder.path(), store).await;
    kept.ranked("flow-1").await;

    // What is reported: once, again in other words, again with other content.
    let partner = Reporter::new(&platform.gateway.server.url, &business.id, key);
    let honest =
        [("service_scope_performed", scope), ("amount_inr", &price["labour_inr"]), ("gst_inr", &price["gst_inr"])];
    let report = with(ac_report("BK/1", "flow-1"), &honest.map(|(member, quoted)| (member, quoted.clone())));
    let first = partner.report(&report).await;
    let booked = receipt(&first).to_owned();
    assert!(booked.starts_with("rcpt_"), "{booked}");
    assert_eq!(first.body, acknowledgement(&booked, "BK/1", labour_inr as f64 / 10.0, "completed"));
    for again in [report.to_string(), respelled(&report)] {
        assert_eq!(partner.text(&again).await.body, first.body, "{again}");
    }
    let dearer = json!(labour_inr as f64 + 0.01);
    for other in [with(report.clone(), &[("amount_inr", dearer)]), with(report.clone(), &[("notes", json!("x"))])] {
        let refused = partner.report(&other).await;
        assert_eq!(refusal(&refused), (409, "IDEMPOTENCY_CONFLICT"));
        assert!(refused.body["error"]["message"].as_str().is_some_and(|message| message.contains(&booked)));
    }

    // Another order, at half a paisa of commission, of what nobody offered.
    let other = SCOPES.into_iter().find(|scope| !offered.contains(scope)).expect("not everything is offered");
    let changes = [("service_scope_performed", json!(other)), ("amount_inr", json!(10.05)), ("gst_inr", json!(0))];
    let second = partner.report(&with(ac_report("BK/2", "flow-1"), &changes)).await;
    assert_eq!(second.body, acknowledgement(receipt(&second), "BK/2", 1.01, "completed"));
    shown_to_the_team(&platform, &business.id).await;

    // A key that was ended at once is refused by the very next report, and the other one taken.
    let rotated = platform.post(&format!("{webhook}/rotate"), &business.token, json!({"at_once": true})).await;
    let new_key = rotated.body["webhook_signing_key"].as_str().unwrap_or_else(|| panic!("no key: {}", rotated.body));
    assert_eq!(refusal(&partner.report(&report).await), (401, "SIGNATURE_INVALID"));
    let partner = Reporter::new(&platform.gateway.server.url, &business.id, new_key);
    assert_eq!(partner.report(&report).await.body, first.body);

    // After a restart as before.
    let platform = platform.restart();
    let partner = Reporter::new(&platform.gateway.server.url, &business.id, new_key);
    assert_eq!(partner.report(&report).await.body, first.body);
    in_the_ledger(&kept, &business.id, &booked, labour_inr * 10).await;
    let (sound, printed) = command(&platform.gateway, &["ledger", "verify", "--json"]);
    assert!(sound, "{printed}");
}

/// The findings route has the mismatch of the second order, that neither was booked through the gateway, and nothing else of the
/// first but that other reports of it were refused.
async fn shown_to_the_team(platform: &Platform, partner: &str) {
    let shown = platform.gateway.admin_get(&format!("/partners/{partner}/findings")).await;
    let shown = shown["findings"].as_array().expect("a list");
    let is_booked = |finding: &&Value| finding["external_id"].is_string() && finding["severity"] != "drop";
    let (not_seen, of_reports): (Vec<_>, Vec<_>) =
        shown.iter().filter(is_booked).partition(|finding| finding["violation"]["code"] == "ORDER_NOT_SEEN");
    let not_seen: BTreeSet<_> = not_seen.iter().filter_map(|finding| finding["external_id"].as_str()).collect();
    assert_eq!(not_seen, BTreeSet::from(["BK/1", "BK/2"]), "nothing was booked through the gateway");
    assert_eq!(of_reports.len(), 1, "{of_reports:?}");
    assert_eq!(of_reports[0]["external_id"], "BK/2");
    assert_eq!(of_reports[0]["violation"]["code"], "SCOPE_MISMATCH");
    assert_eq!(of_reports[0]["severity"], "note");
    assert_eq!(of_reports[0]["request_id"], "flow-1");
}

/// Two orders, each charged once and judged by the version that ranked.
async fn in_the_ledger(kept: &Kept, partner: &str, first: &str, first_commission_paise: i64) {
    let entries = kept.sound().await;
    let orders: Vec<_> = entries.iter().map(|entry| entry.posting.external_id.as_str()).collect();
    assert_eq!(orders, ["BK/1", "BK/2"]);
    assert_eq!(entries[0].receipt_id(), first);
    let commissions = entries.iter().map(|entry| entry.posting.commission());
    assert_eq!(commissions.collect::<Vec<_>>(), [first_commission_paise, 101].map(|paise| Some(Paise::new(paise))));
    for posting in entries.iter().map(|entry| &entry.posting) {
        assert_eq!((posting.partner.as_str(), posting.intent.as_str()), (partner, INTENT));
        assert_eq!((posting.judged_by.version.to_string().as_str(), posting.judged_by.stand_in), ("1.0.0", false));
    }
    let not_seen = finding("/external_id", "ORDER_NOT_SEEN");
    assert_eq!(kept.found(partner, "BK/1").await, BTreeSet::from([not_seen.clone()]));
    let mismatch = finding("/service_scope_performed", "SCOPE_MISMATCH");
    assert_eq!(kept.found(partner, "BK/2").await, BTreeSet::from([mismatch, not_seen]));
}
