//! What can go wrong, by type: an expected refusal is never confused with a fault.

use crate::contract::{Descriptor, Refusal};
use crate::faults::Told;
use crate::forbidden::FORBIDDEN_FIELD;
use crate::platform_code::PlatformCode;

/// What a partner says when a token is good, but grants too little (RFC 6750, 3.1).
pub const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// An error and all its causes in one line, outermost first.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// A contract failed to do its work. The caller's request is not to blame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractFault {
    /// It trapped: a panic, an illegal instruction, an exhausted stack.
    #[error("the contract trapped: {cause}")]
    Trap {
        /// Which trap it was, in the engine's words.
        cause: String,
        /// What the contract said before. No part of this error's text: it may repeat what a user wrote, and this text
        /// goes to logs.
        told: Option<Box<Told>>,
    },
    /// It ran past its deadline.
    #[error("the contract ran past its deadline of {0} ms")]
    DeadlineExceeded(u64),
    /// It asked for more memory than it may have.
    #[error("the contract asked for more than {0} bytes of memory")]
    OutOfMemory(usize),
    /// It returned more than it may.
    #[error("the contract returned more than {0} bytes")]
    OutputTooLarge(usize),
    /// What it returned breaks the rules of the interface.
    #[error("the contract returned something invalid: {0}")]
    InvalidOutput(String),
    /// No instance came free in time; the gateway is busy, the contract is not to blame.
    #[error("no instance of the contract came free within {0} ms")]
    Busy(u64),
}

impl ContractFault {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Trap { .. } => "CONTRACT_TRAP",
            Self::DeadlineExceeded(_) => "CONTRACT_DEADLINE",
            Self::OutOfMemory(_) => "CONTRACT_MEMORY",
            Self::OutputTooLarge(_) => "CONTRACT_OUTPUT_TOO_LARGE",
            Self::InvalidOutput(_) => "CONTRACT_INVALID_OUTPUT",
            Self::Busy(_) => "OVERLOADED",
        }
    }

    /// A trap of which the contract said nothing.
    #[must_use]
    pub fn trap(cause: impl Into<String>) -> Self {
        Self::Trap { cause: cause.into(), told: None }
    }

    /// What the contract said of it.
    #[must_use]
    pub fn told(&self) -> Option<&Told> {
        match self {
            Self::Trap { told, .. } => told.as_deref(),
            _ => None,
        }
    }

    /// The fault with what the contract said of it, in one line, for its author and the platform team.
    #[must_use]
    pub fn explain(&self) -> String {
        match self.told() {
            Some(told) => format!("{self}; it said {told}"),
            None => self.to_string(),
        }
    }

    /// Whether the version itself is to blame, so that it counts towards taking it out.
    #[must_use]
    pub fn counts_against_version(&self) -> bool {
        !matches!(self, Self::Busy(_))
    }
}

/// The outcome of a contract call that did not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    /// The contract judged the document and refused it.
    #[error("refused with {}", .0.code)]
    Refused(Refusal),
    /// The contract failed.
    #[error(transparent)]
    Fault(#[from] ContractFault),
}

/// Why a partner's call gave no payload. Each is the outcome of that partner alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// No answer within the time given.
    #[error("no answer within {0} ms")]
    Timeout(u64),
    /// The connection could not be made or broke before an answer.
    #[error("not reachable: {0}")]
    Unreachable(String),
    /// The address is not one that the gateway may call.
    #[error("the address is not allowed: {0}")]
    AddressRefused(String),
    /// The answer was a redirect, which is never followed.
    #[error("answered with a redirect ({0}), which is not followed")]
    Redirect(u16),
    /// The answer had another HTTP status than success.
    #[error("answered with HTTP status {0}")]
    HttpStatus(u16),
    /// The partner did not accept the call's authorisation, and named no way to get one.
    #[error("the partner asks for authorisation")]
    Unauthorized,
    /// The partner wants a user to sign in, or to grant more than so far, and says where (RFC 6750, 3; MCP,
    /// Authorization).
    #[error("the partner asks for a user's sign-in")]
    SignInRequired {
        /// The `Bearer` challenge of its `WWW-Authenticate` header, as the partner wrote it.
        challenge: String,
    },
    /// The partner asks to slow down.
    #[error("the partner asks to slow down")]
    RateLimited {
        /// What `Retry-After` said, milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The body was larger than allowed.
    #[error("the answer is larger than {0} bytes")]
    BodyTooLarge(usize),
    /// The answer is not what MCP prescribes.
    #[error("the answer breaks the protocol: {0}")]
    Protocol(String),
    /// The partner answered with an error of its own.
    #[error("the partner answered with the error {code}: {message}")]
    Platform {
        /// `platform_error_code`, or the one that the JSON-RPC code stands for.
        code: String,
        /// The partner's text, cut to a safe length.
        message: String,
        /// `platform_field`, where given.
        field: Option<String>,
    },
    /// The partner answered with an error that names no code of the intent's table or the platform's. Callers are told
    /// `INTERNAL_ERROR`.
    #[error("the partner answered with {}: {message}", describe_code(.sent.as_deref()))]
    UnknownCode {
        /// What it named, cut to a safe length; none where there was text alone.
        sent: Option<String>,
        /// The partner's text, cut to a safe length.
        message: String,
    },
    /// The payload is not what a search returns.
    #[error("the payload is not valid: {0}")]
    Payload(String),
    /// The payload held a forbidden field outside its options.
    #[error("the payload holds a forbidden field outside its options: {0}")]
    Forbidden(String),
    /// Too many calls to this partner are under way.
    #[error("too many calls to this partner are under way")]
    Busy,
    /// The partner was not called: a rate, its own request to slow down, or its health forbids it for now.
    #[error("the partner is not called at the moment: {why}")]
    NotCalled {
        /// What forbids it.
        why: NotCalled,
        /// When to ask again, milliseconds from now, where that is known.
        wait_ms: Option<u64>,
    },
}

/// What a partner named in the place of a code.
fn describe_code(sent: Option<&str>) -> String {
    sent.map_or_else(
        || "an error without a code".to_owned(),
        |sent| format!("the error {sent}, which is no code of the intent or of the platform"),
    )
}

/// Why a partner is not called at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCalled {
    /// It asked to slow down.
    BackOff,
    /// The contract's rate for the tool.
    PartnerRate,
    /// The user's own rate.
    UserRate,
    /// More partners and users are active than are counted.
    Crowded,
    /// Its server is down: its breaker is open.
    Down,
}

impl std::fmt::Display for NotCalled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::BackOff => "it asked to slow down",
            Self::PartnerRate => "the contract's rate for the tool is used up",
            Self::UserRate => "the user's rate is used up",
            Self::Crowded => "too many partners and users are active",
            Self::Down => "its server is down",
        })
    }
}

impl CallFailure {
    /// The same, judged by the codes that a partner may answer with: those of the intent's error table and the platform's
    /// own (spec 1, Errors, rule 1). Any other one is not a code.
    #[must_use]
    pub fn under(self, descriptor: &Descriptor) -> Self {
        match self {
            Self::Platform { code, message, .. }
                if descriptor.error(&code).is_none() && PlatformCode::parse(&code).is_none() =>
            {
                Self::UnknownCode { sent: Some(code), message }
            }
            failure => failure,
        }
    }

    /// The platform's own code that the partner answered with, where it did.
    #[must_use]
    pub fn platform_code(&self) -> Option<PlatformCode> {
        match self {
            Self::RateLimited { .. } => Some(PlatformCode::RateLimited),
            Self::Unauthorized => Some(PlatformCode::InvalidAuth),
            Self::Platform { code, .. } => PlatformCode::parse(code),
            _ => None,
        }
    }

    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Timeout(_) => "PARTNER_TIMEOUT",
            Self::Unreachable(_) => "PARTNER_UNREACHABLE",
            Self::AddressRefused(_) => "PARTNER_ADDRESS_REFUSED",
            Self::Redirect(_) => "PARTNER_REDIRECT",
            Self::HttpStatus(_) => "PARTNER_HTTP_ERROR",
            Self::Unauthorized => PlatformCode::InvalidAuth.as_str(),
            Self::SignInRequired { .. } => "SIGN_IN_REQUIRED",
            Self::RateLimited { .. } => PlatformCode::RateLimited.as_str(),
            Self::BodyTooLarge(_) => "PARTNER_BODY_TOO_LARGE",
            Self::Protocol(_) => "PARTNER_PROTOCOL_ERROR",
            Self::Platform { code, .. } => code,
            Self::UnknownCode { .. } => PlatformCode::InternalError.as_str(),
            Self::Payload(_) => "PARTNER_PAYLOAD_INVALID",
            Self::Forbidden(_) => FORBIDDEN_FIELD,
            Self::Busy => "PARTNER_BUSY",
            Self::NotCalled { why: NotCalled::Down, .. } => "PARTNER_DOWN",
            Self::NotCalled { .. } => PlatformCode::RateLimited.as_str(),
        }
    }
}
