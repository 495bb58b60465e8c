//! The check of everything that a store holds: what is as it was kept is sound, and each kind of damage is found, in the part that it
//! was done to.

use std::sync::Arc;

use intent_gateway_check::{CheckOrder, check_all, is_sound};
use intent_gateway_domain::anchor::{Anchor, ChainName, Head};
use intent_gateway_domain::approval::{Approval, Person};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::check::CheckedPart;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::faults::{CallRef, FaultNote};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{FaultLog as _, Journal as _};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{EventSending, SigningKey, Webhook, webhook_context};
use intent_gateway_domain::store::{Change, Document, Kind, OutgoingMail, Store as _, Versioned, Write};
use intent_gateway_domain::vault::Sealed;
use intent_gateway_ledger::{Booked, Books as _};
use intent_gateway_onboarding::mail_context;
use intent_gateway_onboarding::records::Account;
use intent_gateway_store::{FaultJournal, Journal, SqlStore};
use intent_gateway_testing::clock::TestClock;
use serde_json::json;

use crate::evidence::{NOW, finding, receipt};
use crate::ledger::{charge, kept_order};
use crate::support::{Database, entry, on_both_engines, record, vault};

on_both_engines!(
    what_is_as_it_was_kept_is_sound,
    each_damage_is_found,
    what_was_cut_off_is_found_by_its_anchor,
    without_a_key_what_is_sealed_is_not_looked_at,
);

const ID: &str = "ins_00112233445566778899aabbccddeeff";
const DOCUMENT: &[u8] = b"%PDF-1.7 a licence";

/// Something of every kind that a check opens or compares.
async fn fill(database: &Database) -> Arc<SqlStore> {
    let store = database.open_shared().await;
    let (account, vault) = (PartnerId::parse("ptr_1").expect("sound"), vault());
    let sealed = |context: &str, text: &str| vault.seal(context, &Secret::new(text)).expect("entropy");
    let mut change = Change { audit: vec![entry("ptr_1"), entry("ptr_1")], ..Change::default() };
    let email = "asha@coolcar.example".to_owned();
    change.put(&Versioned::new(Account::new(account.clone(), email, "CoolCar".to_owned(), NOW)));
    let key = SigningKey {
        id: "one".to_owned(),
        sealed: sealed(&webhook_context(&account), "whsec"),
        not_before_ms: NOW,
        not_after_ms: None,
    };
    let url = "https://coolcar.example/hook".to_owned();
    change.put(&Versioned::new(Webhook {
        account: account.clone(),
        url,
        keys: vec![key],
        events: EventSending::default(),
    }));
    let mut approval = Approval {
        id: "apr_1".to_owned(),
        asked_at_ms: NOW,
        by: Actor::new("admin", "asha"),
        person: Person { issuer: None, subject: "asha".to_owned() },
        what: "suspend".to_owned(),
        scope: "review".to_owned(),
        method: "POST".to_owned(),
        path: "/x".to_owned(),
        sealed: Sealed::from_text(String::new()),
    };
    approval.sealed = sealed(&approval.context(), "{}");
    change.put(&Versioned::new(approval));
    let digest = Digest::of(DOCUMENT);
    let listed = json!({
        "id": "doc_1", "kind": "tax_registration", "file_name": "a.pdf", "media_type": "application/pdf",
        "size_bytes": DOCUMENT.len(), "digest": digest, "uploaded_at_ms": NOW,
        "uploaded_by": {"role": "partner", "subject": "ptr_1"},
    });
    let content = vault.seal_bytes(&format!("document/ptr_1/doc_1/{digest}"), DOCUMENT).expect("entropy").into_text();
    let lists = Document { body: json!({"account": "ptr_1", "documents": [listed]}).to_string(), ..record("ptr_1") };
    let contents = Document { body: json!({"id": "doc_1", "sealed": content}).to_string(), ..record("doc_1") };
    change.writes.push(Write::Put(Kind::Documents, lists));
    change.writes.push(Write::Put(Kind::DocumentContents, contents));
    change.writes.extend(contract());
    let mail = sealed(&mail_context("mail_1"), "{}").into_text();
    change.mail.push(OutgoingMail { id: "mail_1".to_owned(), sealed: mail, not_before: NOW });
    store.commit(change).await.expect("kept");

    let order = kept_order(&store, &["BK-1"]).await;
    kept_order(&store, &["BK-2"]).await;
    let booked = store.book(vec![charge("BK-1", 100).closing(order.id), charge("BK-9", 200)]).await.expect("booked");
    assert!(matches!(booked[..], [Booked::First(_), Booked::First(_)]), "{booked:?}");

    let journal = Journal::open(store.clone(), vault.clone());
    journal.record(finding("ptr_1", "BK-1"));
    journal.keep(receipt("rank_1", NOW), None);
    journal.close().await;
    let faults = FaultJournal::open(store.clone(), vault.clone(), TestClock::at(NOW.as_ms()));
    let (intent, version) = (IntentId::parse("auto.fix").expect("sound"), "1.0.0".parse().expect("a version"));
    let fault = intent_gateway_domain::error::ContractFault::DeadlineExceeded(200);
    let call = CallRef::Classify("tea", "en-IN");
    faults.note(FaultNote { intent: &intent, version: &version, contract: Digest::of(b"x"), fault: &fault, call });
    faults.close().await;
    let draft = entry(ID);
    store.begin_installation(None, ID.parse().expect("an identity"), draft).await.expect("begun");
    store
}

/// A contract of one version, as the catalogue keeps it: `component` in base64.
fn contract() -> [Write; 3] {
    let digest = Digest::of(b"component");
    let version = json!({
        "digest": digest, "version": "1.0.0", "component_bytes": 9, "aliases": [], "origin": {"kind": "kept"},
        "loaded_at_ms": NOW, "loaded_by": {"role": "admin", "subject": "asha"}, "history": [],
    });
    let entry = json!({"intent": "auto.fix", "live": digest, "previous": [], "versions": [version]});
    let name = json!({"name": "auto.fix", "intent": "auto.fix", "version": "1.0.0"});
    let part = json!({"digest": digest, "number": 0, "of": 1, "bytes": "Y29tcG9uZW50"});
    let document = |key: &str, body: serde_json::Value| Document { body: body.to_string(), ..record(key) };
    let entry = Document { feed: Some("contracts".to_owned()), ..document("auto.fix", entry) };
    [
        Write::Put(Kind::Contracts, entry),
        Write::Put(Kind::ContractNames, document("auto.fix", name)),
        Write::Put(Kind::ComponentParts, document(&format!("{digest}/000"), part)),
    ]
}

/// What is wrong: part and code.
async fn problems(store: &SqlStore, anchors: &[Anchor]) -> Vec<(&'static str, &'static str)> {
    let of =
        |chain: ChainName| -> Vec<Anchor> { anchors.iter().filter(|anchor| anchor.chain == chain).copied().collect() };
    let (vault, audit, ledger) = (vault(), of(ChainName::Audit), of(ChainName::Ledger));
    let order = CheckOrder { vault: Some(&vault), audit: &audit, ledger: &ledger, receipts: None };
    let parts = check_all(store, order, &|_, _| {}).await.expect("the store answers");
    let of_part =
        |part: &CheckedPart| part.problems.iter().map(|problem| (part.name, problem.code)).collect::<Vec<_>>();
    parts.iter().flat_map(of_part).collect()
}

async fn what_is_as_it_was_kept_is_sound(database: Database) {
    let store = fill(&database).await;
    let vault = vault();
    let order = CheckOrder { vault: Some(&vault), audit: &[], ledger: &[], receipts: None };
    let parts = check_all(&store, order, &|_, _| {}).await.expect("the store answers");
    assert!(is_sound(&parts), "{parts:#?}");
    let seen = |name: &str| parts.iter().find(|part| part.name == name).map(|part| part.seen);
    for (name, expected) in [
        ("audit_log", 3),
        ("ledger", 2),
        ("accounts", 1),
        ("webhooks", 1),
        ("approvals", 1),
        ("documents", 1),
        ("document_contents", 1),
        ("contracts", 1),
        ("contract_names", 1),
        ("component_parts", 1),
        ("contract_states", 0),
        ("contract_revocations", 0),
        ("rollout_evidence", 0),
        ("web_sessions", 0),
        ("partner_events", 0),
        ("queued_events", 0),
        ("notices", 0),
        ("orders", 2),
        ("ordered_options", 2),
        ("reported_orders", 1),
        ("mail", 1),
        ("findings", 1),
        ("receipts", 1),
        ("contract_faults", 1),
    ] {
        assert_eq!(seen(name), Some(expected), "{name}");
    }
}

/// What is done to a store by whoever owns the database, and in which parts it shows under which codes.
type Damage = (&'static str, &'static [(&'static str, &'static str)]);

const DAMAGES: [Damage; 33] = [
    ("UPDATE audit_log SET action = 'x' WHERE seq = 1", &[("audit_log", "NOT_AS_WRITTEN")]),
    ("DELETE FROM audit_log", &[("audit_log", "NOT_AS_WRITTEN")]),
    ("UPDATE ledger SET amount = amount + 1 WHERE number = 1", &[("ledger", "ENTRY_CHANGED")]),
    ("DELETE FROM ledger", &[("ledger", "LEDGER_EMPTIED"), ("reported_orders", "ENTRY_OF_ORDER_MISSING")]),
    ("UPDATE accounts SET lookup = 'mallory@evil.example'", &[("accounts", "COLUMN_DIFFERS")]),
    ("UPDATE accounts SET status = 'x'", &[("accounts", "COLUMN_DIFFERS")]),
    ("UPDATE accounts SET body = '{}'", &[("accounts", "RECORD_UNREADABLE")]),
    ("UPDATE accounts SET key = 'ptr_2'", &[("accounts", "COLUMN_DIFFERS"), ("references", "ACCOUNT_MISSING")]),
    ("UPDATE orders SET status = 'closed' WHERE status = 'open'", &[("orders", "COLUMN_DIFFERS")]),
    (
        "DELETE FROM record_names WHERE name LIKE 'asker/%' AND key = (SELECT MIN(key) FROM orders)",
        &[("orders", "NAME_MISSING")],
    ),
    ("UPDATE record_changes SET feed = 'x' WHERE kind = 'orders'", &[("orders", "FEED_DIFFERS")]),
    (
        "INSERT INTO record_names (kind, name, key) VALUES ('orders', 'partner/ptr_1', 'ord_0')",
        &[("references", "NAME_WITHOUT_RECORD")],
    ),
    (
        "INSERT INTO record_changes (kind, key, feed, number) VALUES ('orders', 'ord_0', 'x', 1)",
        &[("references", "FEED_WITHOUT_RECORD")],
    ),
    ("DELETE FROM ordered_options WHERE key = (SELECT MIN(key) FROM orders)", &[("references", "OPTION_MISSING")]),
    (
        "INSERT INTO ordered_options (key, revision, body) SELECT 'ord_0', 1, body FROM ordered_options LIMIT 1",
        &[("ordered_options", "COLUMN_DIFFERS"), ("references", "ORDER_MISSING")],
    ),
    ("UPDATE webhooks SET body = REPLACE(body, '.', '.AAAA')", &[("webhooks", "SEALED_UNREADABLE")]),
    ("UPDATE approvals SET body = REPLACE(body, 'suspend', 'approve')", &[("approvals", "SEALED_UNREADABLE")]),
    ("DELETE FROM document_contents", &[("document_contents", "DOCUMENT_MISSING")]),
    (
        "UPDATE documents SET body = REPLACE(body, 'doc_1', 'doc_2')",
        &[("document_contents", "DOCUMENT_MISSING"), ("document_contents", "DOCUMENT_UNLISTED")],
    ),
    ("DELETE FROM component_parts", &[("component_parts", "COMPONENT_MISSING")]),
    ("UPDATE component_parts SET body = REPLACE(body, 'Y29t', 'Y29u')", &[("component_parts", "COMPONENT_DAMAGED")]),
    ("UPDATE contracts SET body = REPLACE(body, '1.0.0', 'x')", &[("contracts", "RECORD_UNREADABLE")]),
    ("UPDATE contract_names SET key = 'auto.mend'", &[("contract_names", "COLUMN_DIFFERS")]),
    ("UPDATE mail SET id = 'mail_2'", &[("mail", "SEALED_UNREADABLE")]),
    ("UPDATE findings SET severity = 'x'", &[("findings", "ROW_UNREADABLE")]),
    ("-- receipts\nUPDATE receipts SET intent = 'home.fix'", &[("receipts", "COLUMN_DIFFERS")]),
    ("-- receipts\nUPDATE receipts SET version = 'x'", &[("receipts", "ROW_UNREADABLE")]),
    ("-- receipts\nDELETE FROM receipts", &[("receipts", "RECEIPT_MISSING")]),
    ("UPDATE contract_faults SET contract = 'x'", &[("contract_faults", "ROW_UNREADABLE")]),
    ("UPDATE contract_faults SET at_ms = at_ms + 1", &[("contract_faults", "SEALED_UNREADABLE")]),
    ("DELETE FROM counters WHERE name = 'receipts'", &[("counters", "COUNTER_MISSING")]),
    ("UPDATE counters SET value = 0 WHERE name = 'record_changes'", &[("counters", "COUNTER_BEHIND")]),
    ("DELETE FROM chain_starts WHERE chain = 'ledger'", &[("ledger", "START_MISSING")]),
];

/// How damage to receipts begins, which lie in segments.
const OF_RECEIPTS: &str = "-- receipts\n";

/// Each is done to a store of its own, and shows where it was done and nowhere else.
async fn each_damage_is_found(database: Database) {
    for (damage, expected) in DAMAGES {
        let database = database.another();
        drop(fill(&database).await);
        // The triggers that keep both chains are no obstacle for the owner.
        let free = match database.file() {
            Some(_) => {
                "DROP TRIGGER audit_log_keeps; DROP TRIGGER audit_log_stays; DROP TRIGGER ledger_keeps; \
                 DROP TRIGGER ledger_stays;"
            }
            None => "ALTER TABLE audit_log DISABLE TRIGGER ALL; ALTER TABLE ledger DISABLE TRIGGER ALL;",
        };
        database.run(free).await.expect("they go");
        let done = match damage.strip_prefix(OF_RECEIPTS) {
            Some(damage) => database.run_on_receipts(damage).await,
            None => database.run(damage).await,
        };
        done.unwrap_or_else(|error| panic!("{damage}: {error}"));
        let found = problems(&database.open().await, &[]).await;
        for problem in expected {
            assert!(found.contains(problem), "{damage}: {problem:?} is not in {found:?}");
        }
        let elsewhere = |(part, _): &&(&str, &str)| !expected.iter().any(|(expected, _)| expected == part);
        assert_eq!(found.iter().find(elsewhere), None, "{damage}");
    }
}

/// What was cut off at the end, no link shows; what was anchored does.
async fn what_was_cut_off_is_found_by_its_anchor(database: Database) {
    let store = fill(&database).await;
    let keys = vault().chain_keys("anchors");
    let anchor = |chain, head: (u64, Digest)| {
        Anchor::new(&keys, chain, Timestamp::from_ms(7), Head { number: head.0, hash: head.1, owed: None })
    };
    let audit = anchor(ChainName::Audit, store.verify_audit().await.expect("sound"));
    let ledger = anchor(ChainName::Ledger, store.verify_ledger().await.expect("read").head);
    assert_eq!(problems(&store, &[audit, ledger]).await, []);
    drop(store);
    let free = match database.file() {
        Some(_) => "DROP TRIGGER audit_log_stays; DROP TRIGGER ledger_stays;",
        None => "ALTER TABLE audit_log DISABLE TRIGGER ALL; ALTER TABLE ledger DISABLE TRIGGER ALL;",
    };
    database.run(free).await.expect("they go");
    database.run("DELETE FROM audit_log WHERE seq = 3; DELETE FROM ledger WHERE number = 2").await.expect("cut off");
    let store = database.open().await;
    assert_eq!(problems(&store, &[]).await, [], "nothing else shows it");
    let found = problems(&store, &[audit, ledger]).await;
    assert_eq!(found, [("audit_log", "NOT_AS_WRITTEN"), ("ledger", "ANCHOR_MISSING")]);
}

async fn without_a_key_what_is_sealed_is_not_looked_at(database: Database) {
    drop(fill(&database).await);
    let store = database.open_without_key().await;
    let order = CheckOrder { vault: None, audit: &[], ledger: &[], receipts: None };
    let parts = check_all(&store, order, &|_, _| {}).await.expect("the store answers");
    let unchecked: Vec<_> = parts.iter().filter(|part| part.unchecked > 0).map(|part| part.name).collect();
    let sealed = ["audit_log", "ledger", "webhooks", "document_contents", "approvals", "mail", "contract_faults"];
    assert_eq!(unchecked, sealed);
    assert!(parts.iter().all(|part| part.problems.is_empty()) && !is_sound(&parts), "{parts:#?}");
}
