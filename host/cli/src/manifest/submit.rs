//! Submits a manifest, and tells what a gateway says of it with the lines of the file.

use anyhow::{Context as _, anyhow};
use intent_gateway_api::manifest::{SubmissionBody, SubmittedBody};
use intent_gateway_domain::contract::{Refusal, Violation};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use serde_json::{Value, json};

use super::arguments::SubmitArgs;
use super::check::{self, Problem};
use super::file::ManifestFile;
use crate::access;
use crate::client::{GatewayError, GatewayRefusal};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::print;
use crate::terminal::{Palette, Tone, harmless};

pub(super) fn run(arguments: &SubmitArgs) -> Result<Verdict, CommandError> {
    let file = ManifestFile::read(&arguments.file).map_err(usage)?;
    let name = arguments.file.display().to_string();
    let (gateway, token) = arguments.gateway.open()?;
    let account = account(arguments.account.as_ref(), &token, &file)?;
    let body = match check::body(&file, Some(&account)) {
        Ok(body) => with_choice(body, arguments),
        Err(Refusal { violations, .. }) => return show_refused(&name, &file, violations, arguments.json),
    };
    let answer: Result<Value, _> = gateway.post(&format!("/api/v1/business/tier1/manifest/{account}"), Some(&body));
    let answer = match answer {
        Ok(answer) => answer,
        Err(GatewayError::Refused(told)) if !told.violations.is_empty() => {
            let GatewayRefusal { violations, .. } = *told;
            return show_refused(&name, &file, violations, arguments.json);
        }
        Err(error) => return Err(fail(error)),
    };
    if arguments.json {
        print_json(&answer)?;
        return Ok(Verdict::Clean);
    }
    let submitted: SubmittedBody =
        serde_json::from_value(answer).context("submitted, but the answer is not what was expected").map_err(fail)?;
    print(&text(&name, &file, submitted, Palette::of_stdout()));
    Ok(Verdict::Clean)
}

/// For whom: whom the command line names, else the token, else the file.
pub(super) fn account(
    named: Option<&PartnerId>,
    token: &Secret,
    file: &ManifestFile,
) -> Result<PartnerId, CommandError> {
    let own = || file.partner_id().and_then(|id| PartnerId::parse(id).ok());
    let account = named.cloned().or_else(|| access::account_of(token)).or_else(own);
    account.ok_or_else(|| usage(anyhow!("neither the token nor the file names an account; name it with --account")))
}

/// The body with what the command line says of the review.
fn with_choice(mut body: Value, arguments: &SubmitArgs) -> Value {
    if let (Some(members), true) = (body.as_object_mut(), arguments.review || arguments.draft) {
        members.insert("submitForReview".to_owned(), json!(arguments.review));
    }
    body
}

pub(super) fn show_refused(
    name: &str,
    file: &ManifestFile,
    violations: Vec<Violation>,
    json: bool,
) -> Result<Verdict, CommandError> {
    let problems = Problem::locate(file, violations);
    if json {
        print_json(&json!({"file": name, "accepted": false, "refusals": problems}))?;
    } else {
        let palette = Palette::of_stdout();
        let mut lines = check::lines(name, &problems, Tone::Bad, "refused", palette);
        lines.push(format!("{name} {}; nothing changed", palette.paint(Tone::Bad, "was not accepted")));
        print(&lines.join("\n"));
    }
    Ok(Verdict::Found)
}

fn text(name: &str, file: &ManifestFile, submitted: SubmittedBody, palette: Palette) -> String {
    let SubmittedBody { submission, review } = submitted;
    let SubmissionBody { number, status, warnings, flags, .. } = submission;
    let warnings = Problem::locate(file, warnings);
    let mut lines = check::lines(name, &warnings, Tone::Doubtful, "warning", palette);
    lines.extend(flags.iter().map(|flag| format!("{name}: a reviewer looks at it: {}", harmless(&flag.message))));
    let accepted = palette.paint(Tone::Good, "was accepted");
    let review = review.map(|review| format!(", review {}", harmless(&review))).unwrap_or_default();
    lines.push(format!("{name} {accepted} as submission {number}: {}{review}", status.as_str()));
    lines.join("\n")
}
