//! Fields that no partner's answer may hold: the platform's own list (spec 1, What the service does, 7), what a contract
//! adds to it, and when a name or a value breaks either.
//!
//! Names are compared as whole names under their [`form`], so that neither case, separators, letters that look alike nor
//! characters that are not seen make another name of one. Not here: how an answer is searched (`routing::scan`).

mod form;

use serde_json::Value;

use self::form::{Ends, Form};
use crate::contract::{Breach, ForbiddenField, Tool};
use crate::json_schema::{self, Member};

/// Code of every violation of this list.
pub const FORBIDDEN_FIELD: &str = "FORBIDDEN_FIELD";

const PAID: &str = "placement is never paid for";
const SHAPED: &str = "answers are not shaped by commission";
const REAL: &str = "photos show what is real";

/// The platform's own list.
pub const PLATFORM_FIELDS: [(&str, Breach, &str); 11] = [
    ("paid_placement_score", Breach::Present, PAID),
    ("ad_bid", Breach::Present, PAID),
    ("sponsored_rank", Breach::Present, PAID),
    ("promotion_priority", Breach::Present, PAID),
    ("kickback_amount", Breach::Present, SHAPED),
    ("referral_fee_kickback", Breach::Present, SHAPED),
    ("_partner_revenue_share", Breach::Present, SHAPED),
    ("artificial_urgency_text", Breach::UnlessEmpty, "no intent defines inventory data that could back it"),
    ("ai_generated_photo", Breach::UnlessFalse, REAL),
    ("ai_generated_photos", Breach::UnlessFalse, REAL),
    ("photo_ai_generated", Breach::UnlessFalse, REAL),
];

/// What a value is, as far as a conditional rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    False,
    Null,
    EmptyString,
    Other,
}

/// One rule. A name may have two, the platform's and the contract's: a contract can add and never relax.
#[derive(Clone, Copy, Debug)]
pub struct Rule<'a> {
    /// The field as it is listed.
    pub name: &'a str,
    /// Why.
    pub reason: &'a str,
    breach: Breach,
    form: Form,
}

impl Rule<'_> {
    fn is_broken(&self, kind: Kind) -> bool {
        match self.breach {
            Breach::Present => true,
            Breach::UnlessFalse => kind != Kind::False,
            Breach::UnlessEmpty => !matches!(kind, Kind::Null | Kind::EmptyString),
        }
    }
}

/// The platform's list together with one contract's.
#[derive(Clone, Debug)]
pub struct ForbiddenFields<'a> {
    rules: Vec<Rule<'a>>,
    ends: Ends,
}

impl<'a> ForbiddenFields<'a> {
    /// The platform's fields and those that a contract adds. Cheap: nothing is copied but the rules themselves. A contract's
    /// field that [`problems`] names counts for nothing.
    #[must_use]
    pub fn new(additional: &'a [ForbiddenField]) -> Self {
        let platform = PLATFORM_FIELDS.iter().map(|(name, breach, reason)| (*name, *breach, *reason));
        let contract = additional.iter().map(|field| (field.name.as_str(), field.breach, field.reason.as_str()));
        let rules = platform.chain(contract).filter_map(|(name, breach, reason)| {
            Some(Rule { name, reason, breach, form: Form::of_ascii(name.as_bytes())? })
        });
        let rules: Vec<Rule<'a>> = rules.collect();
        let ends = Ends::of(rules.iter().map(|rule| &rule.form));
        Self { rules, ends }
    }

    /// The rule that a member of this name and value breaks; the first of the list.
    #[must_use]
    pub fn broken_by(&self, name: &str, kind: Kind) -> Option<&Rule<'a>> {
        if name.is_ascii() && !self.ends.may_be(name.as_bytes()) {
            return None;
        }
        Form::of(name).find_map(|form| self.broken_in(form, kind))
    }

    /// The same of a name in ASCII, whose value is looked at only where the name is one of them; for other names it says nothing.
    #[inline]
    #[must_use]
    pub fn broken_by_ascii(&self, name: &[u8], kind: impl Fn() -> Kind) -> Option<&Rule<'a>> {
        if !self.ends.may_be(name) {
            return None;
        }
        self.rules.iter().find(|rule| rule.form.is_of_ascii(name) && rule.is_broken(kind()))
    }

    fn broken_in(&self, form: Form, kind: Kind) -> Option<&Rule<'a>> {
        self.rules.iter().find(|rule| rule.form == form && rule.is_broken(kind))
    }
}

/// What is wrong with what a contract forbids, in sentences: names that cannot be compared, and members of its own answers
/// that would be breaches, its partners' whatever they do.
#[must_use]
pub fn problems(additional: &[ForbiddenField], options_key: &str, tools: &[Tool]) -> Vec<String> {
    let nameless = additional.iter().filter(|field| Form::of_ascii(field.name.as_bytes()).is_none());
    let mut found: Vec<String> = nameless
        .map(|field| {
            format!(
                "the forbidden field `{}` cannot be compared; expected a name in ASCII with 1 to {} letters and digits",
                field.name,
                form::FORM_MAX_BYTES / 2
            )
        })
        .collect();
    let fields = ForbiddenFields::new(additional);
    if let Some(rule) = fields.broken_by(options_key, Kind::Other) {
        found.push(format!(
            "`search.options-key` is `{options_key}`, which the forbidden field `{}` stands for",
            rule.name
        ));
    }
    for tool in tools {
        // A descriptor holds objects alone; what cannot be read is named elsewhere.
        let schema: Value = serde_json::from_str(tool.response_schema.get()).unwrap_or_default();
        for Member { name, pointer, schema } in json_schema::members(&schema) {
            let forms: Vec<Form> = Form::of(name).collect();
            let named = fields.rules.iter().filter(|rule| forms.contains(&rule.form));
            found.extend(named.filter(|rule| !may_hold(rule.breach, schema)).map(|rule| {
                format!(
                    "the forbidden field `{}` is a member of the answers of `{}` (`{pointer}`), so each of them would be a \
                     breach; forbid it or declare it, not both",
                    rule.name, tool.name
                )
            }));
        }
    }
    found
}

/// Whether a member can have the value with which it is not a breach.
fn may_hold(breach: Breach, member: &Value) -> bool {
    let is_typed = |wanted: &[&str]| match member.get("type") {
        Some(Value::String(one)) => wanted.contains(&one.as_str()),
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).any(|one| wanted.contains(&one)),
        _ => true,
    };
    match breach {
        Breach::Present => false,
        Breach::UnlessFalse => is_typed(&["boolean"]) && member.get("const") != Some(&Value::Bool(true)),
        Breach::UnlessEmpty => is_typed(&["string", "null"]),
    }
}

#[cfg(test)]
mod tests;
