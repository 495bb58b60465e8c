//! What is stored is sealed anew under the current master key: in batches, beside whoever changes records, and again from the
//! beginning without harm.

use std::sync::Arc;

use intent_gateway_domain::approval::{Approval, Person};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::faults::{open_input, reseal_input, seal_input};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::Faults as _;
use intent_gateway_domain::reseal::{ResealStopped, Resealed, SealedRecord, reseal_all};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{EventSending, SigningKey, Webhook, webhook_context};
use intent_gateway_domain::store::{Change, OutgoingMail, Store, Versioned, load};
use intent_gateway_domain::vault::{OpenError, Sealed, Vault};
use intent_gateway_testing::entropy::{Counting, NoRandomness};

use crate::support::{Database, Place, on_both_engines, on_every_store};

on_both_engines!(mail_and_inputs_are_sealed_anew);
on_every_store!(
    what_waits_for_a_second_person_is_sealed_anew,
    all_is_sealed_anew_and_nothing_twice,
    what_cannot_be_opened_stays_and_is_told,
    a_stopped_run_goes_on
);

/// More than one batch.
const MANY: u32 = Webhook::BATCH + 5;

fn vault(current: &str, previous: &[&str]) -> Vault {
    let previous: Vec<Secret> = previous.iter().map(|key| Secret::new(key.repeat(32))).collect();
    Vault::new(&Secret::new(current.repeat(32)), &previous, Arc::new(Counting::default()))
}

fn account(number: u32) -> PartnerId {
    PartnerId::parse(&format!("ptr_{number:06}")).expect("an identifier")
}

/// Two keys each, as during a rotation of the partner's own.
async fn keep(store: &dyn Store, vault: &Vault, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let account = account(number);
        let key = |id: &str| SigningKey {
            id: id.to_owned(),
            sealed: vault.seal(&webhook_context(&account), &Secret::new(format!("{account} {id}"))).expect("entropy"),
            not_before_ms: Timestamp::from_ms(1),
            not_after_ms: None,
        };
        let keys = vec![key("one"), key("two")];
        let mut change = Change::default();
        change.put(&Versioned::new(Webhook {
            account: account.clone(),
            url: "https://a.example".to_owned(),
            keys,
            events: EventSending::default(),
        }));
        store.commit(change).await.expect("kept");
    }
}

/// The keys of an account, opened.
async fn opened(store: &dyn Store, vault: &Vault, number: u32) -> Result<Vec<String>, OpenError> {
    let kept = load::<Webhook>(store, account(number).as_str()).await.expect("read").expect("kept").value;
    let open = |key: &SigningKey| vault.open(&webhook_context(&kept.account), &key.sealed);
    kept.keys.iter().map(|key| open(key).map(|text| text.expose().to_owned())).collect()
}

async fn reseal(store: &dyn Store, vault: &Vault) -> Result<Resealed, ResealStopped> {
    reseal_all::<Webhook>(store, vault, &|_, _| {}).await
}

async fn all_is_sealed_anew_and_nothing_twice(place: impl Place) {
    let store = place.store().await;
    keep(&*store, &vault("a", &[]), 0..MANY).await;
    let rotated = vault("b", &["a"]);
    let told = std::sync::Mutex::new(Vec::new());
    let tell = |kind: &'static str, so_far: Resealed| told.lock().expect("whole").push((kind, so_far.seen));
    let done = reseal_all::<Webhook>(&*store, &rotated, &tell).await.expect("done");
    let many = u64::from(MANY);
    assert_eq!(done, Resealed { seen: many, resealed: many, unreadable: 0 });
    assert_eq!(*told.lock().expect("whole"), [("webhooks", many - 5), ("webhooks", many)], "after each batch");
    for number in [0, Webhook::BATCH, MANY - 1] {
        let account = account(number);
        let texts = [format!("{account} one"), format!("{account} two")];
        assert_eq!(
            opened(&*store, &vault("b", &[]), number).await,
            Ok(texts.to_vec()),
            "the former key is needed no more"
        );
        assert_eq!(opened(&*store, &vault("a", &[]), number).await, Err(OpenError::UnknownKey));
    }
    let again = reseal(&*store, &rotated).await.expect("done");
    assert_eq!(again, Resealed { seen: many, resealed: 0, unreadable: 0 });
}

async fn what_waits_for_a_second_person_is_sealed_anew(place: impl Place) {
    let store = place.store().await;
    let mut approval = Approval {
        id: "apr_1".to_owned(),
        asked_at_ms: Timestamp::from_ms(1),
        by: Actor::new("admin", "asha"),
        person: Person { issuer: None, subject: "asha".to_owned() },
        what: "erases a user".to_owned(),
        scope: "all".to_owned(),
        method: "DELETE".to_owned(),
        path: "/api/v1/user-data".to_owned(),
        sealed: Sealed::from_text(String::new()),
    };
    approval.sealed = vault("a", &[]).seal(&approval.context(), &Secret::new("the request")).expect("entropy");
    let mut change = Change::default();
    change.put(&Versioned::new(approval));
    store.commit(change).await.expect("kept");
    let done = reseal_all::<Approval>(&*store, &vault("b", &["a"]), &|_, _| {}).await.expect("done");
    assert_eq!(done, Resealed { seen: 1, resealed: 1, unreadable: 0 });
    let kept = load::<Approval>(&*store, "apr_1").await.expect("read").expect("kept").value;
    let opened = vault("b", &[]).open(&kept.context(), &kept.sealed).expect("the former key is needed no more");
    assert_eq!(opened.expose(), "the request");
}

async fn what_cannot_be_opened_stays_and_is_told(place: impl Place) {
    let store = place.store().await;
    keep(&*store, &vault("lost", &[]), 0..1).await;
    keep(&*store, &vault("a", &[]), 1..2).await;
    let done = reseal(&*store, &vault("b", &["a"])).await.expect("done");
    assert_eq!(done, Resealed { seen: 2, resealed: 1, unreadable: 1 });
    assert!(opened(&*store, &vault("lost", &[]), 0).await.is_ok(), "as it was");
    assert!(opened(&*store, &vault("b", &[]), 1).await.is_ok());
}

async fn a_stopped_run_goes_on(place: impl Place) {
    let store = place.store().await;
    keep(&*store, &vault("a", &[]), 0..3).await;
    let dry = Vault::new(&Secret::new("b".repeat(32)), &[Secret::new("a".repeat(32))], Arc::new(NoRandomness));
    assert!(matches!(reseal(&*store, &dry).await, Err(ResealStopped::NoEntropy(_))));
    // One is changed under the new key by a gateway meanwhile.
    let mut changed = load::<Webhook>(&*store, account(1).as_str()).await.expect("read").expect("kept");
    let newer = vault("b", &[]).seal(&webhook_context(&account(1)), &Secret::new("newer")).expect("entropy");
    changed.value.keys[0].sealed = newer;
    let mut change = Change::default();
    change.put(&changed);
    store.commit(change).await.expect("kept");
    assert_eq!(reseal(&*store, &vault("b", &["a"])).await.expect("done").resealed, 3);
    assert_eq!(opened(&*store, &vault("b", &[]), 1).await, Ok(vec!["newer".to_owned(), format!("{} two", account(1))]));
}

async fn mail_and_inputs_are_sealed_anew(database: Database) {
    let store = database.open().await;
    let (first, rotated, alone) = (vault("a", &[]), vault("b", &["a"]), vault("b", &[]));
    let context: fn(&str) -> String = |id| format!("letter/{id}");
    // More than one batch.
    let mail = (0..60).map(|number| {
        let id = format!("mail_{number:03}");
        let sealed = first.seal(&context(&id), &Secret::new(id.clone())).expect("entropy").into_text();
        OutgoingMail { id, sealed, not_before: Timestamp::from_ms(1) }
    });
    store.commit(Change { mail: mail.collect(), ..Change::default() }).await.expect("kept");
    let intent = IntentId::parse("auto.fix").expect("an intent");
    let (contract, at) = (Digest::of(b"contract"), Timestamp::from_ms(5));
    let input = seal_input(&first, &intent, contract, at, b"null").expect("entropy").into_text();
    for (number, input) in [(7, format!("'{input}'")), (8, "NULL".to_owned())] {
        let sql = format!(
            "INSERT INTO contract_faults (number, at_ms, last_at_ms, times, others, intent, version, contract, function, \
             code, fault, input_bytes, input) VALUES ({number}, 5, 5, 1, 0, 'auto.fix', '1.0.0', '{contract}', 'evaluate', \
             'TRAP', 'x', 4, {input})"
        );
        database.run(&sql).await.expect("inserted");
    }
    let done = store.reseal_mail(&rotated, context, &|_, _| {}).await.expect("done");
    assert_eq!(done, Resealed { seen: 60, resealed: 60, unreadable: 0 });
    let done = store.reseal_inputs(&rotated, &|_, _| {}).await.expect("done");
    assert_eq!(done, Resealed { seen: 1, resealed: 1, unreadable: 0 });
    for mail in store.claim_mail(Timestamp::from_ms(2), 1, 60).await.expect("claimed") {
        let opened = alone.open(&context(&mail.id), &Sealed::from_text(mail.sealed)).expect("under the new key");
        assert_eq!(opened.expose(), mail.id);
    }
    let (kept, input) = store.fault(7).await.expect("read").expect("kept");
    let input = input.expect("an input");
    assert!(matches!(open_input(&first, &kept, &input), Err(OpenError::UnknownKey)));
    assert_eq!(reseal_input(&alone, &intent, contract, at, &input), Ok(None));
    let back = reseal_input(&vault("a", &["b"]), &intent, contract, at, &input);
    assert!(matches!(back, Ok(Some(_))), "it opens for what it was sealed for");
    assert_eq!(store.reseal_mail(&rotated, context, &|_, _| {}).await.expect("done").resealed, 0);
    assert_eq!(store.reseal_inputs(&rotated, &|_, _| {}).await.expect("done").resealed, 0);
}
