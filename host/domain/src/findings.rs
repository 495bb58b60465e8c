//! Findings: what the platform team and the partner itself should know of its answers and completion reports.
//!
//! A finding holds an excerpt of what the partner sent, so that nobody has to guess what a rule was broken with. It goes
//! to that partner and to the platform team, and to nobody else.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::contract::Violation;
use crate::id::{IntentId, PartnerId};
use crate::pointer;

/// Characters of an excerpt; what is longer is cut and ends with `…`.
pub const EXCERPT_MAX_CHARS: usize = 200;
/// Time over which findings are counted day by day, milliseconds: 30 days.
pub const COUNT_WINDOW_MS: u64 = 30 * DAY_MS;
/// A day, milliseconds.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// How far days of Indian Standard Time begin before those of UTC, milliseconds.
pub const IST_AHEAD_MS: u64 = (5 * 60 + 30) * 60 * 1_000;
/// Rows of one count by day, at most.
pub const COUNTS_MAX: u32 = 1_000;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The option stayed in the ranking; the report was booked.
    Note,
    /// The option, or the whole answer, was dropped.
    Drop,
    /// Dropped, and counts towards the partner's suspension.
    Strike,
}

impl Severity {
    /// As it is named on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Drop => "drop",
            Self::Strike => "strike",
        }
    }
}

impl Severity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Note, Self::Drop, Self::Strike];

    /// The severity of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// Where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = FindingSource))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In the answer to a search.
    Search,
    /// In the answer of another tool.
    Call,
    /// In a signed completion report, booked or refused.
    Report,
    /// By the platform team itself.
    Team,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Search, Self::Call, Self::Report, Self::Team];

    /// As it is named on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Call => "call",
            Self::Report => "report",
            Self::Team => "team",
        }
    }

    /// The source of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// One thing found in a partner's answer or completion report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// When, milliseconds since the epoch.
    pub at_ms: Timestamp,
    /// Against whom.
    pub partner: PartnerId,
    /// The intent concerned.
    pub intent: String,
    /// The request in whose answer it was found, or that the reported order came from.
    pub request_id: String,
    /// Where it was found; absent for what an earlier release has kept.
    pub source: Option<Source>,
    /// Place of the option in the answer, from 0, where the finding concerns an option of a search.
    pub option_place: Option<u32>,
    /// The option's identifier, where the finding concerns one and it can be read.
    pub option_id: Option<String>,
    /// The partner's identifier of the order, where the finding concerns one.
    pub external_id: Option<String>,
    /// How grave.
    pub severity: Severity,
    /// What; the pointer is into the option, the report, or the payload where neither is concerned.
    pub violation: Violation,
    /// What the partner sent at the pointer, as it wrote it, at most [`EXCERPT_MAX_CHARS`] characters; absent where
    /// nothing is there.
    pub excerpt: Option<String>,
}

/// A finding with its number in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptFinding {
    /// Greater than that of any finding kept before it.
    pub number: u64,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// Which findings against a partner are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FindingQuery<'a> {
    /// Against whom.
    pub partner: &'a str,
    /// Only those with a number below it.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u32,
    /// Only those of one severity.
    pub severity: Option<Severity>,
    /// Only those of one source.
    pub source: Option<Source>,
    /// Only those of one intent.
    pub intent: Option<&'a str>,
    /// Only those of one rule.
    pub code: Option<&'a str>,
}

impl<'a> FindingQuery<'a> {
    /// All findings against a partner, a page at a time.
    #[must_use]
    pub fn all(partner: &'a str, before: Option<u64>, limit: u32) -> Self {
        Self { partner, before, limit, severity: None, source: None, intent: None, code: None }
    }

    /// Whether a finding is one of those asked for; its number is not looked at.
    #[must_use]
    pub fn admits(&self, finding: &Finding) -> bool {
        finding.partner.as_str() == self.partner
            && self.severity.is_none_or(|severity| finding.severity == severity)
            && self.source.is_none_or(|source| finding.source == Some(source))
            && self.intent.is_none_or(|intent| finding.intent == intent)
            && self.code.is_none_or(|code| finding.violation.code == code)
    }
}

/// What identifies the findings about one order.
#[derive(Clone, Copy, Debug)]
pub struct FindingsAbout<'a> {
    /// The partner that it was placed with.
    pub partner: &'a PartnerId,
    pub intent: &'a IntentId,
    /// The search that showed what was ordered: its request identifier, and the option's.
    pub shown: (&'a str, &'a str),
    /// Request identifiers of the calls of the order.
    pub calls: &'a [&'a str],
    /// What its partner calls it.
    pub external_ids: &'a [&'a str],
    /// At most so many.
    pub limit: u32,
}

impl FindingsAbout<'_> {
    /// Whether a finding is about the order: found in the option that was ordered, in an answer to one of its calls, or in a
    /// report of it.
    #[must_use]
    pub fn admits(&self, finding: &Finding) -> bool {
        let Finding { partner, intent, request_id, source, option_id, external_id, .. } = finding;
        let is_one_of = |known: &[&str], text: &str| known.contains(&text);
        let shown = (request_id.as_str(), option_id.as_deref().unwrap_or_default());
        (partner, intent.as_str()) == (self.partner, self.intent.as_str())
            && (external_id.as_ref().is_some_and(|id| is_one_of(self.external_ids, id))
                || (*source == Some(Source::Call) && is_one_of(self.calls, request_id))
                || (*source == Some(Source::Search) && shown == self.shown))
    }
}

/// Of a partner's findings, so many of the latest are looked through for those about an order.
pub const LOOKED_THROUGH_MAX: u32 = 100_000;

/// How often one rule was broken on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// When the day began, by Indian Standard Time.
    pub day: Timestamp,
    /// The intent concerned.
    pub intent: String,
    /// Code of the rule.
    pub code: String,
    /// How grave.
    pub severity: Severity,
    /// How often.
    pub count: u64,
}

/// The number of the day of Indian Standard Time that a time lies on.
#[must_use]
pub fn day_number(at: Timestamp) -> u64 {
    at.plus_ms(IST_AHEAD_MS).as_ms() / DAY_MS
}

/// When the day of a number began.
#[must_use]
pub fn day_start(number: u64) -> Timestamp {
    Timestamp::from_ms(number.saturating_mul(DAY_MS)).minus_ms(IST_AHEAD_MS)
}

/// What stands at a pointer of a document, as it is written there, cut to [`EXCERPT_MAX_CHARS`]. None where nothing stands
/// there, and for the document as a whole: an excerpt never takes the place of the answer.
#[must_use]
pub fn excerpt(document: &str, pointer: &str) -> Option<String> {
    if pointer.is_empty() {
        return None;
    }
    pointer::find(document, pointer).map(|found| cut(found.get(), EXCERPT_MAX_CHARS))
}

/// A text that a partner wrote, on one line and at most so many characters long.
#[must_use]
pub fn cut(text: &str, max_chars: usize) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = chars.by_ref().take(max_chars).collect();
    if chars.next().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_what_stands_at_the_pointer_as_it_was_written() {
        let option = r#"{"id": "s1", "a/b": {"price": 1.50}, "parts": [{"n": 1}, {"n": "two\nlines"}], "none": null}"#;
        let at = |pointer: &str| excerpt(option, pointer);
        assert_eq!(at("/a~1b/price").as_deref(), Some("1.50"));
        assert_eq!(at("/parts/1").as_deref(), Some(r#"{"n": "two\nlines"}"#));
        assert_eq!(at("/none").as_deref(), Some("null"));
        for nothing in ["", "/missing", "/parts/2", "/parts/x", "/id/deeper", "/none/x"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
        assert_eq!(excerpt("no JSON", "/id"), None);
    }

    #[test]
    fn an_excerpt_is_bounded_and_on_one_line() {
        let long = format!(r#"{{"text": "{}"}}"#, "☂".repeat(1_000));
        let shown = excerpt(&long, "/text").expect("there");
        assert_eq!((shown.chars().count(), shown.ends_with('…')), (EXCERPT_MAX_CHARS, true), "{shown}");
        assert_eq!(cut("a\r\nb\u{1b}c", 9), "a  b c");
        assert_eq!((cut("abc", 3), cut("abcd", 3)), ("abc".to_owned(), "ab…".to_owned()));
    }

    #[test]
    fn days_are_those_of_indian_standard_time() {
        // 2026-01-01T18:30Z is the first moment of the second of January in India.
        let midnight = Timestamp::from_ms(1_767_292_200_000);
        assert_eq!(day_number(midnight), day_number(midnight.minus_ms(1)) + 1);
        assert_eq!(day_start(day_number(midnight.plus_ms(DAY_MS - 1))), midnight);
    }

    #[test]
    fn names_are_read_back() {
        assert!(Severity::ALL.iter().all(|one| Severity::parse(one.as_str()) == Some(*one)));
        assert!(Source::ALL.iter().all(|one| Source::parse(one.as_str()) == Some(*one)));
        assert_eq!((Severity::parse("grave"), Source::parse("")), (None, None));
    }
}
