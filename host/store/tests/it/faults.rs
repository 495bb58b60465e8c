//! Faults of contracts: kept with their sealed input, a burst once, the latest of each intent, and not for long.

use std::sync::Arc;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, CallContext};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::faults::{
    BURST_MS, CallRef, FaultNote, FaultQuery, Function, INPUT_MAX_BYTES, KEPT_PER_INTENT_MAX, KINDS_PER_BURST_MAX,
    KeptFault, Told, open_input,
};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{FaultLog as _, Faults as _};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{OpenError, Vault};
use intent_gateway_store::{FaultJournal, SqlStore};
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::entropy::{NoRandomness, vault};

use crate::support::{Database, RESTORED, on_both_engines};

on_both_engines!(
    a_fault_is_kept_as_it_was_and_its_input_sealed,
    an_input_that_is_too_large_is_told_and_not_kept,
    a_burst_is_kept_once_and_counted,
    the_latest_of_each_intent_are_kept,
    what_is_old_is_forgotten,
    a_backup_holds_the_faults,
);

const NOW_MS: u64 = 1_779_235_200_000;
const INTENT: &str = "auto.book_ac_service";
/// What only somebody with the key reads.
const SAID_BY_THE_USER: &str = "I live behind the temple";

fn intent(name: &str) -> IntentId {
    IntentId::parse(name).expect("well formed")
}

fn trap(told: Option<Told>) -> ContractFault {
    ContractFault::Trap { cause: "wasm `unreachable` instruction executed".to_owned(), told: told.map(Box::new) }
}

/// A trap at a line of the source.
fn trap_at(line: usize) -> ContractFault {
    trap(Some(Told::new("no tea\nis left", Some(&format!("src/tea.rs:{line}")))))
}

struct Journal {
    journal: FaultJournal,
    clock: Arc<TestClock>,
}

impl Journal {
    fn open(store: &Arc<SqlStore>) -> Self {
        let clock = TestClock::at(NOW_MS);
        Self { journal: FaultJournal::open(store.clone(), vault(), clock.clone()), clock }
    }

    fn note(&self, of: &str, fault: &ContractFault, call: CallRef<'_>) {
        let (intent, version) = (intent(of), "1.2.3-rc.1".parse().expect("a version"));
        let contract = Digest::of(b"component");
        self.journal.note(FaultNote { intent: &intent, version: &version, contract, fault, call });
    }

    fn note_at(&self, line: usize) {
        self.note(INTENT, &trap_at(line), CallRef::Classify("tea", "en-IN"));
    }
}

async fn all(store: &SqlStore, of: &str) -> Vec<KeptFault> {
    store.faults(FaultQuery { intent: &intent(of), before: None, limit: u32::MAX }).await.expect("it reads")
}

async fn a_fault_is_kept_as_it_was_and_its_input_sealed(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(&store);
    let context = CallContext { request_id: "r \u{0} 1".to_owned(), now: Timestamp::from_ms(7) };
    let call = CallRef::CheckRequest(&context, "search", SAID_BY_THE_USER, About::default());
    journal.note(INTENT, &trap_at(7), call);
    journal.clock.advance(1);
    journal.note("test.other", &ContractFault::DeadlineExceeded(200), CallRef::Classify("tea", "en-IN"));
    journal.note("test.other", &trap(Some(Told::new("boom", None))), CallRef::Classify("tea", "en-IN"));
    journal.journal.close().await;

    let [fault] = &all(&store, INTENT).await[..] else { panic!("one fault") };
    let input_bytes = serde_json::to_vec(&call.to_input()).expect("JSON").len() as u64;
    let expected = KeptFault {
        number: fault.number,
        at: Timestamp::from_ms(NOW_MS),
        last_at: Timestamp::from_ms(NOW_MS),
        times: 1,
        others: 0,
        intent: intent(INTENT),
        version: "1.2.3-rc.1".parse().expect("a version"),
        contract: Digest::of(b"component"),
        function: Function::CheckRequest,
        request_id: Some("r \u{fffd} 1".to_owned()),
        code: "CONTRACT_TRAP".to_owned(),
        fault: "the contract trapped: wasm `unreachable` instruction executed".to_owned(),
        told: Some(Told { message: "no tea\nis left".to_owned(), place: Some("src/tea.rs:7".to_owned()) }),
        input_bytes,
        has_input: true,
    };
    assert_eq!(*fault, expected);
    let (found, sealed) = store.fault(fault.number).await.expect("it reads").expect("it is there");
    assert_eq!(found, expected);
    let sealed = sealed.expect("its input is kept");
    assert_eq!(open_input(&vault(), &found, &sealed), Ok(call.to_input()), "every byte of it");
    let elsewhere = KeptFault { intent: intent("test.other"), ..found.clone() };
    assert_eq!(open_input(&vault(), &elsewhere, &sealed), Err(OpenError::Forged), "of this fault alone");
    let stranger = Vault::new(&Secret::new("x".repeat(32)), &[], Arc::new(NoRandomness));
    assert_eq!(open_input(&stranger, &found, &sealed), Err(OpenError::UnknownKey));
    let stored = database.lines("SELECT input FROM contract_faults ORDER BY number LIMIT 1").await.concat();
    assert!(!stored.is_empty() && !stored.contains("temple"), "{stored}");

    let others = all(&store, "test.other").await;
    let seen: Vec<_> =
        others.iter().map(|fault| (fault.code.as_str(), fault.told.clone(), &fault.request_id)).collect();
    assert_eq!(
        seen,
        [
            ("CONTRACT_TRAP", Some(Told { message: "boom".to_owned(), place: None }), &None),
            ("CONTRACT_DEADLINE", None, &None)
        ],
        "newest first"
    );
    assert!(store.fault(99).await.expect("it reads").is_none());
    assert!(store.fault(u64::MAX).await.expect("it reads").is_none());
}

async fn an_input_that_is_too_large_is_told_and_not_kept(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(&store);
    let (fits, large) = ("x".repeat(INPUT_MAX_BYTES - 200), "x".repeat(INPUT_MAX_BYTES));
    journal.note(INTENT, &trap_at(1), CallRef::Classify(&fits, "en-IN"));
    journal.note(INTENT, &trap_at(2), CallRef::Classify(&large, "en-IN"));
    journal.journal.close().await;
    let faults = all(&store, INTENT).await;
    let kept: Vec<_> = faults.iter().map(|fault| (fault.has_input, fault.input_bytes > 1024 * 1024)).collect();
    assert_eq!(kept, [(false, true), (true, false)]);
    let (_, input) = store.fault(faults[0].number).await.expect("it reads").expect("it is there");
    assert!(input.is_none());
}

async fn a_burst_is_kept_once_and_counted(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(&store);
    for _ in 0..1_000 {
        journal.note_at(1);
    }
    journal.clock.advance(BURST_MS - 1);
    journal.note_at(1);
    for line in 2..=KINDS_PER_BURST_MAX + 5 {
        journal.note_at(line);
    }
    journal.journal.close().await;
    let faults = all(&store, INTENT).await;
    assert_eq!(faults.len(), KINDS_PER_BURST_MAX);
    let first = faults.last().expect("some");
    assert_eq!((first.times, first.others, first.at.as_ms()), (1_001, 0, NOW_MS));
    assert_eq!(first.last_at.as_ms(), NOW_MS + BURST_MS - 1);
    assert_eq!((faults[0].times, faults[0].others), (1, 5), "kinds beyond those that are kept");
    assert!(faults[1..KINDS_PER_BURST_MAX - 1].iter().all(|fault| (fault.times, fault.others) == (1, 0)), "{faults:?}");
}

async fn the_latest_of_each_intent_are_kept(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(&store);
    journal.note("test.other", &trap_at(1), CallRef::Classify("tea", "en-IN"));
    journal.journal.close().await;
    let most = KEPT_PER_INTENT_MAX as usize;
    // A journal at a time, for each of them keeps but so many kinds of a minute.
    for batch in 0..most / KINDS_PER_BURST_MAX + 2 {
        let journal = Journal::open(&store);
        (0..KINDS_PER_BURST_MAX).for_each(|line| journal.note_at(batch * KINDS_PER_BURST_MAX + line));
        journal.journal.close().await;
    }
    let faults = all(&store, INTENT).await;
    assert_eq!(faults.len(), most);
    let places: Vec<_> = faults.iter().filter_map(|fault| fault.told.as_ref()?.place.clone()).collect();
    let last = most + 2 * KINDS_PER_BURST_MAX - 1;
    assert_eq!((&places[0], &places[most - 1]), (&format!("src/tea.rs:{last}"), &"src/tea.rs:20".to_owned()));
    assert_eq!(all(&store, "test.other").await.len(), 1);
    let page = FaultQuery { intent: &intent(INTENT), before: Some(faults[2].number), limit: 2 };
    assert_eq!(store.faults(page).await.expect("it reads"), faults[3..5]);
}

async fn what_is_old_is_forgotten(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(&store);
    journal.note_at(1);
    journal.clock.advance(10);
    journal.note_at(2);
    journal.journal.close().await;
    assert_eq!(store.forget_faults(Timestamp::from_ms(NOW_MS + 10)).await.expect("it forgets"), 1);
    let [left] = &all(&store, INTENT).await[..] else { panic!("one is left") };
    assert_eq!(left.at.as_ms(), NOW_MS + 10);
    let again = Journal::open(&store);
    again.note_at(3);
    again.journal.close().await;
    assert!(all(&store, INTENT).await[0].number > left.number, "no number comes twice");
}

async fn a_backup_holds_the_faults(database: Database) {
    let store = database.open_shared().await;
    let journal = Journal::open(&store);
    journal.note_at(1);
    journal.note(INTENT, &ContractFault::DeadlineExceeded(200), CallRef::Classify("tea", "en-IN"));
    journal.journal.close().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gateway.backup");
    store.backup(&file, Timestamp::EPOCH).await.expect("it is written");
    let elsewhere = Database::sqlite();
    let other = elsewhere.open_shared().await;
    other.restore(&file, RESTORED).await.expect("it is read");
    assert_eq!(all(&other, INTENT).await, all(&store, INTENT).await);
    let number = all(&store, INTENT).await[1].number;
    assert_eq!(other.fault(number).await.expect("it reads"), store.fault(number).await.expect("it reads"));
}
