//! The judgement of one tool.

use serde_json::{Map, Value};

use super::meta::MetaReader;
use super::{
    AcceptedTool, DESCRIPTION_MAX_CHARS, Expected, IgnoredReason, IgnoredTool, NAME_MAX_CHARS, PinnedTool, SkippedTool,
    TOOL_VIOLATIONS_MAX, TOOLS_MAX, ToolVerdict, schema,
};
use intent_gateway_domain::contract::{Descriptor, Violation};
use intent_gateway_domain::pointer::child;
use intent_gateway_domain::violations::{Violations, code, kind, longer_than, quote};

/// The name is not written as `verb_noun`.
const NAME_FORM: &str = "NAME_FORM";
/// The description is more than one sentence. A warning: where a sentence ends is for a person to say.
const MORE_THAN_ONE_SENTENCE: &str = "MORE_THAN_ONE_SENTENCE";
/// The domain is not the namespace of the intent.
const DOMAIN_MISMATCH: &str = "DOMAIN_MISMATCH";
/// Another tool of the same server has the name.
const DUPLICATE_TOOL: &str = "DUPLICATE_TOOL";
/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 14] =
    ["e.g", "i.e", "etc", "approx", "incl", "excl", "max", "min", "no", "rs", "vs", "st", "dr", "mr"];

pub(super) fn judge(position: usize, value: &Value, expected: &Expected<'_>, warnings: &mut Violations) -> ToolVerdict {
    let mut check = ToolCheck { position, at: format!("/{position}"), name: None, intent: None, label: String::new() };
    check.label = format!("tools[{position}]");
    let Some(tool) = value.as_object() else {
        return check.skip(one("", code::WRONG_TYPE, format!("the tool must be an object, found {}", kind(value))));
    };
    if let Some(name) = tool.get("name").and_then(Value::as_str) {
        let shown: String = name.chars().take(NAME_MAX_CHARS).collect();
        check.label = if is_verb_noun(name) { shown.clone() } else { quote(name) };
        check.name = Some(shown);
    }
    // A `null` is what some languages write for an absent member.
    let platform = tool.get("_meta").and_then(|meta| meta.get("platform")).filter(|platform| !platform.is_null());
    match platform {
        None => check.ignore(
            IgnoredReason::NoPlatformBlock,
            "it has no _meta.platform; a tool that serves an intent names its `intent` and `domain` there",
        ),
        Some(Value::Object(block)) => check.with_block(tool, block, expected, warnings),
        Some(other) => {
            let message = format!("_meta.platform must be an object, found {}", kind(other));
            check.skip(one("/_meta/platform", code::WRONG_TYPE, message))
        }
    }
}

/// The second tool of one name.
pub(super) fn duplicate(tool: AcceptedTool) -> SkippedTool {
    let message = format!("{}: another tool before it has the same name", tool.name);
    let violation = Violation { pointer: format!("/{}/name", tool.position), code: DUPLICATE_TOOL.to_owned(), message };
    SkippedTool {
        position: tool.position,
        name: Some(tool.name),
        intent: Some(tool.pinned.intent.to_string()),
        violations: vec![violation],
    }
}

/// Stands for all tools behind the last that is looked at.
pub(super) fn beyond(count: usize) -> SkippedTool {
    let message = format!("the server lists {count} tools; only the first {TOOLS_MAX} are looked at");
    let violation = Violation { pointer: String::new(), code: code::TOO_MANY_ITEMS.to_owned(), message };
    SkippedTool { position: TOOLS_MAX, name: None, intent: None, violations: vec![violation] }
}

/// A single breach, its pointer relative to the tool.
fn one(member: &str, code: &str, message: String) -> Vec<Violation> {
    vec![Violation { pointer: member.to_owned(), code: code.to_owned(), message }]
}

struct ToolCheck {
    position: usize,
    /// Pointer to the tool.
    at: String,
    name: Option<String>,
    intent: Option<String>,
    /// How messages name the tool.
    label: String,
}

impl ToolCheck {
    /// Skips the tool for breaches whose pointers are relative to it and whose messages do not yet name it.
    fn skip(self, breaches: Vec<Violation>) -> ToolVerdict {
        let placed = breaches.into_iter().map(|breach| Violation {
            pointer: format!("{}{}", self.at, breach.pointer),
            code: breach.code,
            message: format!("{}: {}", self.label, breach.message),
        });
        let violations = placed.collect();
        ToolVerdict::Skipped(SkippedTool { position: self.position, name: self.name, intent: self.intent, violations })
    }

    fn ignore(self, reason: IgnoredReason, because: &str) -> ToolVerdict {
        let message = format!("{}: {because}", self.label);
        ToolVerdict::Ignored(IgnoredTool { position: self.position, name: self.name, reason, message })
    }

    /// A tool that is meant for the platform: first whether it says for which intent, then whether the partner lists
    /// that, and only then everything else.
    fn with_block(
        mut self,
        tool: &Map<String, Value>,
        block: &Map<String, Value>,
        expected: &Expected<'_>,
        warnings: &mut Violations,
    ) -> ToolVerdict {
        let mut breaches = Vec::new();
        let intent = require_named(block, "intent", &mut breaches);
        let domain = require_named(block, "domain", &mut breaches);
        self.intent = intent.map(|intent| intent.chars().take(NAME_MAX_CHARS).collect());
        let (Some(intent), Some(domain)) = (intent, domain) else { return self.skip(breaches) };
        let Some(contract) = expected.contract(intent) else {
            let shown = quote(intent);
            return match expected.catalogue.live(intent) {
                Some(_) => self.ignore(IgnoredReason::IntentNotListed, &format!("the manifest does not list {shown}")),
                None => {
                    let meant = expected.catalogue.resolve(intent);
                    let hint = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
                    self.ignore(IgnoredReason::UnknownIntent, &format!("there is no intent {shown}{hint}"))
                }
            };
        };
        let name = self.name.clone().unwrap_or_default();
        let Some(own) = contract.tool(&name) else {
            // A bad name can be no tool of the contract, but says more about what went wrong.
            let mut broken = Violations::at_most(TOOL_VIOLATIONS_MAX);
            name_of(&self.at, &self.label, tool, &mut broken);
            if !broken.is_empty() {
                return self.skip_broken(broken);
            }
            let because = format!("the contract of {} has no tool of this name", contract.intent);
            return self.ignore(IgnoredReason::NotInContract, &because);
        };
        let mut broken = Violations::at_most(TOOL_VIOLATIONS_MAX);
        // The block may name the intent by an alias, and then give the namespace of either name.
        let as_named = intent.split_once('.').map(|(namespace, _)| namespace);
        if domain != contract.intent.domain() && as_named != Some(domain) {
            let namespace = contract.intent.domain();
            let message = format!("{}: domain must be {namespace}, found {}", self.label, quote(domain));
            broken.push(format!("{}/_meta/platform/domain", self.at), DOMAIN_MISMATCH, message);
        }
        description(&self.at, &self.label, tool, &mut broken, warnings);
        let at = child(&self.at, "inputSchema");
        schema::judge(&at, &self.label, tool.get("inputSchema"), own, &mut broken, warnings);
        if !broken.is_empty() {
            return self.skip_broken(broken);
        }
        self.accept(tool, block, contract, expected, warnings)
    }

    fn skip_broken(self, broken: Violations) -> ToolVerdict {
        let violations = broken.into_vec();
        ToolVerdict::Skipped(SkippedTool { position: self.position, name: self.name, intent: self.intent, violations })
    }

    fn accept(
        self,
        tool: &Map<String, Value>,
        block: &Map<String, Value>,
        contract: &Descriptor,
        expected: &Expected<'_>,
        warnings: &mut Violations,
    ) -> ToolVerdict {
        let at = format!("{}/_meta/platform", self.at);
        let reader = MetaReader { at, label: self.label, block, warnings };
        let platform = reader.read(contract, expected);
        let name = self.name.unwrap_or_default();
        let pinned = PinnedTool::of(contract.intent.clone(), &name, tool);
        ToolVerdict::Accepted(Box::new(AcceptedTool { position: self.position, name, platform, pinned }))
    }
}

/// A member of the block without which the tool is skipped.
fn require_named<'a>(block: &'a Map<String, Value>, member: &str, breaches: &mut Vec<Violation>) -> Option<&'a str> {
    let (code, message) = match block.get(member) {
        Some(Value::String(text)) if !text.is_empty() => return Some(text),
        Some(Value::String(_)) => (code::EMPTY, format!("_meta.platform.{member} is empty")),
        None => (code::REQUIRED, format!("_meta.platform.{member} is missing")),
        Some(other) => (code::WRONG_TYPE, format!("_meta.platform.{member} must be a string, found {}", kind(other))),
    };
    breaches.extend(one(&format!("/_meta/platform/{member}"), code, message));
    None
}

fn name_of(at: &str, label: &str, tool: &Map<String, Value>, broken: &mut Violations) {
    let at = child(at, "name");
    match tool.get("name") {
        None => broken.push(at, code::REQUIRED, format!("{label}: name is missing")),
        Some(Value::String(name)) if longer_than(name, NAME_MAX_CHARS) => {
            broken.push(at, code::TOO_LONG, format!("{label}: name is longer than {NAME_MAX_CHARS} characters"));
        }
        Some(Value::String(name)) if !is_verb_noun(name) => {
            broken.push(at, NAME_FORM, format!("{label}: name must be snake_case, a verb and a noun"));
        }
        Some(Value::String(_)) => {}
        Some(other) => {
            broken.push(at, code::WRONG_TYPE, format!("{label}: name must be a string, found {}", kind(other)));
        }
    }
}

fn description(at: &str, label: &str, tool: &Map<String, Value>, broken: &mut Violations, warnings: &mut Violations) {
    let at = child(at, "description");
    match tool.get("description") {
        None => broken.push(at, code::REQUIRED, format!("{label}: description is missing")),
        Some(Value::String(text)) if text.trim().is_empty() => {
            broken.push(at, code::EMPTY, format!("{label}: description is empty"));
        }
        Some(Value::String(text)) if longer_than(text, DESCRIPTION_MAX_CHARS) => {
            let message = format!("{label}: description is longer than {DESCRIPTION_MAX_CHARS} characters");
            broken.push(at, code::TOO_LONG, message);
        }
        Some(Value::String(text)) if has_second_sentence(text) => {
            let message = format!("{label}: description reads like more than one sentence");
            warnings.push(at, MORE_THAN_ONE_SENTENCE, message);
        }
        Some(Value::String(_)) => {}
        Some(other) => {
            let message = format!("{label}: description must be a string, found {}", kind(other));
            broken.push(at, code::WRONG_TYPE, message);
        }
    }
}

/// `verb_noun`: lower-case words joined by single underscores, two of them at least.
fn is_verb_noun(name: &str) -> bool {
    let word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.contains('_') && name.split('_').all(word)
}

/// Whether a text goes on behind the end of a sentence: behind a line break, or behind an end mark that is no
/// abbreviation's and is followed by a blank and a capital.
fn has_second_sentence(text: &str) -> bool {
    let text = text.trim();
    if text.contains('\n') {
        return true;
    }
    text.match_indices(['.', '!', '?']).any(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let goes_on = rest.starts_with(' ') && rest.trim_start().starts_with(char::is_uppercase);
        let word = text[..at].rsplit([' ', '(']).next().unwrap_or_default().to_ascii_lowercase();
        goes_on && !(mark == "." && ABBREVIATIONS.contains(&word.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["search_slots", "search_ac_service_slots", "get_2_slots", "a_b"] {
            assert!(is_verb_noun(good), "{good}");
        }
        for bad in
            ["", "search", "Search_slots", "search__slots", "_search_slots", "search_slots_", "searchSlots", "2_x"]
        {
            assert!(!is_verb_noun(bad), "{bad}");
        }
    }

    #[test]
    fn sentences() {
        for one in
            ["Finds slots.", "Finds slots, e.g. AC service.", "Costs approx. Rs 500 (incl. GST).", "v1.2 Search."]
        {
            assert!(!has_second_sentence(one), "{one}");
        }
        for two in ["Finds slots. Returns them.", "Finds slots\nand more", "Really? Yes", "Finds slots! Fast"] {
            assert!(has_second_sentence(two), "{two}");
        }
    }
}
