//! Which loaded version a name means.

use std::str::FromStr;

use intent_gateway_api::contracts::{LoadedVersion, VersionAct, Whence};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;

use super::number;
use super::show::short;

/// Fewest characters of a digest that name a version.
const PREFIX_MIN_CHARS: usize = 4;
/// Characters of a whole digest.
const DIGEST_CHARS: usize = 64;

/// How a person names a loaded version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContractName {
    /// The beginning of its digest, in lower case.
    Prefix(String),
    /// Its intent and version.
    Version(IntentId, semver::Version),
    /// An intent: its live version.
    Live(IntentId),
}

/// The text names no version.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is neither the beginning of a digest (at least {PREFIX_MIN_CHARS} hexadecimal characters) nor `intent@version`"
)]
pub(crate) struct InvalidName(String);

/// The name means no loaded version, or more than one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    /// Nothing of that name is loaded.
    #[error("{0} is not loaded; `intent-gateway contract list` shows what is")]
    Unknown(String),
    /// Several versions are meant.
    #[error("`{name}` begins the digests of {count} versions; give more of one:{}", list(.candidates), count = .candidates.len())]
    Ambiguous { name: String, candidates: Vec<String> },
    /// There is nothing to go back to.
    #[error(
        "{0} has no loaded version before the live one; `intent-gateway contract list --intent {0}` shows what is loaded"
    )]
    NothingBefore(String),
    /// All that there is to go back to has failed before.
    #[error(
        "what {intent} has before the live version was taken out for its faults ({}); `intent-gateway contract failures \
         {intent}` shows them, and `intent-gateway contract activate` makes one of these versions live all the same",
        .failed.join(", ")
    )]
    OnlyFailedBefore {
        intent: String,
        /// Their numbers, the highest first.
        failed: Vec<String>,
    },
    /// The intent has no live version.
    #[error("{0} has no live version; `intent-gateway contract activate` makes a loaded one live")]
    NotLive(String),
    /// The gateway's answer cannot be read.
    #[error(transparent)]
    Unreadable(anyhow::Error),
}

fn list(candidates: &[String]) -> String {
    candidates.iter().map(|candidate| format!("\n  {candidate}")).collect()
}

impl FromStr for ContractName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = || InvalidName(text.chars().take(DIGEST_CHARS).collect());
        if let Some((intent, version)) = text.split_once('@') {
            let intent = IntentId::parse(intent).map_err(|_| invalid())?;
            return version.parse().map(|version| Self::Version(intent, version)).map_err(|_| invalid());
        }
        if let Ok(intent) = IntentId::parse(text) {
            return Ok(Self::Live(intent));
        }
        let fits = (PREFIX_MIN_CHARS..=DIGEST_CHARS).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self::Prefix(text.to_ascii_lowercase()));
        }
        Err(invalid())
    }
}

impl ContractName {
    /// The digest, where the name is a whole one.
    pub(super) fn digest(&self) -> Option<Digest> {
        match self {
            Self::Prefix(prefix) => prefix.parse().ok(),
            Self::Version(..) | Self::Live(_) => None,
        }
    }

    /// The one loaded version that is meant.
    pub(super) fn find<'a>(&self, versions: &'a [LoadedVersion]) -> Result<&'a LoadedVersion, SelectError> {
        let is_meant = |version: &&LoadedVersion| match self {
            Self::Prefix(prefix) => version.digest.to_string().starts_with(prefix),
            Self::Version(intent, number) => version.intent == intent.as_str() && version.version == number.to_string(),
            Self::Live(intent) => version.live && version.intent == intent.as_str(),
        };
        let meant: Vec<&LoadedVersion> = versions.iter().filter(is_meant).collect();
        match (meant.as_slice(), self) {
            ([one], _) => Ok(one),
            ([], Self::Prefix(prefix)) => {
                Err(SelectError::Unknown(format!("a contract whose digest begins with {prefix}")))
            }
            ([], Self::Version(intent, number)) => Err(SelectError::Unknown(format!("{intent} {number}"))),
            ([], Self::Live(intent)) => Err(SelectError::NotLive(intent.to_string())),
            (several, _) => Err(SelectError::Ambiguous {
                name: self.text(),
                candidates: several.iter().map(|of| line(of)).collect(),
            }),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Prefix(prefix) => prefix.clone(),
            Self::Version(intent, number) => format!("{intent}@{number}"),
            Self::Live(intent) => intent.to_string(),
        }
    }
}

fn line(version: &LoadedVersion) -> String {
    format!("{}  {} {}", short(version.digest), version.intent, version.version)
}

/// Where a roll-back goes.
#[derive(Debug)]
pub(super) struct Before<'a> {
    pub(super) version: &'a LoadedVersion,
    /// Numbers of the versions in between, which were taken out for their faults; the highest first.
    pub(super) passed_over: Vec<String>,
}

/// The highest loaded version of an intent below the one that is live, without those that were taken out for their faults:
/// who goes back wants one that works.
pub(super) fn before_live<'a>(versions: &'a [LoadedVersion], intent: &str) -> Result<Before<'a>, SelectError> {
    let of_intent: Vec<&LoadedVersion> = versions.iter().filter(|version| version.intent == intent).collect();
    if of_intent.is_empty() {
        return Err(SelectError::Unknown(intent.to_owned()));
    }
    let live = of_intent.iter().find(|version| version.live).ok_or_else(|| SelectError::NotLive(intent.to_owned()))?;
    let live = number(live).map_err(SelectError::Unreadable)?;
    let mut before: Vec<(semver::Version, &LoadedVersion)> = Vec::new();
    for version in of_intent {
        let number = number(version).map_err(SelectError::Unreadable)?;
        if number < live {
            before.push((number, version));
        }
    }
    before.sort_by(|(a, _), (b, _)| b.cmp(a));
    let mut passed_over = Vec::new();
    for (number, version) in before {
        if !was_taken_out(version) {
            return Ok(Before { version, passed_over });
        }
        passed_over.push(number.to_string());
    }
    let intent = intent.to_owned();
    if passed_over.is_empty() {
        Err(SelectError::NothingBefore(intent))
    } else {
        Err(SelectError::OnlyFailedBefore { intent, failed: passed_over })
    }
}

/// Whether the gateway took the version out for its faults, and nobody has made it live since.
fn was_taken_out(version: &LoadedVersion) -> bool {
    let served = version.history.iter().rev().find(|event| event.act != VersionAct::Loaded);
    served.is_some_and(|event| event.act == VersionAct::LeftService && event.whence == Whence::RollBack)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in crate::contract) fn version(digest: &str, intent: &str, version: &str, live: bool) -> LoadedVersion {
        serde_json::from_value(json!({
            "intent": intent, "version": version, "digest": format!("{digest:0<64}"), "live": live,
            "origin": {"kind": "upload", "name": "asha"}, "loaded_at_ms": 1_763_716_800_042_u64,
            "loaded_by": {"role": "admin", "subject": "asha"},
            "history": [{
                "at_ms": 1_763_716_800_042_u64, "act": "loaded", "whence": "upload",
                "by": {"role": "admin", "subject": "asha"},
            }],
            "component_bytes": 300_000, "calls": 7, "faults": 1,
        }))
        .expect("a version")
    }

    fn loaded() -> Vec<LoadedVersion> {
        vec![
            version("abcd1", "auto.fix", "1.9.0", false),
            version("abcd2", "auto.fix", "1.10.0", true),
            version("beef", "auto.fix", "2.0.0", false),
            version("cafe", "home.fix", "1.0.0", true),
        ]
    }

    fn found(name: &str) -> Result<String, String> {
        let name: ContractName = name.parse().map_err(|error: InvalidName| error.to_string())?;
        name.find(&loaded()).map(|version| version.version.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_version_is_named_by_the_beginning_of_its_digest_or_by_its_number() {
        assert_eq!(found("abcd1"), Ok("1.9.0".to_owned()));
        assert_eq!(found("BEEF0"), Ok("2.0.0".to_owned()));
        assert_eq!(found("auto.fix@1.10.0"), Ok("1.10.0".to_owned()));
        assert_eq!(found("auto.fix"), Ok("1.10.0".to_owned()));
        for bad in ["abc", "nothex", "auto.fix@one", "@1.0.0", "", &"a".repeat(65)] {
            assert!(bad.parse::<ContractName>().is_err(), "{bad}");
        }
        assert!(found("dead").expect_err("unknown").contains("begins with dead"));
        assert!(found("auto.fix@3.0.0").expect_err("unknown").contains("auto.fix 3.0.0 is not loaded"));
        assert!(found("home.paint").expect_err("unknown").contains("no live version"));
    }

    #[test]
    fn an_ambiguous_beginning_names_the_candidates() {
        assert_eq!(
            found("abcd").expect_err("two"),
            "`abcd` begins the digests of 2 versions; give more of one:\n  abcd10000000  auto.fix 1.9.0\n  \
             abcd20000000  auto.fix 1.10.0"
        );
    }

    #[test]
    fn going_back_takes_the_highest_version_below_the_live_one() {
        let before = |versions: &[LoadedVersion], intent| {
            before_live(versions, intent)
                .map(|before| before.version.version.clone())
                .map_err(|error| error.to_string())
        };
        assert_eq!(before(&loaded(), "auto.fix"), Ok("1.9.0".to_owned()));
        assert!(before(&loaded(), "home.fix").expect_err("the first").contains("no loaded version before"));
        assert!(before(&loaded(), "home.paint").expect_err("unknown").contains("not loaded"));
        let retired = [version("abcd", "auto.fix", "1.0.0", false)];
        assert!(before(&retired, "auto.fix").expect_err("retired").contains("no live version"));
    }

    /// Adds events to the history of a version, as pairs of what happened and by which way.
    fn with_events(mut version: LoadedVersion, events: &[(&str, &str)]) -> LoadedVersion {
        let event = |(act, whence): &(&str, &str)| {
            let by = json!({"role": "gateway", "subject": "gateway"});
            serde_json::from_value(json!({"at_ms": 1_763_716_800_042_u64, "act": act, "whence": whence, "by": by}))
                .expect("an event")
        };
        version.history.extend(events.iter().map(event));
        version
    }

    #[test]
    fn going_back_passes_over_versions_that_were_taken_out_for_faults() {
        let taken_out = [("went_live", "upload"), ("left_service", "roll_back")];
        let failed = |digest: &str, number| with_events(version(digest, "auto.fix", number, false), &taken_out);
        let live = || version("aaaa", "auto.fix", "1.3.0", true);
        let good = || version("dddd", "auto.fix", "1.0.0", false);
        let versions = [live(), failed("cccc", "1.1.0"), failed("bbbb", "1.2.0"), good()];
        let before = before_live(&versions, "auto.fix").expect("there is one");
        assert_eq!(before.version.version, "1.0.0");
        assert_eq!(before.passed_over, ["1.2.0", "1.1.0"]);

        let none = before_live(&versions[..3], "auto.fix").expect_err("both have failed").to_string();
        assert!(none.contains("taken out for its faults (1.2.0, 1.1.0)"), "{none}");
        assert!(none.contains("`intent-gateway contract activate`"), "{none}");

        // Out of service for another reason, or live again since: no reason to pass it over.
        for since in [[("left_service", "unloading")].as_slice(), &[("went_live", "activation")]] {
            let versions = [live(), with_events(failed("bbbb", "1.2.0"), since), good()];
            let before = before_live(&versions, "auto.fix").expect("there is one");
            assert_eq!((before.version.version.as_str(), before.passed_over.len()), ("1.2.0", 0), "{since:?}");
        }
    }
}
