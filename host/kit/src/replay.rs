//! `plugin replay`: makes a call again that brought a contract down, and shows what comes of it now.
//!
//! The call comes out of a file: a fault of a gateway as `contract failures --save` writes it, or a finding of `plugin
//! check`. Both have the call under `input`.

use intent_gateway_describe::text::Page;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::faults::{Input, Told};
use intent_gateway_domain::ports::Contract;
use serde::{Deserialize, Serialize};

use crate::call::{self, CallOutcome};

/// Bytes of a file that is read: an input of the largest size that is kept, written as JSON within JSON.
pub const FILE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// A call that brought a contract down, and what is known of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Recorded {
    /// The call.
    pub input: Input,
    /// The component that failed.
    #[serde(default)]
    pub digest: Option<Digest>,
    /// Code of its fault.
    #[serde(default)]
    pub code: Option<String>,
}

/// A file that is not a record of a failed call.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The gateway did not keep the input: it was too large.
    #[error("the gateway has not kept the input of this fault, for it is too large; there is nothing to replay")]
    NoInput,
    /// Anything else.
    #[error("this is no fault with its input, as `contract failures --save` and `plugin check` write them")]
    NoRecord(#[source] serde_json::Error),
}

impl Recorded {
    /// Reads a file.
    ///
    /// # Errors
    /// [`RecordError`] when there is no call in it.
    pub fn read(json: &str) -> Result<Self, RecordError> {
        /// What tells a fault without its input from everything else.
        #[derive(Deserialize)]
        struct Inputless {
            #[serde(rename = "input")]
            _input: (),
        }
        serde_json::from_str(json).map_err(|error| match serde_json::from_str::<Inputless>(json) {
            Ok(_) => RecordError::NoInput,
            Err(_) => RecordError::NoRecord(error),
        })
    }
}

/// The outcome of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The contract answered.
    Answered,
    /// The contract refused what it was given.
    Refused {
        /// Code of the refusal.
        code: String,
    },
    /// The contract failed.
    Failed {
        /// Stable code.
        code: String,
        /// What went wrong, in the sandbox's words.
        fault: String,
        /// What the contract said of it.
        #[serde(flatten)]
        told: Option<Told>,
    },
}

/// A call made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayReport {
    /// The function, and the tool where it has one.
    pub entry: String,
    /// The component that was called.
    pub digest: Digest,
    /// Whether it is the one that failed; absent where the record names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_component: Option<bool>,
    /// Code of the fault in the record, where it names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_code: Option<String>,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Makes the call again.
pub async fn run(contract: &dyn Contract, recorded: &Recorded) -> ReplayReport {
    let outcome = match call::run(&recorded.input, contract).await {
        Ok(CallOutcome::Refused(refusal)) => Outcome::Refused { code: refusal.code },
        Ok(_) => Outcome::Answered,
        Err(fault) => {
            Outcome::Failed { code: fault.code().to_owned(), fault: fault.to_string(), told: fault.told().cloned() }
        }
    };
    let digest = contract.digest();
    ReplayReport {
        entry: recorded.input.call.entry(),
        digest,
        same_component: recorded.digest.map(|failed| failed == digest),
        recorded_code: recorded.code.clone(),
        outcome,
    }
}

impl ReplayReport {
    /// Whether the contract failed again, in the same way or another.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. })
    }

    /// For a person.
    #[must_use]
    pub fn text(&self) -> String {
        let mut page = Page::default();
        if self.same_component == Some(false) {
            page.line("another component than the one that failed");
        }
        let before = self.recorded_code.as_deref().unwrap_or("a fault");
        match &self.outcome {
            Outcome::Answered => page.line(&format!("✔ {}: it answers, where it failed with {before}", self.entry)),
            Outcome::Refused { code } => {
                page.line(&format!("✔ {}: it refuses with {code}, where it failed with {before}", self.entry));
            }
            Outcome::Failed { code, fault, told } => {
                page.line(&format!("✘ {}: {code}: {fault}", self.entry));
                if let Some(Told { message, place }) = told {
                    message.lines().for_each(|line| page.line(&format!("    {line}")));
                    place.iter().for_each(|place| page.line(&format!("    at {place}")));
                }
            }
        }
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use intent_gateway_domain::error::ContractFault;
    use intent_gateway_testing::contract::{ScriptedContract, refusal};
    use intent_gateway_testing::descriptor::small_descriptor;
    use serde_json::json;

    use super::*;

    fn record(tool: &str) -> Recorded {
        let json = json!({
            "number": 7, "digest": "ab".repeat(32), "code": "CONTRACT_TRAP", "message": "no tea", "input": {
                "request_id": "r-1", "now_ms": 5, "function": "check-request", "tool": tool, "arguments": "{}"
            }
        });
        Recorded::read(&json.to_string()).expect("a record")
    }

    async fn replay(tool: &str) -> ReplayReport {
        let contract = ScriptedContract::new(small_descriptor()).on_check_request(|context, tool, _| {
            assert_eq!((context.request_id.as_str(), context.now.as_ms()), ("r-1", 5));
            Err(match tool {
                "told" => {
                    let told = Some(Box::new(Told::new("no tea\nis left", Some("src/tea.rs:7:9"))));
                    ContractFault::Trap { cause: "unreachable".to_owned(), told }.into()
                }
                "late" => ContractFault::DeadlineExceeded(200).into(),
                _ => refusal("INVALID_REQUEST", []),
            })
        });
        run(&contract, &record(tool)).await
    }

    #[test]
    fn a_fault_is_shown_again_with_what_the_contract_said() {
        let report = replay("told").now_or_never().expect("nothing waits");
        assert!(report.has_failed());
        assert_eq!(
            report.text(),
            "another component than the one that failed\n✘ check-request told: CONTRACT_TRAP: the contract trapped: \
             unreachable\n    no tea\n    is left\n    at src/tea.rs:7:9"
        );
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!((&json["outcome"], &json["message"]), (&json!("failed"), &json!("no tea\nis left")));
        assert_eq!((&json["recorded_code"], &json["same_component"]), (&json!("CONTRACT_TRAP"), &json!(false)));
        let late = replay("late").now_or_never().expect("nothing waits");
        assert!(late.has_failed() && late.text().contains("CONTRACT_DEADLINE"), "{}", late.text());
    }

    #[test]
    fn a_fault_that_is_mended_is_told_so() {
        let report = replay("any").now_or_never().expect("nothing waits");
        assert!(!report.has_failed());
        assert!(report.text().contains("it refuses with INVALID_REQUEST, where it failed with CONTRACT_TRAP"));
    }

    #[test]
    fn what_is_no_record_is_told_apart_from_one_without_its_input() {
        assert!(matches!(Recorded::read(r#"{"number": 7, "input": null}"#), Err(RecordError::NoInput)));
        for bad in ["{}", "[]", "", r#"{"input": {"function": "describe"}}"#, r#"{"input": {"function": "classify"}}"#]
        {
            assert!(matches!(Recorded::read(bad), Err(RecordError::NoRecord(_))), "{bad}");
        }
    }
}
