//! Completion reports: the signature, the members that every intent's report has, and what makes two reports the same.
//!
//! A report is read here once its signature is known to be right, and before the contract judges it: what the ledger
//! books comes from this reading, and [`Report::confirm`] sees to it that the contract has read the same. Not here:
//! the members of one intent and its rules (contracts), what is booked ([`ledger`](crate)), storing, HTTP.

mod amounts;
mod content;
pub mod intake;
pub mod keyring;
pub mod rate;
mod refusal;
pub mod signature;
pub mod test_reports;
#[cfg(test)]
mod tests;
pub mod unsigned;

use std::borrow::Cow;

use serde_json::value::RawValue;

pub use amounts::Amounts;

use content::Members;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{CheckedCompletion, Completion, Refusal, Violation};
use intent_gateway_domain::datetime;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::violations::{Violations, code, longer_than, quote};

/// Largest body of a report, bytes: what the edge admits before the signature is looked at.
pub const REPORT_MAX_BYTES: usize = 64 * 1024;
/// Completion reports under way at once: as many as may wait to be booked.
pub const REPORTS_IN_FLIGHT_MAX: usize = 4_096;
/// Longest `external_id`, characters.
pub(crate) const EXTERNAL_ID_MAX_CHARS: usize = 200;
/// Longest `status`, characters.
pub(crate) const STATUS_MAX_CHARS: usize = 64;
/// Longest `closed_at`, characters: one with nine decimals of a second has 35.
const CLOSED_AT_MAX_CHARS: usize = 40;
/// Longest `intent`, characters.
const INTENT_MAX_CHARS: usize = 128;
/// How far ahead of the gateway's clock an order may have closed without a finding: what clocks may differ by.
pub(crate) const CLOSED_AHEAD_MAX_MS: u64 = signature::WINDOW_MS;

/// The body is no JSON text in UTF-8.
const INVALID_JSON: &str = "INVALID_JSON";
/// A finding: the order is said to close later than now.
pub const CLOSED_IN_FUTURE: &str = "CLOSED_IN_FUTURE";

/// The members that every completion report has (spec 1, Completion report). All of them are required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The intent that the order was made under. Whether it exists is for the catalogue to say.
    pub intent: IntentId,
    /// The partner's order, booking or policy identifier.
    pub external_id: String,
    /// The request that the order came from.
    pub request_id: String,
    /// What was paid, by kind.
    pub amounts: Amounts,
    /// When the order closed, milliseconds since the epoch.
    pub closed_at: Timestamp,
    /// How it ended. Which statuses there are is for the contract to say.
    pub status: String,
    /// Digest of the whole report as a JSON value, members of the intent included: the same for every way to write it.
    pub content: Digest,
}

/// A body that is not a report, with what of it could be read all the same.
#[derive(Debug)]
pub(crate) struct Malformed {
    /// `INVALID_REQUEST` with every violation of the common members.
    pub(crate) refusal: Refusal,
    /// The intent, where the body is an object that names one: its contract can judge the rest.
    pub(crate) intent: Option<IntentId>,
    pub(crate) external_id: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) stated: Box<Stated>,
}

/// What of a report its contract's descriptor has a say in, as far as it could be read.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    status: Option<String>,
    /// In the order of [`amounts::MEMBERS`].
    amounts: [Option<Paise>; amounts::MEMBERS.len()],
}

impl Stated {
    /// What the descriptor does not allow.
    pub(crate) fn breaches(&self, declared: &Completion) -> Vec<Violation> {
        let mut found = Violations::default();
        if let Some(status) = self.status.as_ref().filter(|status| !declared.statuses.contains(status)) {
            let message = format!("expected one of {}, found {}", declared.statuses.join(", "), quote(status));
            found.push("/status", code::NOT_IN_VOCABULARY, message);
        }
        push_excessive_amounts(self.amounts, declared, &mut found);
        found.into_vec()
    }
}

/// Amounts that are beyond what the intent's contract states.
fn push_excessive_amounts(
    amounts: [Option<Paise>; amounts::MEMBERS.len()],
    declared: &Completion,
    found: &mut Violations,
) {
    let most = declared.amount_max();
    for (name, amount) in amounts::MEMBERS.into_iter().zip(amounts) {
        if let Some(amount) = amount.filter(|amount| *amount > most) {
            let message = format!("expected at most {most} for an order of this intent, found {amount}");
            found.push(format!("/{name}"), code::OUT_OF_RANGE, message);
        }
    }
}

/// What a report is booked under, once (design: Completion).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportKey {
    /// Who reported.
    pub partner: PartnerId,
    pub intent: IntentId,
    /// The partner's identifier of the order.
    pub external_id: String,
}

/// What a report is to those that came before under the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// None came before: it is booked.
    First,
    /// The same came before: its receipt is given again, nothing is booked.
    Repeat,
    /// Another came before: refused with `IDEMPOTENCY_CONFLICT`.
    Conflict,
}

impl Arrival {
    /// Compares a report with the content that was last booked under its key, whether or not that entry was taken back
    /// since: what the platform team has taken back is not booked again because the partner sends it again.
    #[must_use]
    pub(crate) fn of(report: &Report, kept: Option<Digest>) -> Self {
        match kept {
            None => Self::First,
            Some(kept) if kept == report.content => Self::Repeat,
            Some(_) => Self::Conflict,
        }
    }
}

impl Report {
    /// Reads a report out of a body whose signature was verified.
    ///
    /// A member name that occurs twice in one object, at any depth, is refused: otherwise the contract and the ledger
    /// could each read another one.
    ///
    /// # Errors
    /// `INVALID_REQUEST` with every violation.
    pub fn parse(body: &[u8]) -> Result<Self, Refusal> {
        Self::read(body).map_err(|malformed| malformed.refusal)
    }

    /// As [`parse`](Self::parse), with what could be read of a body that is refused.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Malformed> {
        let mut found = Violations::default();
        let read = read(body, &mut found).unwrap_or_default();
        let ReadMembers { intent, external_id, request_id, amounts, closed_at, status, content } = read;
        if found.is_empty()
            && let (Some(intent), Some(external_id), Some(request_id)) = (&intent, &external_id, &request_id)
            && let (Some(closed_at), Some(status), Some(content)) = (closed_at, &status, content)
            && let [Some(amount), Some(gst), Some(tips), Some(pass_through)] = amounts
        {
            let (intent, external_id, request_id) = (intent.clone(), external_id.clone(), request_id.clone());
            let (amounts, status) = (Amounts { amount, gst, tips, pass_through }, status.clone());
            return Ok(Self { intent, external_id, request_id, amounts, closed_at, status, content });
        }
        let refusal = Refusal::invalid_request(found.into_vec());
        Err(Malformed { refusal, intent, external_id, request_id, stated: Box::new(Stated { status, amounts }) })
    }

    /// The key of this report when it comes from `partner`.
    #[must_use]
    pub fn key(&self, partner: &PartnerId) -> ReportKey {
        ReportKey { partner: partner.clone(), intent: self.intent.clone(), external_id: self.external_id.clone() }
    }

    /// What is accepted and marked for review, whatever the contract finds besides.
    #[must_use]
    pub fn findings(&self, received_at: Timestamp) -> Vec<Violation> {
        if self.closed_at <= received_at.plus_ms(CLOSED_AHEAD_MAX_MS) {
            return Vec::new();
        }
        let message = "The order is said to close later than the report came; it counts in the month it came in.";
        vec![Violation {
            pointer: "/closed_at".to_owned(),
            code: CLOSED_IN_FUTURE.to_owned(),
            message: message.to_owned(),
        }]
    }

    /// What of it the contract's descriptor has a say in.
    pub(crate) fn read_stated(&self) -> Stated {
        Stated { status: Some(self.status.clone()), amounts: self.read_amounts() }
    }

    fn read_amounts(&self) -> [Option<Paise>; amounts::MEMBERS.len()] {
        let Amounts { amount, gst, tips, pass_through } = self.amounts;
        [amount, gst, tips, pass_through].map(Some)
    }

    /// Sees to it that no amount is beyond what the intent's contract states, whatever the contract itself makes of it.
    ///
    /// # Errors
    /// `INVALID_REQUEST` with each amount that is.
    pub fn check_amounts(&self, declared: &Completion) -> Result<(), Refusal> {
        let mut found = Violations::default();
        push_excessive_amounts(self.read_amounts(), declared, &mut found);
        if found.is_empty() { Ok(()) } else { Err(Refusal::invalid_request(found.into_vec())) }
    }

    /// Sees to it that the contract has judged this report and no other.
    ///
    /// # Errors
    /// [`ContractFault::InvalidOutput`] when what the contract gives back differs from what was read here.
    pub fn confirm(&self, checked: &CheckedCompletion) -> Result<(), ContractFault> {
        let differs = [
            ("external_id", checked.external_id != self.external_id),
            ("request_id", checked.request_id != self.request_id),
            ("status", checked.status != self.status),
            ("amount_inr", checked.amount_paise != self.amounts.amount.get()),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            None => Ok(()),
            Some((member, _)) => {
                Err(ContractFault::InvalidOutput(format!("its reading of `{member}` is not what the report says")))
            }
        }
    }
}

/// The common members of an object, as far as they could be read.
#[derive(Default)]
struct ReadMembers {
    intent: Option<IntentId>,
    external_id: Option<String>,
    request_id: Option<String>,
    amounts: [Option<Paise>; amounts::MEMBERS.len()],
    closed_at: Option<Timestamp>,
    status: Option<String>,
    content: Option<Digest>,
}

/// Reads the common members and notes what is wrong; none where the body is not an object.
fn read(body: &[u8], found: &mut Violations) -> Option<ReadMembers> {
    let raw: &RawValue = match std::str::from_utf8(body).map(serde_json::from_str) {
        Ok(Ok(raw)) => raw,
        Ok(Err(error)) => {
            found.push("", INVALID_JSON, format!("the body is no JSON text: {error}"));
            return None;
        }
        Err(error) => {
            found.push("", INVALID_JSON, format!("the body is no UTF-8 text from byte {} on", error.valid_up_to()));
            return None;
        }
    };
    let Some(members) = Members::read(raw) else {
        if raw.get().starts_with('{') {
            found.push("", INVALID_JSON, content::NAME_IS_NO_TEXT);
        } else {
            let message = format!("the report must be an object, found {}", content::kind(raw));
            found.push("", code::WRONG_TYPE, message);
        }
        return None;
    };
    let mut fields = Fields { members: &members, found };
    let intent = fields.intent();
    let external_id = fields.text("external_id", EXTERNAL_ID_MAX_CHARS);
    let request_id = fields.text("request_id", REQUEST_ID_MAX_CHARS);
    let amounts = fields.amounts();
    let closed_at = fields.closed_at();
    let status = fields.text("status", STATUS_MAX_CHARS);
    let content = content::digest(&members, found);
    Some(ReadMembers {
        intent,
        external_id: external_id.map(Cow::into_owned),
        request_id: request_id.map(Cow::into_owned),
        amounts,
        closed_at,
        status: status.map(Cow::into_owned),
        content: Some(content),
    })
}

/// Reads the members of a report one by one, and notes what is wrong with each.
struct Fields<'a, 'f> {
    members: &'f Members<'a>,
    found: &'f mut Violations,
}

impl<'a> Fields<'a, '_> {
    fn refuse(&mut self, name: &str, code: &str, message: impl Into<String>) {
        self.found.push(format!("/{name}"), code, message);
    }

    fn require(&mut self, name: &str) -> Option<&'a RawValue> {
        let value = self.members.get(name);
        if value.is_none() {
            self.refuse(name, code::REQUIRED, format!("`{name}` is required"));
        }
        value
    }

    /// A text that says something, fits a column of a statement and holds no control character.
    fn text(&mut self, name: &str, max_chars: usize) -> Option<Cow<'a, str>> {
        let raw = self.require(name)?;
        let Some(text) = content::text(raw) else {
            // A string that is none, for example half a surrogate pair, is told with the content.
            if !raw.get().starts_with('"') {
                self.refuse(name, code::WRONG_TYPE, format!("expected a string, found {}", content::kind(raw)));
            }
            return None;
        };
        if text.trim().is_empty() {
            self.refuse(name, code::EMPTY, format!("`{name}` must not be empty"));
        } else if longer_than(&text, max_chars) {
            self.refuse(name, code::TOO_LONG, format!("`{name}` has more than {max_chars} characters"));
        } else if text.chars().any(char::is_control) {
            self.refuse(name, code::CONTROL_CHARACTER, format!("`{name}` holds a control character"));
        } else {
            return Some(text);
        }
        None
    }

    fn intent(&mut self) -> Option<IntentId> {
        let text = self.text("intent", INTENT_MAX_CHARS)?;
        let intent = IntentId::parse(&text).ok();
        if intent.is_none() {
            let message = format!("expected `<domain>.<name>` in lower snake case, found {}", quote(&text));
            self.refuse("intent", code::BAD_FORMAT, message);
        }
        intent
    }

    fn amounts(&mut self) -> [Option<Paise>; amounts::MEMBERS.len()] {
        amounts::MEMBERS.map(|name| {
            let raw = self.require(name)?;
            amounts::read(raw).map_err(|wrong| self.refuse(name, wrong.code(), wrong.message(raw))).ok()
        })
    }

    fn closed_at(&mut self) -> Option<Timestamp> {
        let text = self.text("closed_at", CLOSED_AT_MAX_CHARS)?;
        let expected = match datetime::instant_ms(&text).map(u64::try_from) {
            Some(Ok(ms)) => return Some(Timestamp::from_ms(ms)),
            Some(Err(_)) => (code::OUT_OF_RANGE, "a time after 1970"),
            None => (code::BAD_FORMAT, "a datetime with `T` and an offset, for example 2026-05-04T10:00:00+05:30"),
        };
        self.refuse("closed_at", expected.0, format!("expected {}, found {}", expected.1, quote(&text)));
        None
    }
}
