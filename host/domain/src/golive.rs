//! The outcome of a go-live check: whether a partner meets what an intent's contract asks for before real users reach it
//! (spec 2, "Go-live requirements"; the contract declares them, see [`Requirement`](crate::contract::Requirement)).
//!
//! Not here: running the samples and judging them, which is the crate `routing`'s ([`GoLiveCheck`] is the port), and
//! whether a partner may go live on a passed check, which is the connection's (`onboarding`).

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::contract::{Refusal, Violation};
use crate::digest::Digest;
use crate::error::ContractFault;
use crate::findings::Severity;
use crate::id::PartnerId;
use crate::limits::REQUEST_BODY_MAX_BYTES;
use crate::partner::Partner;
use crate::ports::Contract;

/// Sample requests of one check. They run one after the other: the partner is measured, not loaded.
pub const SAMPLES_MAX: usize = 50;
/// Fewest samples from which a 95th percentile is read.
pub const LATENCY_SAMPLES_MIN: usize = 5;
/// Longest note of a confirmation, characters.
pub(crate) const CONFIRMATION_NOTE_MAX_CHARS: usize = 500;
/// The platform's own item: the partner answers every sample.
pub const SAMPLES_ANSWERED: &str = "SAMPLES_ANSWERED";
/// The platform's own item: no answer carries a forbidden field.
pub const NO_FORBIDDEN_FIELDS: &str = "NO_FORBIDDEN_FIELDS";
/// The platform's own item: no answer breaks a rule that would count towards suspension with live traffic.
pub const NO_STRIKES: &str = "NO_STRIKES";
/// Codes of the items that every intent has; a contract may use none of them.
pub const PLATFORM_CODES: [&str; 3] = [SAMPLES_ANSWERED, NO_FORBIDDEN_FIELDS, NO_STRIKES];
/// What was found in one sample is listed up to so many; the rest is counted.
pub const FOUND_MAX_PER_SAMPLE: usize = 20;
/// The same of all samples of a report together: it is kept with the connection.
pub const FOUND_MAX_PER_REPORT: usize = 200;
/// Characters of each text of such a finding.
pub const FOUND_TEXT_MAX_CHARS: usize = 300;

/// What happened to one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Seen to hold.
    Passed,
    /// Seen not to hold, or not seen because the samples do not show it.
    Failed,
    /// For people to look into.
    ByHand,
    /// Looked into by people and found to hold.
    Confirmed,
}

/// A requirement with what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ItemBody))]
pub struct GoLiveItem {
    /// Stable code.
    pub code: String,
    /// What must hold.
    pub text: String,
    /// `passed`, `failed`, `by_hand` for people to look into, or `confirmed` by them.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "passed"))]
    pub state: ItemState,
    /// What was seen, or the note of whoever confirmed it.
    pub detail: String,
}

/// The outcome of one sample request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SampleBody))]
pub struct SampleResult {
    /// The identifier under which it was sent.
    pub request_id: String,
    /// Options that passed.
    pub options: usize,
    /// Options that were dropped.
    pub dropped: usize,
    /// How long the partner's call took.
    pub elapsed_ms: u64,
    /// Code of the failure, where the partner gave no usable answer.
    #[cfg_attr(feature = "schema", schema(required))]
    pub failure: Option<String>,
    /// The failure in full, with what the partner wrote in place of an answer.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub error: Option<SampleError>,
    /// What was found in the answer, the gravest first: which rule dropped which option, and by what.
    #[serde(default)]
    pub found: Vec<SampleFinding>,
    /// How much more was found that is not listed.
    #[serde(default)]
    pub found_more: usize,
}

/// Why a sample has no usable answer. It is for the partner and the platform team alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SampleErrorBody))]
pub struct SampleError {
    /// Code of the failure.
    pub code: String,
    /// What went wrong, as the gateway understands it.
    pub message: String,
    /// What the partner wrote in place of an answer, as it wrote it and of bounded length; null where it wrote nothing.
    #[cfg_attr(feature = "schema", schema(required))]
    pub sent: Option<String>,
}

/// One thing found in the answer to a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SampleFindingBody))]
pub struct SampleFinding {
    /// Place of the option in the answer, from 0; null where the answer as a whole is concerned.
    #[cfg_attr(feature = "schema", schema(required))]
    pub option: Option<u32>,
    /// The option's identifier, where it can be read.
    #[cfg_attr(feature = "schema", schema(required))]
    pub option_id: Option<String>,
    /// `note`: it stayed; `drop`: it was taken out; `strike`: it was taken out, and counts towards suspension with live
    /// traffic.
    pub severity: Severity,
    /// Which rule, where and why; the pointer is into the option, or the payload where none is concerned.
    pub violation: Violation,
    /// What the partner sent at the pointer, as it wrote it and of bounded length; null where nothing is there.
    #[cfg_attr(feature = "schema", schema(required))]
    pub excerpt: Option<String>,
}

/// The outcome of a check. It is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoLiveReport {
    /// Who was checked.
    pub partner: PartnerId,
    /// For which intent.
    pub intent: String,
    /// Version of the contract that asked and judged.
    pub contract_version: String,
    /// Digest of its component.
    pub contract_digest: Digest,
    /// When the check began, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// The samples, in their order.
    pub samples: Vec<SampleResult>,
    /// The platform's own items, then the contract's in its order.
    pub items: Vec<GoLiveItem>,
}

impl GoLiveReport {
    /// Whether everything holds: nothing failed, and nothing waits for people.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.items.iter().all(|item| matches!(item.state, ItemState::Passed | ItemState::Confirmed))
    }

    /// Confirms items that people have looked into. Nothing is confirmed if one confirmation does not fit.
    ///
    /// # Errors
    /// [`ConfirmationError`] for the first that does not fit.
    pub fn confirm(&mut self, confirmations: &[Confirmation]) -> Result<(), ConfirmationError> {
        check_confirmations(confirmations, |code| {
            let item = self.items.iter().find(|item| item.code == code)?;
            Some(matches!(item.state, ItemState::ByHand | ItemState::Confirmed))
        })?;
        for Confirmation { code, note } in confirmations {
            for item in self.items.iter_mut().filter(|item| item.code == *code) {
                item.state = ItemState::Confirmed;
                item.detail.clone_from(note);
            }
        }
        Ok(())
    }
}

/// A person says that a requirement holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ConfirmationRequest))]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// The requirement's code.
    pub code: String,
    /// What was looked at.
    #[cfg_attr(feature = "schema", schema(max_length = 500))]
    pub note: String,
}

/// A confirmation that fits no requirement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmationError {
    /// The intent has no such requirement.
    #[error("the intent has no go-live requirement `{0}`")]
    Unknown(String),
    /// It is checked by the gateway, which nobody can overrule.
    #[error("the requirement `{0}` is checked by the gateway and cannot be confirmed")]
    NotByHand(String),
    /// It came twice.
    #[error("the requirement `{0}` is confirmed twice")]
    Twice(String),
    /// The note is empty or too long.
    #[error("the note on `{code}` has {chars} characters; expected 1 to {CONFIRMATION_NOTE_MAX_CHARS}")]
    Note {
        /// The requirement.
        code: String,
        /// Length of the note without the blanks around it.
        chars: usize,
    },
}

/// Why a check could not be made. A check that fails is a report, not an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoLiveError {
    /// There is no sample, or there are too many.
    #[error("there are {0} sample requests; expected 1 to {SAMPLES_MAX}")]
    SampleCount(usize),
    /// A sample is larger than a request may be.
    #[error("sample {sample} has {bytes} bytes; expected at most {REQUEST_BODY_MAX_BYTES}")]
    SampleTooLarge {
        /// Which, counted from 1.
        sample: usize,
        /// Its size.
        bytes: usize,
    },
    /// The contract refused a sample.
    #[error("sample {sample} was refused with {}", .refusal.code)]
    SampleRefused {
        /// Which, counted from 1.
        sample: usize,
        /// All that is wrong with it.
        refusal: Refusal,
    },
    /// The contract failed on a sample.
    #[error("the contract of the intent failed on sample {sample}")]
    Contract {
        /// Which, counted from 1.
        sample: usize,
        /// How.
        #[source]
        fault: ContractFault,
    },
    /// A confirmation fits no requirement.
    #[error("a confirmation does not fit")]
    Confirmation(#[from] ConfirmationError),
}

/// Checks confirmations against the requirements: `is_by_hand` tells of a code whether it is for people to confirm; nothing where there is no such requirement.
pub fn check_confirmations(
    confirmations: &[Confirmation],
    is_by_hand: impl Fn(&str) -> Option<bool>,
) -> Result<(), ConfirmationError> {
    for (index, Confirmation { code, note }) in confirmations.iter().enumerate() {
        match is_by_hand(code) {
            Some(true) => {}
            Some(false) => return Err(ConfirmationError::NotByHand(code.clone())),
            None => return Err(ConfirmationError::Unknown(code.clone())),
        }
        if confirmations[..index].iter().any(|earlier| earlier.code == *code) {
            return Err(ConfirmationError::Twice(code.clone()));
        }
        let chars = note.trim().chars().count();
        if chars == 0 || chars > CONFIRMATION_NOTE_MAX_CHARS {
            return Err(ConfirmationError::Note { code: code.clone(), chars });
        }
    }
    Ok(())
}

/// Runs go-live checks.
pub trait GoLiveCheck: Send + Sync {
    /// Checks one partner against one contract. `requests` are sample requests, JSON text.
    ///
    /// # Errors
    /// [`GoLiveError`] when the samples or confirmations are unfit, or the contract fails.
    fn run<'a>(
        &'a self,
        partner: Arc<Partner>,
        contract: Arc<dyn Contract>,
        requests: &'a [String],
        confirmed: &'a [Confirmation],
    ) -> BoxFuture<'a, Result<GoLiveReport, GoLiveError>>;
}
