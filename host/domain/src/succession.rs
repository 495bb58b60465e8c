//! Version rules: when a loaded contract may follow the live one (spec 1, Versioning; `design.md` of the
//! project's requirements, "Version rules, enforced by machine").

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::{Descriptor, Vocabulary};
use crate::id::IntentId;

/// Removed values that a message names; the rest is only counted.
const REMOVED_NAMED_MAX: usize = 20;

/// A value that a vocabulary had in the live version and has no more in the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RemovedValue {
    /// Name of the vocabulary. Where the whole vocabulary goes, each of its values does.
    pub vocabulary: String,
    /// What goes.
    pub value: String,
}

/// How the values of a vocabulary differ from one version to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Values that only the live version has, sorted.
    pub gone: Vec<String>,
    /// Values that only the next one has, sorted.
    pub new: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |what: &str, values: &[String]| {
            let mut names: Vec<_> = values.iter().take(REMOVED_NAMED_MAX).map(|value| format!("`{value}`")).collect();
            if let Some(more) = values.len().checked_sub(REMOVED_NAMED_MAX).filter(|more| *more > 0) {
                names.push(format!("and {more} more"));
            }
            (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
        };
        let parts: Vec<_> = told("gone", &self.gone).into_iter().chain(told("new", &self.new)).collect();
        f.write_str(if parts.is_empty() { "no values" } else { "" })?;
        f.write_str(&parts.join("; "))
    }
}

/// Whether a version may take values out of vocabularies. Partners and orchestrators may still use them, so somebody has
/// to say that this is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Removal {
    /// Nobody has said so.
    #[default]
    Refused,
    /// Whoever loads the version has said so.
    Allowed,
}

/// Why a version may not follow the live one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuccessionError {
    /// The version number is taken by other content.
    #[error(
        "version {0} is already loaded with other content; raise the version, as a number names one content for good"
    )]
    VersionReused(semver::Version),
    /// A new release must carry a higher version; going back is done by activating what was loaded before.
    #[error(
        "version {next} is not above the live version {live}; raise it, or activate what was loaded before to go back \
         to it"
    )]
    VersionNotAbove {
        live: semver::Version,
        /// The version that came.
        next: semver::Version,
    },
    /// A controlled vocabulary changed in a patch.
    #[error(
        "vocabulary `{vocabulary}` changed from {live} to {next} ({difference}); raise the version to {}.{}.0 at least, or \
         leave the vocabulary as it is",
        .live.major, .live.minor + 1
    )]
    VocabularyChanged {
        /// Its name.
        vocabulary: String,
        difference: Box<Difference>,
        live: semver::Version,
        /// The version that came.
        next: semver::Version,
    },
    /// A name would mean two intents.
    #[error("`{name}` is taken by `{intent}` {version}, as its name or an alias; no name may mean two intents")]
    AliasTaken {
        /// The intent or alias of the version that came.
        name: IntentId,
        /// Whose it is.
        intent: IntentId,
        /// The loaded version that has it.
        version: semver::Version,
    },
    /// A version takes values out of vocabularies, and nobody has said that this is meant.
    #[error(
        "version {next} removes values that {live} has: {}; if that is meant, upload it with `allow_removed_values=true`",
        name_removed(.removed)
    )]
    ValuesRemoved {
        live: semver::Version,
        /// The version that came.
        next: semver::Version,
        /// Sorted; never empty.
        removed: Vec<RemovedValue>,
    },
}

impl SuccessionError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::VersionReused(_) => "VERSION_REUSED",
            Self::VersionNotAbove { .. } => "VERSION_NOT_ABOVE",
            Self::VocabularyChanged { .. } => "VOCABULARY_CHANGED",
            Self::AliasTaken { .. } => "ALIAS_TAKEN",
            Self::ValuesRemoved { .. } => "VOCABULARY_VALUES_REMOVED",
        }
    }

    /// The values that would go, where that is what is wrong.
    #[must_use]
    pub fn removed(&self) -> &[RemovedValue] {
        match self {
            Self::ValuesRemoved { removed, .. } => removed,
            _ => &[],
        }
    }
}

/// Whether `next` may replace `live`. Call it only for content that differs from the live one.
///
/// # Errors
/// The first rule broken.
pub fn check(live: &Descriptor, next: &Descriptor, removal: Removal) -> Result<(), SuccessionError> {
    if next.version == live.version {
        return Err(SuccessionError::VersionReused(next.version.clone()));
    }
    if next.version < live.version {
        return Err(SuccessionError::VersionNotAbove { live: live.version.clone(), next: next.version.clone() });
    }
    let minor_bump = (next.version.major, next.version.minor) > (live.version.major, live.version.minor);
    if minor_bump {
        let removed = removed_values(live, next);
        if removed.is_empty() || removal == Removal::Allowed {
            return Ok(());
        }
        let (live, next) = (live.version.clone(), next.version.clone());
        return Err(SuccessionError::ValuesRemoved { live, next, removed });
    }
    match changed_vocabulary(&live.vocabularies, &next.vocabularies) {
        Some((vocabulary, difference)) => Err(SuccessionError::VocabularyChanged {
            vocabulary: vocabulary.to_owned(),
            difference: Box::new(difference),
            live: live.version.clone(),
            next: next.version.clone(),
        }),
        None => Ok(()),
    }
}

/// The values that the live version has and the next has not, sorted.
#[must_use]
pub fn removed_values(live: &Descriptor, next: &Descriptor) -> Vec<RemovedValue> {
    let kept = values_by_name(&next.vocabularies);
    let mut removed = Vec::new();
    for (vocabulary, values) in values_by_name(&live.vocabularies) {
        let kept = kept.get(vocabulary);
        let gone = values.into_iter().filter(|value| kept.is_none_or(|kept| !kept.contains(value)));
        removed.extend(gone.map(|value| RemovedValue { vocabulary: vocabulary.to_owned(), value: value.to_owned() }));
    }
    removed
}

/// Removed values in words, the first of them by name.
#[must_use]
pub fn name_removed(removed: &[RemovedValue]) -> String {
    let name = |removed: &RemovedValue| format!("`{}` of `{}`", removed.value, removed.vocabulary);
    let mut text = removed.iter().take(REMOVED_NAMED_MAX).map(name).collect::<Vec<_>>().join(", ");
    if let Some(more) = removed.len().checked_sub(REMOVED_NAMED_MAX).filter(|more| *more > 0) {
        text.push_str(&format!(", and {more} more"));
    }
    text
}

/// The first vocabulary, by name, whose set of values differs; order does not matter.
fn changed_vocabulary<'a>(live: &'a [Vocabulary], next: &'a [Vocabulary]) -> Option<(&'a str, Difference)> {
    let (live, next) = (values_by_name(live), values_by_name(next));
    let mut names: Vec<_> = live.keys().chain(next.keys()).copied().collect();
    names.sort_unstable();
    let name = names.into_iter().find(|name| live.get(name) != next.get(name))?;
    let of = |versions: &BTreeMap<_, BTreeSet<&'a str>>| versions.get(name).cloned().unwrap_or_default();
    let (before, after) = (of(&live), of(&next));
    Some((name, Difference { gone: list_beyond(&before, &after), new: list_beyond(&after, &before) }))
}

/// Values of one set that the other does not have, sorted.
fn list_beyond(these: &BTreeSet<&str>, those: &BTreeSet<&str>) -> Vec<String> {
    these.difference(those).map(|value| (*value).to_owned()).collect()
}

fn values_by_name(vocabularies: &[Vocabulary]) -> BTreeMap<&str, BTreeSet<&str>> {
    vocabularies
        .iter()
        .map(|vocabulary| (vocabulary.name.as_str(), vocabulary.values.iter().map(String::as_str).collect()))
        .collect()
}
