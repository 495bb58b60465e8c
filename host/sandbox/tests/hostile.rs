//! Contracts that misbehave: each misdeed gives its own clear fault, and the next call is served as if
//! nothing had been.

mod support;

use std::time::{Duration, Instant};

use intent_gateway_domain::contract::{About, Exchange};
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use support::{context, hostile, payloads};

/// With a deadline that no machine is too busy for: the tests of the deadline have their own.
fn config() -> SandboxConfig {
    SandboxConfig { max_concurrent_instances: 8, deadline_ms: 10_000, ..SandboxConfig::default() }
}

async fn contract(config: &SandboxConfig) -> LoadedContract {
    let engine = Engine::new(config).expect("the engine starts");
    LoadedContract::compile(&engine, &hostile("1.0.0", "honest")).await.expect("it loads")
}

async fn fault_of(contract: &LoadedContract, misdeed: &str) -> ContractFault {
    match contract.evaluate(&context(), misdeed, &payloads(), &[]).await {
        Err(ContractError::Fault(fault)) => fault,
        other => panic!("{misdeed}: {other:?}"),
    }
}

async fn serves(contract: &LoadedContract) {
    let evaluation = contract.evaluate(&context(), "{}", &payloads(), &[]).await.expect("it serves");
    let numbers: Vec<_> = evaluation.ranked.iter().map(|option| option.number).collect();
    assert_eq!(numbers, [4, 2, 9]);
}

#[tokio::test]
async fn honest_work_passes() {
    let contract = contract(&config()).await;
    assert_eq!(contract.descriptor().intent.as_str(), "test.hostile");
    contract.run_examples().await.expect("its examples hold");
    serves(&contract).await;
}

#[tokio::test]
async fn an_endless_loop_is_stopped_at_the_deadline() {
    let contract = contract(&SandboxConfig { deadline_ms: 50, ..config() }).await;
    let started = Instant::now();
    assert_eq!(fault_of(&contract, "spin").await, ContractFault::DeadlineExceeded(50));
    // Ten slices of five ticks, the first tick of each cut short.
    assert!(started.elapsed() >= Duration::from_millis(40));
    serves(&contract).await;
}

#[tokio::test]
async fn other_tasks_run_beside_an_endless_loop() {
    // One thread: without yielding, the loop would hold it until the deadline.
    let contract = contract(&SandboxConfig { deadline_ms: 2_000, ..config() }).await;
    let looping = fault_of(&contract, "spin");
    tokio::pin!(looping);
    tokio::select! {
        // The loop first: it is running when the others get their turn.
        biased;
        fault = &mut looping => panic!("the loop ended first: {fault}"),
        () = async { for _ in 0..20 { serves(&contract).await } } => {}
    }
}

#[tokio::test]
async fn memory_beyond_the_cap_is_refused() {
    let contract = contract(&config()).await;
    assert_eq!(fault_of(&contract, "memory").await, ContractFault::OutOfMemory(64 * 1024 * 1024));
    serves(&contract).await;
}

#[tokio::test]
async fn a_trap_and_an_exhausted_stack_are_traps() {
    let contract = contract(&config()).await;
    for misdeed in ["trap", "stack"] {
        match fault_of(&contract, misdeed).await {
            ContractFault::Trap { cause, .. } => assert!(!cause.contains("0x"), "no addresses: {cause}"),
            other => panic!("{misdeed}: {other:?}"),
        }
        serves(&contract).await;
    }
}

#[tokio::test]
async fn output_beyond_the_cap_is_refused_before_it_is_copied() {
    let contract = contract(&config()).await;
    let cap = config().output_max_bytes;
    for misdeed in ["giant", "aliased"] {
        assert_eq!(fault_of(&contract, misdeed).await, ContractFault::OutputTooLarge(cap), "{misdeed}");
        serves(&contract).await;
    }
}

#[tokio::test]
async fn broken_promises_are_invalid_output() {
    let contract = contract(&config()).await;
    let misdeeds = [
        "bad utf8",
        "unknown number",
        "same number twice",
        "lost option",
        "nan total",
        "infinite axis",
        "completeness above one",
        "worst first",
        "card is no json",
        "card is no object",
        "dropped without reason",
        "finding on nothing",
        "finding with a bad pointer",
    ];
    for misdeed in misdeeds {
        let fault = fault_of(&contract, misdeed).await;
        assert!(matches!(fault, ContractFault::InvalidOutput(_)), "{misdeed}: {fault:?}");
    }
    serves(&contract).await;
}

#[tokio::test]
async fn the_other_functions_are_held_to_their_word_too() {
    let contract = contract(&config()).await;
    let invalid = |fault: &ContractFault| matches!(fault, ContractFault::InvalidOutput(_));
    for utterance in ["a nan thing", "an unpaired thing"] {
        let fault = contract.classify(utterance, "en-IN").await.expect_err("it lies");
        assert!(invalid(&fault), "{utterance}: {fault:?}");
    }
    for arguments in ["bad arguments", "refuse without violations", "refuse with a bad code"] {
        match contract.check_request(&context(), "search_things", arguments, About::default()).await {
            Err(ContractError::Fault(fault)) if invalid(&fault) => {}
            other => panic!("{arguments}: {other:?}"),
        }
    }
    match contract.check_request(&context(), "search_things", "refuse", About::default()).await {
        Err(ContractError::Refused(refusal)) => assert_eq!(refusal.violations[0].code, "INVALID_THING"),
        other => panic!("{other:?}"),
    }
    for report in ["unlisted", "uncharged", "negative"] {
        match contract.check_completion(&context(), report, About::default()).await {
            Err(ContractError::Fault(fault)) if invalid(&fault) => {}
            other => panic!("{report}: {other:?}"),
        }
    }
    let exchange = |payload| Exchange { tool: "book_thing", arguments: "{}", payload, about: About::default() };
    let advised = contract.check_response(&context(), exchange("advise")).await.expect("listed advice passes");
    assert_eq!(advised.advisory.as_deref(), Some("FEE_DUE"));
    match contract.check_response(&context(), exchange("advise wrongly")).await {
        Err(ContractError::Fault(fault)) if invalid(&fault) => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn calls_beyond_the_bound_wait_in_a_bounded_queue() {
    let config = SandboxConfig {
        max_concurrent_instances: 1,
        max_waiting_calls: 1,
        wait_max_ms: 20_000,
        deadline_ms: 100,
        ..config()
    };
    let contract = contract(&config).await;
    let (context, payloads) = (context(), payloads());
    let call = || contract.evaluate(&context, "{}", &payloads, &[]);
    // Polled in this order: the loop takes the instance, the next call the place in the queue, the last finds neither.
    let (looping, waiting, refused) = tokio::join!(fault_of(&contract, "spin"), call(), call());
    assert_eq!(looping, ContractFault::DeadlineExceeded(100));
    assert!(waiting.is_ok());
    assert_eq!(refused.map(|_| ()), Err(ContractError::Fault(ContractFault::Busy(20_000))));
    serves(&contract).await;
}

#[tokio::test]
async fn a_call_waits_only_so_long() {
    let config = SandboxConfig { max_concurrent_instances: 1, wait_max_ms: 20, deadline_ms: 1_000, ..config() };
    let contract = contract(&config).await;
    let (context, payloads) = (context(), payloads());
    let (looping, refused) =
        tokio::join!(fault_of(&contract, "spin"), contract.evaluate(&context, "{}", &payloads, &[]));
    assert_eq!(looping, ContractFault::DeadlineExceeded(1_000));
    assert_eq!(refused.map(|_| ()), Err(ContractError::Fault(ContractFault::Busy(20))));
}
