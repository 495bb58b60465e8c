//! The check of a manifest on one's own machine: the gateway's own rules, and every problem with its line.

use std::collections::BTreeSet;

use intent_gateway_core::contract::{Refusal, Violation};
use intent_gateway_core::endpoint::ApiMapping;
use intent_gateway_core::id::PartnerId;
use intent_gateway_core::manifest::{self, Accepted, Catalogue, Flag, Terms};
use serde::Serialize;
use serde_json::{Value, json};

use super::file::{Form, ManifestFile};
use crate::terminal::{Palette, Tone, count, harmless};

/// Stands for the account where nobody has named one.
const UNNAMED_ACCOUNT: &str = "account-not-named";
/// Code of the one warning that needs to know the account and the platform's address.
const CALLBACK_MISMATCH: &str = "CALLBACK_MISMATCH";

/// What a file is compared with.
pub(super) struct Known<'a> {
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
    pub(super) fn located(file: &ManifestFile, violations: Vec<Violation>) -> Vec<Self> {
        let located = |violation: Violation| Self { line: file.line(&violation.pointer), violation };
        violations.into_iter().map(located).collect()
    }
}

/// What the check found.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
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
pub(super) fn check(name: &str, file: &ManifestFile, known: &Known<'_>) -> Checked {
    let stand_in = PartnerId::parse(UNNAMED_ACCOUNT).expect("letters and dashes");
    let partner = known.account.unwrap_or(&stand_in);
    let terms = Terms { catalogue: known.catalogue, partner, base_url: known.base_url.unwrap_or_default() };
    let (refusal, accepted) = match body(file, known.account) {
        Ok(body) => match manifest::submit(&body, &terms) {
            Ok(accepted) => (None, Some(accepted)),
            Err(refusal) => (Some(refusal), None),
        },
        // The form is wrong; what it holds may be wrong as well, and is better told at once.
        Err(refusal) => match manifest::submit(&held(&file.document), &terms) {
            Ok(accepted) => (Some(refusal), Some(accepted)),
            Err(further) => (Some(both(refusal, further)), None),
        },
    };
    let (warnings, flags, submit_for_review) = accepted.map(warned).unwrap_or_default();
    let mut checked = Checked {
        file: name.to_owned(),
        form: file.form,
        accepted: refusal.is_none(),
        code: refusal.as_ref().map(|refusal| refusal.code.clone()),
        submit_for_review,
        refusals: Problem::located(file, refusal.map(|refusal| refusal.violations).unwrap_or_default()),
        warnings: Problem::located(file, warnings),
        flags,
        not_compared: Vec::new(),
    };
    if known.account.is_none() || known.base_url.is_none() {
        checked.warnings.retain(|problem| problem.violation.code != CALLBACK_MISMATCH);
        let reason = "completion_callback: name the account (--account) and the platform's address (--base-url)";
        checked.not_compared.push(reason.to_owned());
    }
    checked
}

/// What an authoring form holds of a submission, whether the form itself is right or not.
fn held(form: &Value) -> Value {
    let mut body = json!({"businessName": "its form is judged by itself"});
    for member in ["intents", "submitForReview"] {
        if let Some(value) = form.get(member) {
            body[member] = value.clone();
        }
    }
    body
}

/// Both refusals in one; what both say of the same place is told once.
fn both(refusal: Refusal, further: Refusal) -> Refusal {
    let told: BTreeSet<String> = refusal.violations.iter().map(|violation| violation.pointer.clone()).collect();
    let new = further.violations.into_iter().filter(|violation| !told.contains(&violation.pointer));
    Refusal { code: further.code, violations: refusal.violations.into_iter().chain(new).collect() }
}

/// What is worth knowing of a submission that passes: a gateway warns of mappings (path B) that cannot be read, too.
fn warned(accepted: Accepted) -> (Vec<Violation>, Vec<Flag>, bool) {
    let Accepted { manifest, submit_for_review, mut warnings, flags } = accepted;
    for (at, entry) in manifest.intents.iter().enumerate() {
        let broken = entry.api_mapping.as_ref().and_then(|mapping| ApiMapping::check(mapping).err());
        warnings.extend(broken.into_iter().flatten().map(|violation| Violation {
            pointer: format!("/intents/{at}/api_mapping{}", violation.pointer),
            ..violation
        }));
    }
    (warnings, flags, submit_for_review)
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

impl Checked {
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
