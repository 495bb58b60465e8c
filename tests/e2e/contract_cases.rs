//! The case files of every contract that ships, tried on the built component over the real sandbox.

use intent_gateway_domain::ports::Contract as _;
use intent_gateway_kit::cases::{Suite, gaps, run};
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};

use crate::harness::{built, root};

/// Tries all cases of one contract, and that no member of its schemas is without a breaking case.
async fn holds(package: &str) {
    let suite = Suite::read(&root().join("plugins").join(package).join("cases")).expect("the case files can be read");
    let component = std::fs::read(built(&format!("contracts/{package}.wasm"))).expect("readable");
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let contract = LoadedContract::compile(&engine, &component).await.expect("the contract loads");
    contract.run_examples().await.expect("its examples hold");

    let report = run(&contract, &suite).await;
    let failures: Vec<String> = report
        .failures
        .iter()
        .map(|failure| {
            let [file, case] = [&failure.file, &failure.case];
            format!("{file}: {case}: expected {}; found {}", failure.expected, failure.found)
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), report.cases, failures.join("\n"));

    let gaps = gaps(contract.descriptor(), &suite);
    let gaps: Vec<String> = gaps.iter().map(|gap| format!("{} {}: {}", gap.document, gap.place, gap.missing)).collect();
    assert!(gaps.is_empty(), "{} places without a breaking case:\n{}", gaps.len(), gaps.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_car_ac_service() {
    holds("auto-book-ac-service").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_motor_insurance() {
    holds("finance-buy-motor-insurance").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_yoga_classes() {
    holds("lifestyle-book-yoga-class").await;
}
