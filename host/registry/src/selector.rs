//! Which artifact of a repository is followed: what a tag names, or the highest version within a range.

use semver::{Version, VersionReq};

use crate::name::Tag;

/// What is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// A tag, whatever it names. `latest` is a tag like any other.
    Tag(Tag),
    /// The highest version of a range. Tags are `1.2.3` or `v1.2.3`, with `_` for `+`; others are passed over.
    Range(VersionReq),
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub tag: Tag,
    /// None where the tag is followed for its name and is no version.
    pub version: Option<Version>,
}

impl Selector {
    /// The one of some tags that is followed; none where none fits. Pre-releases fit where the range names one of the same version,
    /// as Cargo has it. The order of the tags makes no difference.
    #[must_use]
    pub fn choose<'a>(&self, tags: impl IntoIterator<Item = &'a Tag>) -> Option<Chosen> {
        let tags = tags.into_iter();
        match self {
            Self::Tag(wanted) => {
                let tag = tags.into_iter().find(|tag| *tag == wanted)?.clone();
                let version = tag.version();
                Some(Chosen { tag, version })
            }
            Self::Range(range) => {
                let versions = tags.filter_map(|tag| Some((tag.version()?, tag)));
                let fitting = versions.filter(|(version, _)| range.matches(version));
                // Of `1.2.3` and `v1.2.3` the shorter one is taken, so that there is one answer.
                let highest = fitting.max_by(|(one, tag), (other, other_tag)| {
                    one.cmp(other).then_with(|| other_tag.as_str().len().cmp(&tag.as_str().len()))
                });
                highest.map(|(version, tag)| Chosen { tag: tag.clone(), version: Some(version) })
            }
        }
    }
}
