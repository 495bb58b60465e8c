//! What a contract says, in the domain's own types: the mirror of `wit/contract.wit`, free of wasmtime.
//!
//! The sandbox converts between these and the component's types; nothing else knows both.

mod calls;
mod descriptor;
mod order;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::platform_code::PlatformCode;

pub use calls::*;
pub use descriptor::*;
pub use order::*;

/// One breach of one rule at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Violation {
    /// JSON Pointer (RFC 6901) into the document that was judged; the empty text is the whole of it.
    pub pointer: String,
    /// Stable code in UPPER_SNAKE_CASE.
    pub code: String,
    /// One sentence for a person.
    pub message: String,
}

impl Violation {
    /// The same violation of a document that stands at `at` in a larger one.
    #[must_use]
    pub fn within(self, at: &str) -> Self {
        Self { pointer: format!("{at}{}", self.pointer), ..self }
    }
}

/// A document was refused, with every violation found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Code of the intent's error table, `INVALID_REQUEST` where nothing finer fits.
    pub code: String,
    /// All violations, in document order.
    pub violations: Vec<Violation>,
}

impl Refusal {
    /// Under `INVALID_REQUEST`.
    #[must_use]
    pub fn invalid_request(violations: Vec<Violation>) -> Self {
        Self { code: PlatformCode::InvalidRequest.as_str().to_owned(), violations }
    }

    /// Of a partner's answer: under `INTERNAL_ERROR`, as contracts refuse one (spec 1, Errors).
    #[must_use]
    pub fn invalid_answer(violations: Vec<Violation>) -> Self {
        Self { code: PlatformCode::InternalError.as_str().to_owned(), violations }
    }
}

/// One number for each TTBS axis, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// Speed of fulfilment.
    pub time: f64,
    /// Quality and curation.
    pub taste: f64,
    /// Value for money.
    pub budget: f64,
    /// Trust and verification.
    pub safety: f64,
}

impl Axes {
    /// What an undeclared signal counts as (spec 1, `_meta.platform`: each 0.5).
    pub const UNDECLARED: Self = Self { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };

    /// The four values, in the order time, taste, budget, safety.
    #[must_use]
    pub fn values(&self) -> [f64; 4] {
        [self.time, self.taste, self.budget, self.safety]
    }
}

impl Default for Axes {
    fn default() -> Self {
        Self::UNDECLARED
    }
}

/// A TTBS axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Speed of fulfilment.
    Time,
    /// Quality and curation.
    Taste,
    /// Value for money.
    Budget,
    /// Trust and verification.
    Safety,
}

impl Axis {
    /// As it is named on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Taste => "taste",
            Self::Budget => "budget",
            Self::Safety => "safety",
        }
    }
}

/// What a call may know of the world outside its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallContext {
    /// Identifier of the request; also breaks ties in a ranking.
    pub request_id: String,
    /// The host's time for this call.
    pub now: Timestamp,
}
