//! Has the manifest of a business without a server written, and prints it as the file that a partner keeps.

use anyhow::{Context as _, anyhow};
use intent_gateway_api::manifest::{PathLimit, PhoneManifestBody};
use serde_json::Value;

use super::arguments::PhoneArgs;
use super::file::ManifestFile;
use super::submit::show_refused;
use crate::access;
use crate::client::{GatewayError, GatewayRefusal};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::print;

/// Characters of a line of the file's head.
const HEAD_WIDTH_CHARS: usize = 100;

pub(super) fn run(arguments: &PhoneArgs) -> Result<Verdict, CommandError> {
    let PhoneArgs { form, gateway, account, json } = arguments;
    let file = ManifestFile::read(form).map_err(usage)?;
    let (gateway, token) = gateway.open()?;
    let account = account.clone().or_else(|| access::account_of(&token));
    let account = account.ok_or_else(|| usage(anyhow!("the token names no account; name it with --account")))?;
    let path = format!("/api/v1/business/tier2/manifest/{account}");
    let answer: Value = match gateway.post(&path, Some(&file.document)) {
        Ok(answer) => answer,
        Err(GatewayError::Refused(told)) if !told.violations.is_empty() => {
            let GatewayRefusal { violations, .. } = *told;
            return show_refused(&form.display().to_string(), &file, violations, *json);
        }
        Err(error) => return Err(fail(error)),
    };
    if *json {
        print_json(&answer)?;
        return Ok(Verdict::Clean);
    }
    let written: PhoneManifestBody =
        serde_json::from_value(answer).context("the answer is not what was expected").map_err(fail)?;
    print(text(&written).trim_end());
    Ok(Verdict::Clean)
}

/// The file: what the path cannot do and what the checks warn of as comments, then the manifest.
fn text(PhoneManifestBody { manifest, warnings, limits, .. }: &PhoneManifestBody) -> String {
    let mut file = String::new();
    comment(
        "The manifest of a business that has no server and is reached by phone. It is not submitted yet.",
        &mut file,
    );
    file.push_str("#\n");
    for PathLimit { code, text } in limits {
        comment(&format!("{code}: {text}"), &mut file);
    }
    for warning in warnings {
        comment(&format!("warning: {} [{} at {}]", warning.message, warning.code, warning.pointer), &mut file);
    }
    file.push('\n');
    yaml(manifest, 0, &mut file);
    file
}

/// A text as comments, broken between words.
fn comment(text: &str, file: &mut String) {
    let mut line = "#".to_owned();
    // Nothing that stands in a comment ends it.
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > HEAD_WIDTH_CHARS && line.len() > 3 {
            file.push_str(&format!("{line}\n"));
            line = "#  ".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    file.push_str(&format!("{line}\n"));
}

/// A value as YAML: members and items on lines of their own, everything else as JSON, which YAML reads alike.
fn yaml(value: &Value, depth: usize, file: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                file.push_str(&format!("{indent}{name}:"));
                below(member, depth, file);
            }
        }
        Value::Array(items) => {
            for item in items {
                file.push_str(&format!("{indent}-"));
                below(item, depth, file);
            }
        }
        other => file.push_str(&format!("{indent}{other}\n")),
    }
}

fn below(value: &Value, depth: usize, file: &mut String) {
    let has_lines = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if has_lines {
        file.push('\n');
        yaml(value, depth + 1, file);
    } else {
        file.push_str(&format!(" {value}\n"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_file_is_read_back_as_the_manifest_and_shows_the_limits() {
        let manifest = json!({
            "manifest_version": "v0.1.0",
            "business": {"name": "Asha's \"Car\" Care: #1", "tier": "tier2", "partner_id": "ptr_1"},
            "intents": [{"intent": "auto.book_ac_service", "pricing": {"min": 500, "max": 8000.5, "currency": "INR"},
                "service_area": ["Bengaluru", "560001"], "description": "no", "extra": [], "more": {}}],
        });
        let limits = vec![PathLimit { code: "BY_PHONE".to_owned(), text: "People call.\nevil: true ".repeat(8) }];
        let body = PhoneManifestBody {
            tier: "tier2".to_owned(),
            manifest: manifest.clone(),
            submission: json!({}),
            warnings: Vec::new(),
            flags: Vec::new(),
            limits,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("manifest.yaml");
        std::fs::write(&path, text(&body)).expect("written");
        assert_eq!(ManifestFile::read(&path).expect("it is YAML").document, manifest);
        let text = text(&body);
        assert!(text.contains("# BY_PHONE: People call."), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= HEAD_WIDTH_CHARS), "{text}");
    }
}
