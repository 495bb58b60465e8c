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
use intent_gateway_domain::contract::Subject;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::faults::{Call, Input};
use intent_gateway_domain::ports::Contract;
use intent_gateway_sandbox::{LoadError, LoadedContract};
use serde::Serialize;

use crate::call;

/// One input out of so many is run twice and the answers are compared.
const REPEATED_EVERY: u8 = 4;
/// Failures that are reported; after so many the fuzz ends early.
const FAILURES_MAX: usize = 10;
/// An answer that changes from one call to the next.
const NONDETERMINISTIC: &str = "NOT_DETERMINISTIC";
const TWO_ANSWERS: &str = "the same input got two different answers; let an answer follow from the arguments alone, not from \
                           state, addresses or the order of a hash map";

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
    pub input: Input,
}

/// What a fuzz found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FuzzReport {
    /// The seed; with it, the run can be repeated.
    pub seed: u64,
    /// Inputs tried.
    pub(crate) executions: u64,
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
pub(crate) type Corpus = BTreeMap<String, Vec<Input>>;

/// The calls of the contract's own examples, and an empty one for each tool that no example calls.
///
/// # Errors
/// [`LoadError`] when `examples` fails.
pub(crate) async fn corpus(contract: &LoadedContract) -> Result<Corpus, LoadError> {
    let mut corpus = Corpus::new();
    for example in contract.examples().await? {
        let input = call::read_example(&example.call());
        corpus.entry(input.call.entry()).or_default().push(input);
    }
    let descriptor = contract.descriptor();
    for tool in &descriptor.tools {
        let (name, empty) = (|| tool.name.clone(), || "{}".to_owned());
        let request = Call::CheckRequest { tool: name(), arguments: empty(), about: Subject::default() };
        corpus.entry(request.entry()).or_insert_with(|| vec![call::put_in_example(request)]);
        if tool.name != descriptor.search.tool {
            let about = Subject::default();
            let answer = Call::CheckResponse { tool: name(), arguments: empty(), payload: empty(), about };
            corpus.entry(answer.entry()).or_insert_with(|| vec![call::put_in_example(answer)]);
        }
    }
    Ok(corpus)
}

/// Fuzzes a contract for so long.
pub async fn run(contract: &dyn Contract, corpus: &Corpus, lasting: Duration, seed: u64) -> FuzzReport {
    let start = Instant::now();
    let mut report = rounds(contract, corpus, seed, |_| start.elapsed() < lasting).await;
    report.seconds = start.elapsed().as_secs_f64();
    report
}

/// Tries one input of each entry point after the other, for as long as `go_on` says, told how many were tried.
async fn rounds(contract: &dyn Contract, corpus: &Corpus, seed: u64, go_on: impl Fn(u64) -> bool) -> FuzzReport {
    let mut rng = Rng::with_seed(seed);
    let mut report = FuzzReport { seed, executions: 0, by_entry: BTreeMap::new(), seconds: 0.0, failures: Vec::new() };
    while !corpus.is_empty() {
        for (entry, inputs) in corpus {
            if !go_on(report.executions) || report.failures.len() >= FAILURES_MAX {
                return report;
            }
            let Some(seed_input) = rng.choice(inputs) else { continue };
            let input = input::spoil(seed_input, &mut rng);
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
    }
    report
}

/// Code and message, where the input brings the contract down.
async fn trial(contract: &dyn Contract, input: &Input, twice: bool) -> Option<(String, String)> {
    let fault = |fault: &ContractFault| Some((fault.code().to_owned(), fault.explain()));
    match call::run(input, contract).await {
        // Time is the one limit that a busy machine can break in the contract's stead; it gets a second chance.
        Err(ContractFault::DeadlineExceeded(_)) => call::run(input, contract).await.err().as_ref().and_then(fault),
        Err(other) => fault(&other),
        Ok(answer) if twice => match call::run(input, contract).await {
            Ok(again) if format!("{again:?}") == format!("{answer:?}") => None,
            Ok(_) => Some((NONDETERMINISTIC.to_owned(), TWO_ANSWERS.to_owned())),
            Err(other) => fault(&other),
        },
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::FutureExt as _;
    use intent_gateway_domain::contract::{CheckedCompletion, Classification, Evaluation};
    use intent_gateway_domain::faults::Answer;
    use intent_gateway_testing::contract::{ScriptedContract, refusal};
    use intent_gateway_testing::descriptor::small_descriptor;

    use super::*;

    /// Traps on a number beyond all floats, is late once, and counts utterances and quotes, which no contract may.
    fn weak() -> ScriptedContract {
        let refused = || refusal("INVALID_REQUEST", []);
        let [utterances, quotes, late] = [const { AtomicU32::new(0) }; 3];
        ScriptedContract::new(small_descriptor())
            .on_classify(move |_, _| {
                let count = utterances.fetch_add(1, Ordering::Relaxed);
                let evidence = vec![count.to_string()];
                Ok(Classification { score: 0.0, evidence, elsewhere: vec![], also: vec![] })
            })
            .on_check_request(move |_, _, arguments| {
                assert!(arguments.len() <= intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES);
                let is_beyond = arguments.contains("1e400");
                Err(if is_beyond { ContractFault::trap("unreachable").into() } else { refused() })
            })
            .on_evaluate(|_, _, _| Ok(Evaluation::default()))
            .on_check_response(move |_, _| {
                // Late the first time: the machine was busy.
                let is_late = late.fetch_add(1, Ordering::Relaxed) == 0;
                Err(if is_late { ContractFault::DeadlineExceeded(200).into() } else { refused() })
            })
            .on_check_completion(move |_, _, about| {
                // The count shows in the lateness alone: that member is compared as well.
                let counted = |_| CheckedCompletion {
                    external_id: "order".to_owned(),
                    request_id: "request".to_owned(),
                    status: "completed".to_owned(),
                    amount_paise: 0,
                    charged: true,
                    late_minutes: i32::try_from(quotes.fetch_add(1, Ordering::Relaxed)).ok(),
                    findings: Vec::new(),
                    strikes: Vec::new(),
                };
                about.quoted.map(counted).ok_or_else(|| ContractFault::DeadlineExceeded(200).into())
            })
    }

    fn corpus() -> Corpus {
        let text = str::to_owned;
        let calls = [
            Call::Classify { utterance: text("a pot of tea"), locale: text("en-IN") },
            Call::CheckRequest {
                tool: text("search_tea"),
                arguments: text(r#"{"leaf":"green","cups":2}"#),
                about: Subject::default(),
            },
            Call::Evaluate {
                request: text("{}"),
                payloads: vec![Answer::new(Default::default(), vec![text(r#"{"offer_id":"o"}"#)])],
                history: Vec::new(),
            },
            Call::CheckResponse {
                tool: text("order_tea"),
                arguments: text("{}"),
                payload: text("{}"),
                about: Subject::default(),
            },
            Call::CheckCompletion { report: text(r#"{"status":"completed"}"#), about: Subject::default() },
        ];
        calls.into_iter().map(|call| (call.entry(), vec![call::put_in_example(call)])).collect()
    }

    /// Inputs of a test: enough to hit upon every weakness.
    const EXECUTIONS: u64 = 3_000;

    fn fuzzed(seed: u64) -> FuzzReport {
        rounds(&weak(), &corpus(), seed, |tried| tried < EXECUTIONS).now_or_never().expect("nothing waits")
    }

    #[test]
    fn what_brings_a_contract_down_is_found_with_its_input() {
        let report = fuzzed(7);
        let found: Vec<_> =
            report.failures.iter().map(|one| (one.input.call.function().as_str(), one.code.as_str())).collect();
        for expected in [
            ("check-request", "CONTRACT_TRAP"),
            ("check-completion", "CONTRACT_DEADLINE"),
            ("check-completion", "NOT_DETERMINISTIC"),
            ("classify", "NOT_DETERMINISTIC"),
        ] {
            assert!(found.contains(&expected), "{expected:?} is not among {found:?}");
        }
        let unsteady = report.failures.iter().find(|one| one.code == "NOT_DETERMINISTIC").expect("found");
        assert!(unsteady.message.contains("from the arguments alone"), "{}", unsteady.message);
        assert_eq!(found.len(), 4, "once each, and not for a call that is late once: {found:?}");
        let trap = report.failures.iter().find(|one| one.code == "CONTRACT_TRAP").expect("found");
        assert!(serde_json::to_string(&trap.input).expect("JSON").contains("1e400"));
        assert_eq!((report.by_entry.len(), report.executions), (5, EXECUTIONS));
        assert_eq!(report.by_entry.values().sum::<u64>(), report.executions);
    }

    #[test]
    fn time_is_up_at_once_or_the_corpus_empty() {
        let run = |corpus: &Corpus, lasting| run(&weak(), corpus, lasting, 1).now_or_never().expect("nothing waits");
        assert_eq!(run(&corpus(), Duration::ZERO).executions, 0);
        assert_eq!(run(&Corpus::new(), Duration::from_secs(3_600)).executions, 0);
    }

    #[test]
    fn the_same_seed_finds_the_same() {
        let found = |seed| -> Vec<_> {
            fuzzed(seed).failures.into_iter().map(|one| (one.execution, one.code, one.input)).collect()
        };
        assert_eq!(found(11), found(11));
        assert_ne!(found(11), found(12));
    }
}
