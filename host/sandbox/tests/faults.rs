//! What a contract says of why it fails: bounded, harmless, with the fault and nowhere else; and where faults go.

#[path = "support/running.rs"]
mod running;
mod support;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::About;
use intent_gateway_domain::error::{ContractError, ContractFault, chain};
use intent_gateway_domain::faults::{Answer, Call, FaultNote, Function, Input, MESSAGE_MAX_CHARS};
use intent_gateway_domain::ports::{Contract, FaultLog};
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{ContractAdminError, LoadOrder, Origin};
use intent_gateway_sandbox::{Engine, LoadError, LoadedContract, SandboxConfig};
use running::Running;
use support::{context, hostile, payloads};

fn config() -> SandboxConfig {
    SandboxConfig { max_concurrent_instances: 4, ..SandboxConfig::default() }
}

async fn contract() -> LoadedContract {
    let engine = Engine::new(&config()).expect("the engine starts");
    LoadedContract::compile(&engine, &hostile("1.0.0", "honest")).await.expect("it loads")
}

async fn fault_of(contract: &dyn Contract, misdeed: &str) -> ContractFault {
    match contract.evaluate(&context(), misdeed, &payloads(), &[]).await {
        Err(ContractError::Fault(fault)) => fault,
        other => panic!("{misdeed}: {other:?}"),
    }
}

#[tokio::test]
async fn a_trap_keeps_what_the_contract_said_and_its_text_does_not() {
    let contract = contract().await;
    let fault = fault_of(&contract, "tell").await;
    let told = fault.told().expect("it said something");
    assert_eq!((told.message.as_str(), told.place.as_deref()), ("no tea\nis left", Some("src/tea.rs:7:9")));
    assert_eq!(fault.code(), "CONTRACT_TRAP");
    assert!(!fault.to_string().contains("tea"), "{fault}");
    assert!(fault.explain().ends_with("; it said `no tea | is left` at src/tea.rs:7:9"), "{}", fault.explain());

    assert_eq!(fault_of(&contract, "trap").await.told(), None, "whoever says nothing has said nothing");
    let first = fault_of(&contract, "tell twice").await;
    assert_eq!(first.told().map(|told| told.message.as_str()), Some("the first"));
    let evaluation = contract.evaluate(&context(), "tell and answer", &payloads(), &[]).await;
    assert_eq!(evaluation.expect("it answers").ranked.len(), 3, "words without a trap change nothing");
}

#[tokio::test]
async fn what_a_contract_says_is_bounded_and_harmless() {
    let contract = contract().await;
    let fault = fault_of(&contract, "tell at length").await;
    let message = &fault.told().expect("it said something").message;
    assert_eq!(message.chars().count(), MESSAGE_MAX_CHARS + 1);
    assert!(message.starts_with("☂☂") && message.ends_with("☂…"));

    let cap = config().output_max_bytes;
    assert_eq!(fault_of(&contract, "tell without end").await, ContractFault::OutputTooLarge(cap));
    assert!(matches!(fault_of(&contract, "tell in bad utf8").await, ContractFault::InvalidOutput(_)));

    let fault = fault_of(&contract, "tell in control characters").await;
    let told = fault.told().expect("it said something");
    assert_eq!(told.message, "\\u{1b}[2Jgone\\r\\u{202e}\\u{0}");
    assert_eq!(told.place.as_deref(), Some("\\u{7}src"));
}

#[tokio::test]
async fn a_component_that_does_not_load_says_why() {
    let engine = Engine::new(&config()).expect("the engine starts");
    let error = LoadedContract::compile(&engine, &hostile("1.0.0", "describe-tells")).await.expect_err("it traps");
    assert!(matches!(error, LoadError::Describe(_)));
    let text = chain(&error);
    assert!(
        text.starts_with(
            "`describe` failed, saying `the table of leaves is empty` at src/tea.rs:7:9: the contract trapped"
        ),
        "{text}"
    );
    let contract = LoadedContract::compile(&engine, &hostile("1.0.0", "example-tells")).await.expect("it describes");
    let text = contract.run_examples().await.expect_err("it traps").to_string();
    assert!(text.contains("`options are ranked`") && text.contains("it said `no tea | is left` at src/tea"), "{text}");
}

/// Records all that it is told, whole.
#[derive(Default)]
struct Notes(Mutex<Vec<(String, ContractFault, Input)>>);

impl FaultLog for Notes {
    fn note(&self, fault: FaultNote<'_>) {
        let what = format!("{} {} {}", fault.intent, fault.version, fault.call.function().as_str());
        self.0.lock().expect("no test panics in it").push((what, fault.fault.clone(), fault.call.to_input()));
    }
}

#[tokio::test]
async fn faults_of_a_loaded_version_are_noted_with_their_calls() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let sandbox = Running::start(config(), folder.path().to_owned(), None, Arc::default()).await.expect("it starts");
    let order = || LoadOrder {
        origin: Origin::Upload("tester".to_owned()),
        by: Actor::gateway(),
        activate: true,
        removal: Removal::Refused,
    };
    sandbox.load(Bytes::from(hostile("1.0.0", "honest")), order()).await.expect("it loads");
    let contract = sandbox.live("test.hostile").expect("it is live");
    fault_of(&*contract, "trap").await;
    let notes = Arc::new(Notes::default());
    sandbox.sandbox.note_faults_in(notes.clone());
    fault_of(&*contract, "tell").await;
    contract.classify("a nan thing", "en-IN").await.expect_err("it lies");
    contract.evaluate(&context(), "{}", &payloads(), &[]).await.expect("it serves");
    let refused = contract.check_request(&context(), "search_things", "refuse", About::default()).await;
    assert!(matches!(refused, Err(ContractError::Refused(_))));

    let noted = std::mem::take(&mut *notes.0.lock().expect("no test panics in it"));
    let whats: Vec<_> = noted.iter().map(|(what, fault, _)| (what.as_str(), fault.code())).collect();
    assert_eq!(
        whats,
        [("test.hostile 1.0.0 evaluate", "CONTRACT_TRAP"), ("test.hostile 1.0.0 classify", "CONTRACT_INVALID_OUTPUT"),],
        "not what came before, nor what is no fault"
    );
    assert_eq!(noted[0].1.told().map(|told| told.message.as_str()), Some("no tea\nis left"));
    let Input { request_id, now_ms, call } = &noted[0].2;
    assert_eq!((request_id.as_str(), *now_ms), ("request-1", 1_767_225_600_000));
    let Call::Evaluate { request, payloads, .. } = call else { panic!("{call:?}") };
    assert_eq!(request, "tell");
    let [Answer { options, numbers, .. }] = payloads.as_slice() else { panic!("{payloads:?}") };
    assert_eq!((options.join(""), numbers.as_slice()), ("abc".to_owned(), &[4, 2, 9][..]));
    assert_eq!(noted[1].2.call.function(), Function::Classify);

    let refused = sandbox.load(Bytes::from(hostile("2.0.0", "example-tells")), order()).await;
    let Err(ContractAdminError::Rejected(failure)) = refused else { panic!("it must not load") };
    assert!(failure.message.contains("it said `no tea | is left`"), "{}", failure.message);
    let noted = std::mem::take(&mut *notes.0.lock().expect("no test panics in it"));
    assert!(noted.is_empty(), "what fails at load is told there");
}
