//! A record is changed by somebody else between the reading and the writing of what seals it anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_executor::block_on;
use futures_util::FutureExt as _;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::reseal::{Resealed, reseal_all};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::{EventSending, SigningKey, Webhook, webhook_context};
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};
use intent_gateway_domain::vault::{Entropy, NoEntropy, Vault};
use intent_gateway_testing::entropy::Counting;
use intent_gateway_testing::store::MemoryStore;

fn account(number: u32) -> PartnerId {
    PartnerId::parse(&format!("ptr_{number}")).expect("an identifier")
}

fn webhook(vault: &Vault, number: u32, text: &str) -> Webhook {
    let account = account(number);
    let sealed = vault.seal(&webhook_context(&account), &Secret::new(text)).expect("entropy");
    let key = SigningKey { id: "one".to_owned(), sealed, not_before_ms: Timestamp::from_ms(1), not_after_ms: None };
    Webhook { account, url: "https://a.example".to_owned(), keys: vec![key], events: EventSending::default() }
}

fn put(store: &MemoryStore, record: &Versioned<Webhook>) {
    let mut change = Change::default();
    change.put(record);
    store.commit(change).now_or_never().expect("at once").expect("kept");
}

fn vault(current: &str, previous: &[Secret], entropy: Arc<dyn Entropy>) -> Vault {
    Vault::new(&Secret::new(current.repeat(32)), previous, entropy)
}

/// When randomness is first asked for, which is after the batch was read, a partner has its key replaced.
struct Meddling {
    store: Arc<MemoryStore>,
    inner: Counting,
    done: AtomicBool,
}

impl Entropy for Meddling {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        if !self.done.swap(true, Ordering::Relaxed) {
            let kept = load::<Webhook>(&*self.store, account(1).as_str()).now_or_never().expect("at once");
            let Versioned { revision, .. } = kept.expect("read").expect("kept");
            let former = vault("a", &[], Arc::new(Counting::default()));
            put(&self.store, &Versioned { revision, value: webhook(&former, 1, "newer") });
        }
        self.inner.fill(bytes)
    }
}

#[test]
fn what_somebody_else_changes_meanwhile_is_sealed_as_it_is_then() {
    let store = Arc::new(MemoryStore::default());
    let first = vault("a", &[], Arc::new(Counting::default()));
    for number in 0..3 {
        put(&store, &Versioned::new(webhook(&first, number, &format!("text {number}"))));
    }
    let meddling = Meddling { store: store.clone(), inner: Counting::default(), done: AtomicBool::new(false) };
    let rotated = vault("b", &[Secret::new("a".repeat(32))], Arc::new(meddling));
    let done = block_on(reseal_all::<Webhook>(&*store, &rotated, &|_, _| {})).expect("done");
    assert_eq!(done, Resealed { seen: 3, resealed: 3, unreadable: 0 });
    let alone = vault("b", &[], Arc::new(Counting::default()));
    for (number, text) in [(0, "text 0"), (1, "newer"), (2, "text 2")] {
        let kept = block_on(load::<Webhook>(&*store, account(number).as_str())).expect("read").expect("kept").value;
        let opened = alone.open(&webhook_context(&kept.account), &kept.keys[0].sealed).expect("under the new key");
        assert_eq!(opened.expose(), text);
    }
}
