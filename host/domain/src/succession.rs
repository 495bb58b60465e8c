//! Version rules: when a loaded contract may follow the live one (spec 1, Versioning; `design.md` of the
//! project's requirements, "Version rules, enforced by machine").

use std::collections::BTreeMap;

use crate::contract::{Descriptor, Vocabulary};

/// Why a version may not follow the live one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuccessionError {
    /// The version number is taken by other content.
    #[error("version {0} is already live with other content; raise the version")]
    VersionReused(semver::Version),
    /// A new release must carry a higher version; going back is done by activating what was loaded before.
    #[error("version {next} is not above the live version {live}")]
    VersionNotAbove {
        live: semver::Version,
        /// The version that came.
        next: semver::Version,
    },
    /// A controlled vocabulary changed in a patch.
    #[error("vocabulary `{vocabulary}` changed from {live} to {next}; that takes a minor version or more")]
    VocabularyChanged {
        /// Its name.
        vocabulary: String,
        live: semver::Version,
        /// The version that came.
        next: semver::Version,
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
        }
    }
}

/// Whether `next` may replace `live`. Call it only for content that differs from the live one.
///
/// # Errors
/// The first rule broken.
pub fn check(live: &Descriptor, next: &Descriptor) -> Result<(), SuccessionError> {
    if next.version == live.version {
        return Err(SuccessionError::VersionReused(next.version.clone()));
    }
    if next.version < live.version {
        return Err(SuccessionError::VersionNotAbove { live: live.version.clone(), next: next.version.clone() });
    }
    let minor_bump = (next.version.major, next.version.minor) > (live.version.major, live.version.minor);
    if minor_bump {
        return Ok(());
    }
    match changed_vocabulary(&live.vocabularies, &next.vocabularies) {
        Some(vocabulary) => Err(SuccessionError::VocabularyChanged {
            vocabulary: vocabulary.to_owned(),
            live: live.version.clone(),
            next: next.version.clone(),
        }),
        None => Ok(()),
    }
}

/// The first vocabulary, by name, whose set of values differs; order does not matter.
fn changed_vocabulary<'a>(live: &'a [Vocabulary], next: &'a [Vocabulary]) -> Option<&'a str> {
    let sets = |vocabularies: &'a [Vocabulary]| -> BTreeMap<&'a str, std::collections::BTreeSet<&'a str>> {
        vocabularies
            .iter()
            .map(|vocabulary| (vocabulary.name.as_str(), vocabulary.values.iter().map(String::as_str).collect()))
            .collect()
    };
    let (live, next) = (sets(live), sets(next));
    let mut names: Vec<_> = live.keys().chain(next.keys()).copied().collect();
    names.sort_unstable();
    names.into_iter().find(|name| live.get(name) != next.get(name))
}
