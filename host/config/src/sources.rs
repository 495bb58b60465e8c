//! Sources of contracts: repositories of a registry, or layouts on disk, that are followed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use intent_gateway_domain::id::IntentId;
use intent_gateway_registry::{ArtifactName, Options, Selector, Source, Tag};
use schemars::JsonSchema;
use semver::VersionReq;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::paths;

/// Sources, at most.
const SOURCES_MAX: usize = 1_000;
/// Seconds between two looks.
const POLL_SECONDS: std::ops::RangeInclusive<u64> = 1..=86_400;
/// What a layout's name begins with.
const LAYOUT: &str = "oci-layout:";

/// A source of contracts.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSection {
    /// The one intent whose contracts are taken from there.
    #[schemars(with = "String")]
    intent: IntentId,
    /// Where: `oci://host/repository`, or `oci-layout:folder`.
    repository: String,
    /// The tag that is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    /// The range of versions that is followed, in place of a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    range: Option<VersionReq>,
    /// A file of credentials as Docker keeps it, in place of the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credentials_file: Option<PathBuf>,
    /// PEM file of authorities that are trusted beside the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authorities_file: Option<PathBuf>,
    /// Whether plain HTTP is spoken also to other machines.
    #[serde(default)]
    insecure: bool,
}

impl SourceSection {
    /// What is followed.
    ///
    /// # Errors
    /// What is wrong with it, for whoever wrote it.
    pub fn source(&self) -> Result<Source, String> {
        let wrong = |what: String| format!("`contracts.sources`, of {}: {what}", self.intent);
        let name: ArtifactName =
            self.repository.parse().map_err(|error| wrong(format!("`{}`: {error}", self.repository)))?;
        if name.reference().is_some() {
            return Err(wrong(
                "`repository` names a tag or a digest; what is followed says `tag` or `range`".to_owned(),
            ));
        }
        let selector = match (&self.tag, &self.range) {
            (Some(tag), None) => {
                Selector::Tag(tag.parse::<Tag>().map_err(|error| wrong(format!("`tag` is `{tag}`: {error}")))?)
            }
            (None, Some(range)) => Selector::Range(range.clone()),
            _ => return Err(wrong("give either `tag` or `range`".to_owned())),
        };
        let options =
            Options::of_files(self.credentials_file.as_deref(), self.authorities_file.as_deref(), self.insecure);
        Ok(Source { intent: self.intent.clone(), name, selector, options })
    }
}

pub(crate) fn check(sources: &[SourceSection], poll: Duration, problems: &mut Vec<String>) {
    if sources.len() > SOURCES_MAX {
        problems.push(format!("`contracts.sources` has {} entries; at most {SOURCES_MAX}", sources.len()));
    }
    for (at, source) in sources.iter().enumerate() {
        if let Err(problem) = source.source() {
            problems.push(problem);
        }
        // Two sources of one intent would take turns.
        if sources[..at].iter().any(|other| other.intent == source.intent) {
            problems.push(format!("`contracts.sources` has two entries of {}", source.intent));
        }
    }
    let seconds = poll.as_secs();
    if !POLL_SECONDS.contains(&seconds) {
        let (least, most) = POLL_SECONDS.into_inner();
        problems.push(format!("`contracts.sources_poll_seconds` is {seconds}; expected {least} to {most}"));
    }
}

/// Makes the paths of sources relative to the folder of the file that they are in.
pub(crate) fn rebase(sources: &mut Value, folder: &Path) {
    for source in sources.as_array_mut().into_iter().flatten() {
        for name in ["credentials_file", "authorities_file"] {
            if let Some(Value::String(path)) = source.get_mut(name) {
                *path = paths::join(folder, path);
            }
        }
        if let Some(Value::String(repository)) = source.get_mut("repository")
            && let Some(path) = repository.strip_prefix(LAYOUT).filter(|path| !path.is_empty())
        {
            *repository = format!("{LAYOUT}{}", paths::join(folder, path));
        }
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_registry::PlainHttp;
    use serde_json::json;

    use super::*;

    fn section(more: Value) -> SourceSection {
        let mut section =
            json!({"intent": "home.book_plumber", "repository": "oci://registry.example/contracts/plumber"});
        for (name, value) in more.as_object().expect("members") {
            section[name] = value.clone();
        }
        serde_json::from_value(section).expect("a section")
    }

    #[test]
    fn a_source_follows_a_tag_or_a_range_of_one_place() {
        let source = section(json!({"range": "^1.2"})).source().expect("a source");
        assert_eq!(source.selector, Selector::Range("^1.2".parse().expect("a range")));
        assert_eq!(source.options.plain_http, PlainHttp::Loopback);
        let source = section(json!({"tag": "stable", "insecure": true})).source().expect("a source");
        assert_eq!(source.selector, Selector::Tag("stable".parse().expect("a tag")));
        assert_eq!(source.options.plain_http, PlainHttp::Insecure);
        for (wrong, said) in [
            (json!({}), "either `tag` or `range`"),
            (json!({"tag": "stable", "range": "*"}), "either `tag` or `range`"),
            (json!({"tag": "no tag"}), "`tag` is `no tag`"),
            (json!({"tag": "stable", "repository": "oci://registry.example/contracts/plumber:1.0.0"}), "names a tag"),
            (json!({"tag": "stable", "repository": "https://registry.example"}), "`https://registry.example`"),
        ] {
            let problem = section(wrong.clone()).source().expect_err("it is wrong");
            assert!(problem.contains(said) && problem.contains("home.book_plumber"), "{wrong}: {problem}");
        }
    }

    #[test]
    fn each_problem_of_sources_is_told() {
        let told = |sources: &[SourceSection], seconds| {
            let mut problems = Vec::new();
            check(sources, Duration::from_secs(seconds), &mut problems);
            problems
        };
        let good = section(json!({"tag": "stable"}));
        assert_eq!(told(std::slice::from_ref(&good), 60), Vec::<String>::new());
        assert!(told(&[good.clone(), good.clone()], 60)[0].contains("two entries of home.book_plumber"));
        assert!(told(&[section(json!({}))], 60)[0].contains("either `tag` or `range`"));
        assert!(told(&[], 0)[0].contains("1 to 86400") && told(&[], 86_401).len() == 1);
    }

    #[test]
    fn paths_of_sources_start_at_the_file() {
        let mut sources = json!([
            {"repository": "oci-layout:contracts", "credentials_file": "auth.json", "authorities_file": "/etc/ca.pem"},
            {"repository": "oci://registry.example/x"},
        ]);
        rebase(&mut sources, Path::new("/etc/gateway"));
        assert_eq!(sources[0]["repository"], "oci-layout:/etc/gateway/contracts");
        assert_eq!(sources[0]["credentials_file"], "/etc/gateway/auth.json");
        assert_eq!(sources[0]["authorities_file"], "/etc/ca.pem");
        assert_eq!(sources[1]["repository"], "oci://registry.example/x");
    }
}
