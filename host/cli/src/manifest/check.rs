//! The check of a manifest on one's own machine: the gateway's own rules, and every problem with its line.

use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_onboarding::manifest::{self, Catalogue, Flag, Terms};
use serde::Serialize;
use serde_json::{Value, json};

use super::file::{Form, ManifestFile};
use crate::terminal::{Palette, Tone, count, harmless};

/// Stands for the account where nobody has named one.
const UNNAMED_ACCOUNT: &str = "account-not-named";
/// Code of the one warning that needs to know the account and the platform's address.
const CALLBACK_MISMATCH: &str = "CALLBACK_MISMATCH";

/// What a file is compared with.
pub(super) struct Expected<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) account: Option<&'a PartnerId>,
    pub(super) base_url: Option<&'a str>,
}

/// Something that is wrong at a place of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    /// From 1; absent where it cannot be told.
    pub(super) line: Option<usize>,
    #[serde(flatten)]
    pub(super) violation: Violation,
}

impl Problem {
    /// The same problems with the lines that they are on.
    pub(super) fn locate(file: &ManifestFile, violations: Vec<Violation>) -> Vec<Self> {
        let locate = |violation: Violation| Self { line: file.line(&violation.pointer), violation };
        violations.into_iter().map(locate).collect()
    }
}

/// What the check found.
#[derive(Debug, Serialize)]
pub(super) struct CheckResult {
    file: String,
    form: Form,
    /// Whether a gateway with these contracts would take it.
    pub(super) accepted: bool,
    /// Code of the refusal.
    code: Option<String>,
    /// Whether the file asks for review.
    submit_for_review: bool,
    refusals: Vec<Problem>,
    warnings: Vec<Problem>,
    /// What a reviewer will look at.
    flags: Vec<Flag>,
    /// What could not be compared, and why.
    not_compared: Vec<String>,
}

/// The body that a file stands for.
pub(super) fn body(file: &ManifestFile, account: Option<&PartnerId>) -> Result<Value, Refusal> {
    match file.form {
        Form::Submission => Ok(file.document.clone()),
        Form::Authoring => manifest::from_authoring(&file.document, account),
    }
}

/// Checks a file.
pub(super) fn check(name: &str, file: &ManifestFile, known: &Expected<'_>) -> CheckResult {
    let stand_in = PartnerId::parse(UNNAMED_ACCOUNT).expect("letters and dashes");
    let partner = known.account.unwrap_or(&stand_in);
    let terms = Terms { catalogue: known.catalogue, partner, base_url: known.base_url.unwrap_or_default() };
    let (refusal, accepted) = match body(file, known.account) {
        Ok(body) => match manifest::submit(&body, &terms) {
            Ok(accepted) => (None, Some(accepted)),
            Err(refusal) => (Some(refusal), None),
        },
        Err(refusal) if !file.document.is_object() => (Some(refusal), None),
        // The form is wrong; what it holds may be wrong as well, and is better told at once.
        Err(refusal) => match manifest::submit(&hold(&file.document), &terms) {
            Ok(accepted) => (Some(refusal), Some(accepted)),
            Err(further) => (Some(both(refusal, further)), None),
        },
    };
    let (warnings, flags, submit_for_review) =
        accepted.map(|accepted| (accepted.warnings, accepted.flags, accepted.submit_for_review)).unwrap_or_default();
    let mut checked = CheckResult {
        file: name.to_owned(),
        form: file.form,
        accepted: refusal.is_none(),
        code: refusal.as_ref().map(|refusal| refusal.code.clone()),
        submit_for_review,
        refusals: Problem::locate(file, refusal.map(|refusal| refusal.violations).unwrap_or_default()),
        warnings: Problem::locate(file, warnings),
        flags,
        not_compared: Vec::new(),
    };
    let unnamed = [
        ("the account (--account)", known.account.is_none()),
        ("the platform's address (--base-url)", known.base_url.is_none()),
    ];
    let unnamed: Vec<&str> = unnamed.iter().filter(|(_, unnamed)| *unnamed).map(|(what, _)| *what).collect();
    if !unnamed.is_empty() {
        checked.warnings.retain(|problem| problem.violation.code != CALLBACK_MISMATCH);
        checked.not_compared.push(format!("completion_callback; for that, name {}", unnamed.join(" and ")));
    }
    checked
}

/// What an authoring form holds of a submission, whether the form itself is right or not.
fn hold(form: &Value) -> Value {
    let mut body = json!({"businessName": "its form is judged by itself"});
    for member in ["intents", "submitForReview"] {
        if let Some(value) = form.get(member) {
            body[member] = value.clone();
        }
    }
    body
}

/// Both refusals in one. They speak of different places: the form's own, and what it hands over as it is.
fn both(refusal: Refusal, further: Refusal) -> Refusal {
    let violations = refusal.violations.into_iter().chain(further.violations).collect();
    Refusal { code: further.code, violations }
}

/// Problems as compilers tell them, one a line: a place that an editor finds, what is wrong, and the code.
pub(super) fn lines(file: &str, problems: &[Problem], tone: Tone, word: &str, palette: Palette) -> Vec<String> {
    let line = |Problem { line, violation: Violation { pointer, code, message } }: &Problem| {
        let at = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        let place = if pointer.is_empty() { code.clone() } else { format!("{code} at {}", harmless(pointer)) };
        format!("{at}: {}: {} [{place}]", palette.paint(tone, word), harmless(message))
    };
    problems.iter().map(line).collect()
}

impl CheckResult {
    /// As a text for people.
    pub(super) fn text(&self, palette: Palette) -> String {
        let Self { file, refusals, warnings, flags, not_compared, .. } = self;
        let mut text = lines(file, refusals, Tone::Bad, "refused", palette);
        text.extend(lines(file, warnings, Tone::Doubtful, "warning", palette));
        text.extend(flags.iter().map(|flag| format!("{file}: a reviewer looks at it: {}", harmless(&flag.message))));
        text.extend(not_compared.iter().map(|what| format!("{file}: not compared: {what}")));
        let warned = count(warnings.len(), "warning");
        text.push(match (self.accepted, self.submit_for_review) {
            (false, _) => {
                let verdict = palette.paint(Tone::Bad, "would not be accepted");
                format!("{file} {verdict}: {}, {warned}", count(refusals.len(), "problem"))
            }
            (true, review) => {
                let verdict = palette.paint(Tone::Good, "would be accepted");
                let as_what =
                    if review { "and go to review" } else { "as a draft, if no other was sent for review yet" };
                format!("{file} {verdict} {as_what}: {warned}")
            }
        });
        text.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::id::IntentId;
    use intent_gateway_onboarding::manifest::LiveIntent;

    use super::*;

    const PLAIN: Palette = Palette::PLAIN;
    const MANIFEST: &str = "\
manifest_version: v0.1.0
business:
  name: CoolCar
  legal_name: CoolCar Services Private Limited
  tier: tier1
intents:
  - intent: auto.fix
    domain: auto
    intent_version: v1.0.0
    description: Repairs.
    pricing: {min: 500, max: 900, currency: INR}
    service_area: [Bengaluru]
    ttbs_signals: {time: 0.6, taste: 0.5, budget: 0.5, safety: 0.5}
    availability: 24x7
    widget_type: FixWidget
    completion_callback: https://platform.example/api/v1/cpc/mcp_provider/ptr_1
submitForReview: true
";

    fn catalogue() -> Catalogue {
        let live = LiveIntent {
            intent: IntentId::parse("auto.fix").expect("well-formed"),
            aliases: Vec::new(),
            version: semver::Version::new(1, 0, 0),
            widget_types: vec!["FixWidget".to_owned()],
            shape: None,
        };
        std::iter::once(live).collect()
    }

    fn checked(text: &str, account: Option<&str>, base_url: Option<&str>) -> CheckResult {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m.yaml");
        std::fs::write(&path, text).expect("written");
        let file = ManifestFile::read(&path).expect("YAML");
        let account = account.map(|account| PartnerId::parse(account).expect("well-formed"));
        check("m.yaml", &file, &Expected { catalogue: &catalogue(), account: account.as_ref(), base_url })
    }

    fn told(problems: &[Problem]) -> Vec<(Option<usize>, &str)> {
        problems.iter().map(|problem| (problem.line, problem.violation.code.as_str())).collect()
    }

    #[test]
    fn a_good_manifest_would_be_accepted() {
        let checked = checked(MANIFEST, Some("ptr_1"), Some("https://platform.example"));
        assert!(checked.accepted && checked.not_compared.is_empty(), "{checked:?}");
        assert_eq!(checked.text(PLAIN), "m.yaml would be accepted and go to review: 0 warnings");
    }

    #[test]
    fn everything_wrong_with_the_form_and_what_it_holds_is_told_at_once_with_its_line() {
        let text = MANIFEST
            .replace("  tier: tier1\n", "  tier: tier3\n")
            .replace("intent: auto.fix", "intent: auto.fixes")
            .replace("min: 500", "min: 5000")
            .replace("intent_version: v1.0.0", "intent_version: 1.0");
        let found = checked(&text, Some("ptr_1"), Some("https://platform.example"));
        assert_eq!(
            told(&found.refusals),
            [
                (Some(5), "NOT_IN_VOCABULARY"),
                (Some(9), "WRONG_TYPE"),
                (Some(7), "INVALID_INTENT"),
                (Some(11), "MIN_ABOVE_MAX")
            ]
        );
        assert_eq!((found.accepted, found.code.as_deref()), (false, Some("INVALID_INTENT")));
        let text = found.text(PLAIN);
        assert!(text.starts_with("m.yaml:5: refused: business.tier must be tier1 or tier2"), "{text}");
        assert!(text.ends_with("m.yaml would not be accepted: 4 problems, 0 warnings"), "{text}");
    }

    #[test]
    fn warnings_and_flags_refuse_nothing() {
        let text = MANIFEST
            .replace("FixWidget", "OtherWidget")
            .replace("[Bengaluru]", "[IN_ALL]")
            .replace("    availability: 24x7\n", "    api_mapping: {kind: carrier_pigeon}\n");
        let found = checked(&text, Some("ptr_1"), Some("https://elsewhere.example"));
        assert!(found.accepted);
        let warned = told(&found.warnings);
        assert!(warned.contains(&(Some(15), "WIDGET_MISMATCH")), "{warned:?}");
        assert!(warned.contains(&(Some(16), "CALLBACK_MISMATCH")), "{warned:?}");
        assert!(warned.iter().any(|(line, _)| *line == Some(14)), "the mapping is looked at: {warned:?}");
        assert_eq!(found.flags.len(), 1);
        assert!(found.text(PLAIN).contains("m.yaml: a reviewer looks at it: auto.fix: claims the whole country"));
    }

    #[test]
    fn what_is_not_known_is_not_compared_and_said_so() {
        let found = checked(&MANIFEST.replace("ptr_1", "ptr_2"), None, None);
        assert!(found.accepted && found.warnings.is_empty(), "{found:?}");
        let expected =
            "completion_callback; for that, name the account (--account) and the platform's address (--base-url)";
        assert_eq!(found.not_compared, [expected]);
        let found = checked(MANIFEST, Some("ptr_1"), None);
        assert_eq!(found.not_compared, ["completion_callback; for that, name the platform's address (--base-url)"]);
    }

    #[test]
    fn a_manifest_of_another_account_is_refused() {
        let text = MANIFEST.replace("  tier: tier1\n", "  tier: tier1\n  partner_id: ptr_2\n");
        assert_eq!(told(&checked(&text, Some("ptr_1"), None).refusals), [(Some(6), "PARTNER_MISMATCH")]);
    }

    #[test]
    fn what_is_no_manifest_at_all_is_told() {
        for text in ["", "- a\n", "just words\n"] {
            let found = checked(text, None, None);
            assert_eq!(told(&found.refusals).len(), 1, "{text}: {found:?}");
            assert!(!found.accepted);
        }
    }
}
