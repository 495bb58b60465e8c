//! What is reported against what was quoted, for each intent that ships, and which version of a contract judges.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Kept, NO_SMTP, Reporter, ac_report, finding, key_of, receipt, sample, with};
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, built, safety_first_contract};
use crate::onboarding::settings;
use crate::scripted::{Behaviour, Scripted};

/// A finding: nothing is known of what was quoted.
const NOT_ROUTED: &str = "REQUEST_NOT_ROUTED";

/// A finding: nothing was booked here through the gateway.
const NOT_SEEN: (&str, &str) = ("/external_id", "ORDER_NOT_SEEN");

/// An intent with its samples, and the partner that serves it.
struct Subject {
    partner: &'static str,
    intent: &'static str,
    package: &'static str,
    options_key: &'static str,
    option: &'static str,
    report: &'static str,
}

const AC: Subject = Subject {
    partner: "garage",
    intent: "auto.book_ac_service",
    package: "auto-book-ac-service",
    options_key: "slots",
    option: "slot.json",
    report: "completion-report.json",
};
const INSURANCE: Subject = Subject {
    partner: "insurer",
    intent: "finance.buy_motor_insurance",
    package: "finance-buy-motor-insurance",
    options_key: "quotes",
    option: "quote.json",
    report: "report.json",
};
const YOGA: Subject = Subject {
    partner: "studio",
    intent: "lifestyle.book_yoga_class",
    package: "lifestyle-book-yoga-class",
    options_key: "options",
    option: "option.json",
    report: "report.json",
};

impl Subject {
    /// A server that quotes the sample's option and no other.
    async fn serve(&self) -> (Scripted, PartnerEntry) {
        let payload = json!({
            "result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z",
            self.options_key: [sample(self.package, self.option)],
        });
        let server = Scripted::start(Behaviour::Payload(payload)).await;
        let entry = PartnerEntry {
            intents: vec![self.intent.to_owned()],
            signing_key: Some(key_of(self.partner)),
            ..server.entry(self.partner)
        };
        (server, entry)
    }

    /// Searches, which shows the option, and waits until the ranking is kept.
    async fn quote(&self, gateway: &Gateway, kept: &Kept, request_id: &str) {
        let request = with(sample(self.package, "request.json"), &[("request_id", json!(request_id))]);
        let found = gateway.post(&format!("/api/v1/intents/{}/search", self.intent), &request).await;
        assert_eq!(found.body["options"].as_array().map(Vec::len), Some(1), "{}", found.body);
        kept.ranked(request_id).await;
    }

    /// The sample's report of an order.
    fn report(&self, order: &str, request_id: &str, changes: &[(&str, Value)]) -> Value {
        let closed_at = &ac_report(order, request_id)["closed_at"];
        let common =
            [("external_id", json!(order)), ("request_id", json!(request_id)), ("closed_at", closed_at.clone())];
        with(with(sample(self.package, self.report), &common), changes)
    }

    fn reporter(&self, gateway: &Gateway) -> Reporter {
        Reporter::new(&gateway.server.url, self.partner, &key_of(self.partner))
    }
}

/// What is reported otherwise than quoted, and what is found.
type Mismatch = (&'static Subject, &'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

/// Values are JSON texts. The first of each intent reports what was quoted.
const MISMATCHES: [Mismatch; 21] = [
    (&AC, &[], &[]),
    (&AC, &[("service_scope_performed", "\"full_overhaul\"")], &[("/service_scope_performed", "SCOPE_MISMATCH")]),
    // 800 INR labour, 2900 before tax, 3422 in all, locked within 10 %.
    (&AC, &[("amount_inr", "798.99")], &[("/amount_inr", "AMOUNT_BELOW_QUOTE")]),
    (&AC, &[("amount_inr", "3191.01")], &[("/amount_inr", "AMOUNT_ABOVE_QUOTE")]),
    (&AC, &[("pass_through_inr", "1791.71")], &[("/amount_inr", "PRICE_LOCK_EXCEEDED")]),
    (&INSURANCE, &[], &[]),
    (&INSURANCE, &[("amount_inr", "14014")], &[("/amount_inr", "PREMIUM_AS_AMOUNT")]),
    (
        &INSURANCE,
        &[("pass_through_inr", "1")],
        &[
            // The amount, a commission, is more than the one rupee that was passed through.
            ("/amount_inr", "PREMIUM_AS_AMOUNT"),
            ("/pass_through_inr", "PASS_THROUGH_MISMATCH"),
        ],
    ),
    (&INSURANCE, &[("pass_through_inr", "0")], &[("/pass_through_inr", "PASS_THROUGH_MISMATCH")]),
    (&INSURANCE, &[("insurer_id", "\"ins_other\"")], &[("/insurer_id", "INSURER_MISMATCH")]),
    (&INSURANCE, &[("product_uin", "\"EX-OTHER\"")], &[("/product_uin", "PRODUCT_MISMATCH")]),
    (&INSURANCE, &[("policy_type", "\"third_party_only\"")], &[("/policy_type", "POLICY_TYPE_MISMATCH")]),
    (&INSURANCE, &[("long_term_tp_years", "3")], &[("/long_term_tp_years", "LONG_TERM_TP_MISMATCH")]),
    (&INSURANCE, &[("addons_count", "3")], &[("/addons_count", "ADDONS_MISMATCH")]),
    (&YOGA, &[], &[]),
    (&YOGA, &[("amount_inr", "508.46")], &[("/amount_inr", "AMOUNT_MISMATCH")]),
    (&YOGA, &[("class_id", "\"class_other\"")], &[("/class_id", "CLASS_MISMATCH")]),
    (&YOGA, &[("yoga_studio_id", "\"studio_other\"")], &[("/yoga_studio_id", "STUDIO_MISMATCH")]),
    (&YOGA, &[("instructor_id", "\"inst_other\"")], &[("/instructor_id", "INSTRUCTOR_MISMATCH")]),
    (&YOGA, &[("status", "\"no_show\""), ("class_id", "\"class_other\"")], &[("/class_id", "CLASS_MISMATCH")]),
    (
        &YOGA,
        &[("class_id", "\"x\""), ("instructor_id", "\"x\"")],
        &[("/class_id", "CLASS_MISMATCH"), ("/instructor_id", "INSTRUCTOR_MISMATCH")],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_reported_is_compared_with_what_was_quoted() {
    let subjects = [&AC, &INSURANCE, &YOGA];
    let (mut servers, mut partners, mut contracts) = (Vec::new(), Vec::new(), Vec::new());
    for subject in subjects {
        let (server, entry) = subject.serve().await;
        servers.push(server);
        partners.push(entry);
        contracts.push(built(&format!("contracts/{}.wasm", subject.package)));
    }
    let gateway = Gateway::start(&GatewayOptions { partners, contracts, ..GatewayOptions::default() });
    let kept = Kept::of(gateway.folder.path(), None).await;
    for subject in subjects {
        subject.quote(&gateway, &kept, &format!("quoted-{}", subject.partner)).await;
    }

    for (number, (subject, changes, expected)) in MISMATCHES.into_iter().enumerate() {
        let order = format!("order-{number}");
        let changes: Vec<_> =
            changes.iter().map(|(member, value)| (*member, serde_json::from_str(value).expect("JSON"))).collect();
        let report = subject.report(&order, &format!("quoted-{}", subject.partner), &changes);
        let answer = subject.reporter(&gateway).report(&report).await;
        // It is accepted and booked, whatever was found.
        assert_eq!((answer.status, &answer.body["external_id"]), (200, &json!(order)), "{changes:?}: {}", answer.body);
        let expected = expected.iter().chain([&NOT_SEEN]);
        let expected: BTreeSet<_> = expected.map(|(pointer, code)| finding(pointer, code)).collect();
        assert_eq!(kept.found(subject.partner, &order).await, expected, "{changes:?}");

        let shown = gateway.admin_get(&format!("/partners/{}/findings", subject.partner)).await;
        let shown = shown["findings"].as_array().expect("a list").iter();
        let of_order = shown.filter(|finding| finding["external_id"] == json!(order));
        assert_eq!(of_order.count(), expected.len(), "{changes:?}");
    }
    assert_eq!(kept.sound().await.len(), MISMATCHES.len());
}

/// Who judged each order: version, and whether it stood in for another one.
async fn judges(kept: &Kept) -> Vec<(String, String, bool)> {
    let judge = |posting: intent_gateway_ledger::Posting| {
        (posting.external_id, posting.judged_by.version.to_string(), posting.judged_by.stand_in)
    };
    kept.sound().await.into_iter().map(|entry| judge(entry.posting)).collect()
}

fn judged(order: &str, version: &str, stand_in: bool) -> (String, String, bool) {
    (order.to_owned(), version.to_owned(), stand_in)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_that_ranked_judges_wherever_the_report_comes() {
    let disk = tempfile::tempdir().expect("a temporary folder");
    let url = format!("sqlite://{}", disk.path().join("gateway.db").display());
    let (_server, entry) = AC.serve().await;
    let options = |contract| GatewayOptions {
        partners: vec![entry.clone()],
        contracts: vec![contract],
        extra: settings(Some(&url), NO_SMTP),
        ..GatewayOptions::default()
    };
    let gateway = Gateway::start(&options(ac_contract()));
    let kept = Kept::of(disk.path(), Some(&url)).await;
    let partner = AC.reporter(&gateway);

    // A newer contract goes live between the search and the report.
    AC.quote(&gateway, &kept, "before").await;
    let uploaded = gateway.upload(&std::fs::read(safety_first_contract()).expect("readable")).await;
    assert_eq!(uploaded.body["version"], "1.0.1", "{}", uploaded.body);
    AC.quote(&gateway, &kept, "after").await;
    for (order, request_id) in [("first", "before"), ("second", "after"), ("third", "never")] {
        receipt(&partner.report(&AC.report(order, request_id, &[])).await);
    }
    let mut expected = vec![judged("first", "1.0.0", false), judged("second", "1.0.1", false)];
    expected.push(judged("third", "1.0.1", true));
    assert_eq!(judges(&kept).await, expected);
    let not_seen = finding(NOT_SEEN.0, NOT_SEEN.1);
    assert_eq!(kept.found(AC.partner, "first").await, BTreeSet::from([not_seen.clone()]));
    let expected_of_third = BTreeSet::from([finding("/request_id", NOT_ROUTED), not_seen.clone()]);
    assert_eq!(kept.found(AC.partner, "third").await, expected_of_third);

    // At a gateway that never loaded the older one, by the quote that is kept.
    assert!(gateway.server.stop(), "a clean stop");
    let gateway = Gateway::start(&options(safety_first_contract()));
    let partner = AC.reporter(&gateway);
    let performed = [("service_scope_performed", json!("full_overhaul"))];
    receipt(&partner.report(&AC.report("fourth", "before", &performed)).await);
    receipt(&partner.report(&AC.report("fifth", "after", &[])).await);
    expected.extend([judged("fourth", "1.0.0", false), judged("fifth", "1.0.1", false)]);
    assert_eq!(judges(&kept).await, expected);
    let mismatch = finding("/service_scope_performed", "SCOPE_MISMATCH");
    assert_eq!(kept.found(AC.partner, "fourth").await, BTreeSet::from([mismatch, not_seen]));
}
