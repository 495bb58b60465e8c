//! A manifest as it stands in a file: the YAML authoring form, or the JSON body of a submission.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES;
use serde_json::Value;

use super::yaml::{self, Lines, YamlError};

/// Largest file, bytes: what a gateway takes as a body.
const FILE_MAX_BYTES: usize = REQUEST_BODY_MAX_BYTES;

/// The file cannot be read as a manifest, whatever it would say.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    /// It is not there, or not for this user to read.
    #[error("cannot read {}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    /// It is larger than any gateway takes.
    #[error("{} has more than {FILE_MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    /// It is not text.
    #[error("{} is no UTF-8 text", .0.display())]
    NoText(PathBuf),
    /// It is no YAML that a manifest can be written in.
    #[error("{}:{}: {}", .path.display(), .error.line, .error.problem)]
    Yaml { path: PathBuf, error: YamlError },
    /// It is no JSON.
    #[error("{}:{}: {error}", .path.display(), .error.line())]
    Json { path: PathBuf, error: serde_json::Error },
}

/// Which of the two documents a file holds (spec 1, Manifest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Form {
    /// With `manifest_version` and a `business` block.
    Authoring,
    /// What is posted to a gateway.
    Submission,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct ManifestFile {
    pub(super) form: Form,
    pub(super) document: Value,
    /// Absent where the lines could not be told.
    lines: Option<Lines>,
}

impl ManifestFile {
    /// Reads a file; its name or else its content says whether it is YAML or JSON.
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        let text = read_bounded(path)?;
        let yaml = match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => true,
            Some("json") => false,
            _ => !text.trim_start().starts_with(['{', '[']),
        };
        let (document, lines) = if yaml {
            let read = yaml::parse(&text).map_err(|error| FileError::Yaml { path: path.to_owned(), error })?;
            (read.0, Some(read.1))
        } else {
            let read = serde_json::from_str(&text).map_err(|error| FileError::Json { path: path.to_owned(), error })?;
            // JSON is YAML, but for curiosities; where it is not, problems are told without their lines.
            (read, yaml::parse(&text).ok().map(|(_, lines)| lines))
        };
        Ok(Self { form: form(&document, yaml), document, lines })
    }

    /// How an API answers the tools of an intent, as the file has it.
    pub(super) fn mapping(&self, intent: &str) -> Option<&Value> {
        self.document.pointer(&self.mapping_at(intent)?)
    }

    /// The pointer to that.
    pub(super) fn mapping_at(&self, intent: &str) -> Option<String> {
        let entries = self.document.get("intents")?.as_array()?;
        let index = entries.iter().position(|entry| entry["intent"] == intent)?;
        Some(format!("/intents/{index}/api_mapping"))
    }

    /// The line of what a pointer into the submission names.
    pub(super) fn line(&self, pointer: &str) -> Option<usize> {
        let lines = self.lines.as_ref()?;
        Some(match (self.form, pointer) {
            (Form::Authoring, "/businessName") => lines.of("/business/name"),
            _ => lines.of(pointer),
        })
    }

    /// The identifier that the file itself names.
    pub(super) fn partner_id(&self) -> Option<&str> {
        self.document.pointer("/business/partner_id").and_then(Value::as_str)
    }
}

/// A member that only one of the two forms has decides.
fn form(document: &Value, yaml: bool) -> Form {
    let has = |member| document.get(member).is_some();
    if has("business") || has("manifest_version") {
        Form::Authoring
    } else if has("businessName") || !yaml {
        Form::Submission
    } else {
        Form::Authoring
    }
}

pub(super) fn read_bounded(path: &Path) -> Result<String, FileError> {
    let unreadable = |cause| FileError::Unreadable { path: path.to_owned(), cause };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(FILE_MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > FILE_MAX_BYTES {
        return Err(FileError::TooLarge(path.to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_| FileError::NoText(path.to_owned()))?;
    // Some editors begin a text with a byte order mark.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, content: impl AsRef<[u8]>) -> Result<ManifestFile, FileError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        ManifestFile::read(&path)
    }

    #[test]
    fn the_name_says_which_language_and_the_members_say_which_form() {
        let authoring = "manifest_version: v0.1.0\nbusiness:\n  name: x\n";
        for (name, content, form) in [
            ("m.yaml", authoring, Form::Authoring),
            ("m.yml", authoring, Form::Authoring),
            ("m", authoring, Form::Authoring),
            ("m.yaml", "intents: []\n", Form::Authoring),
            ("m.yaml", "businessName: x\n", Form::Submission),
            ("m.json", "{\"businessName\": \"x\"}", Form::Submission),
            ("m", "  {\"businessName\": \"x\"}", Form::Submission),
            ("m.json", "{\"intents\": []}", Form::Submission),
            ("m.json", "{\"business\": {}}", Form::Authoring),
            ("m.json", "[]", Form::Submission),
        ] {
            assert_eq!(read(name, content).expect(content).form, form, "{name}: {content}");
        }
        assert_eq!(read("m.json", "\u{feff}{}").expect("a mark is skipped").document, json!({}));
    }

    #[test]
    fn pointers_into_the_submission_lead_to_lines_of_the_file() {
        let file =
            read("m.yaml", "business:\n  name: x\n  partner_id: ptr_1\nintents:\n- intent: a.b\n").expect("read");
        assert_eq!(file.line("/businessName"), Some(2));
        assert_eq!(file.line("/intents/0/domain"), Some(5));
        assert_eq!(file.partner_id(), Some("ptr_1"));
        let file =
            read("m.json", "{\n\t\"businessName\": \"x\",\n\t\"intents\": [{\n\t\t\"intent\": 1}]\n}").expect("read");
        assert_eq!((file.line("/businessName"), file.line("/intents/0/intent")), (Some(2), Some(4)));
    }

    #[test]
    fn what_is_no_manifest_is_told_with_its_place() {
        let said = |name: &str, content: &[u8]| {
            let error = read(name, content).expect_err("refused").to_string();
            error.rsplit_once('/').map(|(_, rest)| rest.to_owned()).expect("a path")
        };
        assert!(said("m.yaml", b"a: 1\nb: [\n").starts_with("m.yaml:3: "), "{}", said("m.yaml", b"a: 1\nb: [\n"));
        assert!(said("m.json", b"{\n\"a\": }").starts_with("m.json:2: "));
        assert_eq!(said("m.json", b"\xff\xfe{}"), "m.json is no UTF-8 text");
        assert_eq!(said("m.json", &vec![b' '; FILE_MAX_BYTES + 1]), "m.json has more than 262144 bytes");
        assert!(matches!(ManifestFile::read(Path::new("/nothing/here")), Err(FileError::Unreadable { .. })));
    }
}
