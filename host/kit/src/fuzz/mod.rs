//! A fuzz of a contract through every entry point: mutations of the documents in its own examples.
//!
//! Whatever comes in, a contract answers with an outcome or a refusal. It fails when it traps, runs past its
//! deadline, its memory or its output, breaks the interface's promises, or answers the same input in two ways. The
//! same seed on the same component gives the same inputs in the same order.

mod input;
mod mutate;
mod spans;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use intent_gateway_core::error::ContractFault;
use intent_gateway_core::ports::Contract as _;
use intent_gateway_sandbox::{LoadError, LoadedContract};
use serde::Serialize;

pub use input::{Answer, Call, Input};

/// One input out of so many is run twice and the answers are compared.
const REPEATED_EVERY: u8 = 4;
/// Failures that are reported; after so many the fuzz ends early.
const FAILURES_MAX: usize = 10;
/// An answer that changes from one call to the next.
const NONDETERMINISTIC: &str = "NOT_DETERMINISTIC";

/// What brought the contract down.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// Which input of the run it was, counted from 0.
    pub execution: u64,
    /// Function, and tool where there is one, of the example that the input was made from.
    pub entry: String,
    /// Stable code: of the fault, or `NOT_DETERMINISTIC`.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The input.
    pub input: Input,
}

/// What a fuzz found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FuzzReport {
    /// The seed; with it, the run can be repeated.
    pub seed: u64,
    /// Inputs tried.
    pub executions: u64,
    /// Inputs tried by entry point.
    pub by_entry: BTreeMap<String, u64>,
    /// How long it took, seconds.
    pub seconds: f64,
    /// One failure for each entry point and code, the first.
    pub failures: Vec<Failure>,
}

impl FuzzReport {
    /// Inputs tried a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.executions as f64 / self.seconds } else { 0.0 }
    }
}

/// Calls to start from, by entry point, so that each gets its share of the time.
type Corpus = BTreeMap<String, Vec<Input>>;

/// The calls of the contract's own examples, and an empty one for each tool that no example calls.
///
/// # Errors
/// [`LoadError`] when `examples` fails.
pub async fn corpus(contract: &LoadedContract) -> Result<Corpus, LoadError> {
    let mut corpus = Corpus::new();
    for example in contract.examples().await? {
        let input = Input::of_example(&example.call());
        corpus.entry(input.call.entry()).or_default().push(input);
    }
    let descriptor = contract.descriptor();
    for tool in &descriptor.tools {
        let (name, empty) = (|| tool.name.clone(), || "{}".to_owned());
        let request = Call::CheckRequest { tool: name(), arguments: empty() };
        corpus.entry(request.entry()).or_insert_with(|| vec![Input::new(request)]);
        if tool.name != descriptor.search.tool {
            let answer = Call::CheckResponse { tool: name(), arguments: empty(), payload: empty(), quoted: None };
            corpus.entry(answer.entry()).or_insert_with(|| vec![Input::new(answer)]);
        }
    }
    Ok(corpus)
}

/// Fuzzes a contract for so long.
pub async fn run(contract: &LoadedContract, corpus: &Corpus, lasting: Duration, seed: u64) -> FuzzReport {
    let mut rng = Rng::with_seed(seed);
    let start = Instant::now();
    let mut report = FuzzReport { seed, executions: 0, by_entry: BTreeMap::new(), seconds: 0.0, failures: Vec::new() };
    'time: loop {
        for (entry, inputs) in corpus {
            if start.elapsed() >= lasting || report.failures.len() >= FAILURES_MAX {
                break 'time;
            }
            let Some(seed_input) = rng.choice(inputs) else { continue };
            let input = seed_input.mutated(&mut rng);
            let execution = report.executions;
            report.executions += 1;
            *report.by_entry.entry(entry.clone()).or_default() += 1;
            let twice = rng.u8(0..REPEATED_EVERY) == 0;
            let Some((code, message)) = trial(contract, &input, twice).await else { continue };
            let known = |failure: &Failure| failure.entry == *entry && failure.code == code;
            if !report.failures.iter().any(known) {
                report.failures.push(Failure { execution, entry: entry.clone(), code, message, input });
            }
        }
        if corpus.is_empty() {
            break;
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    report
}

/// Code and message, where the input brings the contract down.
async fn trial(contract: &LoadedContract, input: &Input, twice: bool) -> Option<(String, String)> {
    let fault = |fault: &ContractFault| Some((fault.code().to_owned(), fault.to_string()));
    match input.run(contract).await {
        // Time is the one limit that a busy machine can break in the contract's stead; it gets a second chance.
        Err(ContractFault::DeadlineExceeded(_)) => input.run(contract).await.err().as_ref().and_then(fault),
        Err(other) => fault(&other),
        Ok(answer) if twice => match input.run(contract).await {
            Ok(again) if format!("{again:?}") == format!("{answer:?}") => None,
            Ok(_) => Some((NONDETERMINISTIC.to_owned(), "the same input got two different answers".to_owned())),
            Err(other) => fault(&other),
        },
        Ok(_) => None,
    }
}
