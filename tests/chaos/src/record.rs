//! What was asked, and what came of it.

use std::fmt;

/// What is asked of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// A search; every partner that is well must have options in its answer.
    Search,
    /// A booking by reference, under a key.
    Book,
    /// A signed completion report.
    Report,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Search => "search",
            Self::Book => "booking",
            Self::Report => "report",
        })
    }
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// With all that was asked for.
    Full,
    /// With a success that lacks something: options of a partner that is well.
    InPart,
    /// With this status and the code of the error.
    Refused(u16, String),
    /// No connection was made: nothing was sent.
    NoConnection,
    /// The connection broke before the answer was whole.
    Broken,
    /// Nothing came in time.
    TimedOut,
}

impl Outcome {
    /// Whether it is certain that nothing was done: nothing was sent, or the refusal says so.
    #[must_use]
    pub fn did_nothing(&self) -> bool {
        /// Codes that are told before anything is done.
        const BEFORE: [&str; 6] =
            ["OVERLOADED", "PARTNER_DOWN", "PARTNER_BUSY", "RATE_LIMITED", "INVALID_AUTH", "TIMESTAMP_OUT_OF_WINDOW"];
        match self {
            Self::NoConnection => true,
            Self::Refused(_, code) => BEFORE.contains(&code.as_str()),
            Self::Full | Self::InPart | Self::Broken | Self::TimedOut => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("200"),
            Self::InPart => f.write_str("200 in part"),
            Self::Refused(status, code) => write!(f, "{status} {code}"),
            Self::NoConnection => f.write_str("no connection"),
            Self::Broken => f.write_str("connection broken"),
            Self::TimedOut => f.write_str("no answer"),
        }
    }
}

/// One request. Times are milliseconds since the load began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What was asked.
    pub call: Call,
    /// Which gateway.
    pub gateway: usize,
    /// Which of the partners that have faults it concerns, if one of them.
    pub faulty_partner: Option<usize>,
    /// When it was sent.
    pub began_ms: u64,
    /// When it had ended.
    pub ended_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether a refusal says when to come again.
    pub says_when: bool,
    /// Whether nothing was asked before under its key.
    pub is_first: bool,
    /// Whether one before it, under its key, may have done something without an answer.
    pub is_in_doubt: bool,
}

/// A fault that was injected. Times are milliseconds since the load began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected {
    /// What went wrong.
    pub kind: crate::plan::Kind,
    /// Where.
    pub place: crate::plan::Place,
    /// When it began.
    pub began_ms: u64,
    /// When it was over: for a gateway that was down, when it served again.
    pub ended_ms: u64,
}

impl Injected {
    /// Whether requests at a gateway can notice it.
    #[must_use]
    pub fn concerns(&self, gateway: usize) -> bool {
        use crate::plan::{ON_SQLITE, Place};
        match self.place {
            Place::Gateway(of) => of == gateway,
            Place::Postgres => gateway != ON_SQLITE,
            Place::Partner(_) | Place::Everywhere => true,
        }
    }
}
