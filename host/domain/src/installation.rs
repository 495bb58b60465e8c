//! Which installation a store belongs to, and whether a gateway may start on what it finds.
//!
//! A store gets a random identity when the first gateway starts on it. The state folder keeps a marker with it, and the
//! configuration may name it. So a store that was lost, emptied or exchanged is not taken for a new one: [`decide`] says what is to
//! be done with what was found. Several gateways that share a store have its one identity, each with a marker of its own.
//!
//! Not here: where the marker lies and how it is read (`config`), and the row of the store (`store`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::vault::{Entropy, NoEntropy, hex, random};

/// What an identity begins with.
const PREFIX: &str = "ins_";
/// Random bytes of an identity.
const RANDOM_BYTES: usize = 16;

/// The identity of an installation: `ins_` and 32 lower-case hexadecimal characters. It is not a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationId(String);

/// The text is not an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an installation's identity is `ins_` and 32 lower-case hexadecimal characters")]
pub struct InvalidInstallationId;

impl InstallationId {
    /// Makes one that no other installation has.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    pub fn make(entropy: &dyn Entropy) -> Result<Self, NoEntropy> {
        let bytes: [u8; RANDOM_BYTES] = random(entropy)?;
        Ok(Self(format!("{PREFIX}{}", hex(&bytes))))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InstallationId {
    type Err = InvalidInstallationId;

    fn from_str(text: &str) -> Result<Self, InvalidInstallationId> {
        let digits = text.strip_prefix(PREFIX).ok_or(InvalidInstallationId)?;
        let fits = digits.len() == 2 * RANDOM_BYTES && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidInstallationId) }
    }
}

impl fmt::Display for InstallationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for InstallationId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for InstallationId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a store shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreState {
    /// Its identity. Stores of older gateways have none.
    pub id: Option<InstallationId>,
    /// Whether nothing else is kept in it: no record, no entry, no mail. A store that is not there is empty as well.
    pub is_empty: bool,
}

/// What there is outside the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// The identity that the state folder's marker names.
    pub marker: Option<InstallationId>,
    /// The one that the configuration names.
    pub configured: Option<InstallationId>,
    /// What else shows that gateways have served from here: anchors, kept contracts. Each as words for the operator.
    pub traces: Vec<String>,
}

/// What is to be done at a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The store keeps its identity.
    Keep,
    /// The store gets a new one.
    Begin(Beginning),
    /// The store keeps its identity, and the marker of another one is put aside.
    Adopt { former: InstallationId },
}

/// Why an identity is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The installation is new.
    New,
    /// An older gateway has filled the store.
    Existing,
    /// The operator has said that what was there before is lost.
    AfterLoss,
}

impl Beginning {
    /// As the audit log says it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Existing => "existing_store",
            Self::AfterLoss => "after_loss",
        }
    }
}

/// Why a gateway does not start on a store. `first_start` is the operator's word that the loss is meant; it does not help against
/// a configuration that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LostState {
    /// It has another identity than is expected.
    #[error("the store belongs to installation {found}, and {} names {expected}", .by.words())]
    OtherStore { found: InstallationId, expected: InstallationId, by: NamedBy },
    /// It has none, although one is expected.
    #[error(
        "the store {}, and {} names installation {expected}",
        tell_nameless(.is_empty),
        .by.words()
    )]
    NoIdentity { is_empty: bool, expected: InstallationId, by: NamedBy },
    /// It has its identity and nothing else.
    #[error("the store of installation {0} was emptied: not even its audit log is left")]
    Emptied(InstallationId),
    /// It is empty, and something shows that it was not.
    #[error("the store holds nothing, and there was one: {}", .0.join("; "))]
    Traces(Vec<String>),
    /// Marker and configuration name different ones.
    #[error("the state folder's marker names installation {marker}, and `store.installation_id` names {configured}")]
    Contradiction { marker: InstallationId, configured: InstallationId },
}

fn tell_nameless(is_empty: &bool) -> &'static str {
    if *is_empty { "holds nothing" } else { "has no identity" }
}

/// Who expects an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    Marker,
    Configuration,
}

impl NamedBy {
    fn words(self) -> &'static str {
        match self {
            Self::Marker => "the state folder's marker",
            Self::Configuration => "`store.installation_id`",
        }
    }
}

impl Outside {
    /// The identity that is expected, and who names it.
    fn expected(&self) -> Option<(&InstallationId, NamedBy)> {
        let configured = self.configured.as_ref().map(|id| (id, NamedBy::Configuration));
        configured.or_else(|| self.marker.as_ref().map(|id| (id, NamedBy::Marker)))
    }

    /// Whether what is expected fits a store, for whoever only opens one that is there. A store without an identity fits where
    /// none is expected.
    ///
    /// # Errors
    /// [`LostState`] where it is another store.
    pub fn check(&self, store: &StoreState) -> Result<(), LostState> {
        if let (Some(marker), Some(configured)) = (&self.marker, &self.configured)
            && marker != configured
        {
            let (marker, configured) = (marker.clone(), configured.clone());
            return Err(LostState::Contradiction { marker, configured });
        }
        let Some((expected, by)) = self.expected() else { return Ok(()) };
        let expected = expected.clone();
        match &store.id {
            Some(found) if *found == expected => Ok(()),
            Some(found) => Err(LostState::OtherStore { found: found.clone(), expected, by }),
            None => Err(LostState::NoIdentity { is_empty: store.is_empty, expected, by }),
        }
    }
}

/// What a gateway that starts has to do about the identity of its store. `first_start` says that a loss is meant.
///
/// # Errors
/// [`LostState`] where the store is not the one that this installation had.
pub fn decide(store: &StoreState, outside: &Outside, first_start: bool) -> Result<Decision, LostState> {
    let lost = match outside.check(store) {
        Err(lost) => lost,
        Ok(()) => match &store.id {
            Some(id) if store.is_empty => LostState::Emptied(id.clone()),
            Some(_) => return Ok(Decision::Keep),
            None if !store.is_empty => return Ok(Decision::Begin(Beginning::Existing)),
            None if outside.traces.is_empty() => return Ok(Decision::Begin(Beginning::New)),
            None => LostState::Traces(outside.traces.clone()),
        },
    };
    // What the configuration names stays true at the next start: a new identity would be refused then.
    let is_configured = outside.configured.as_ref().is_some_and(|id| store.id.as_ref() != Some(id));
    if !first_start || is_configured {
        return Err(lost);
    }
    match (&store.id, &outside.marker) {
        (Some(id), Some(former)) if !store.is_empty && id != former => Ok(Decision::Adopt { former: former.clone() }),
        _ => Ok(Decision::Begin(Beginning::AfterLoss)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> InstallationId {
        format!("{PREFIX}{}", digit.to_string().repeat(2 * RANDOM_BYTES)).parse().expect("an identity")
    }

    fn store(id: Option<InstallationId>, is_empty: bool) -> StoreState {
        StoreState { id, is_empty }
    }

    fn marked(marker: Option<InstallationId>) -> Outside {
        Outside { marker, ..Outside::default() }
    }

    fn traced() -> Outside {
        Outside { traces: vec!["anchors in state/anchors".to_owned()], ..Outside::default() }
    }

    #[test]
    fn an_identity_has_one_form() {
        assert_eq!(id('a').as_str().parse(), Ok(id('a')));
        for bad in ["", "ins_", "ins_00", &id('a').as_str().to_uppercase(), &format!("{}0", id('a'))] {
            assert_eq!(bad.parse::<InstallationId>(), Err(InvalidInstallationId), "{bad}");
        }
    }

    #[test]
    fn what_is_new_or_as_it_was_needs_no_word() {
        for first_start in [false, true] {
            let decided = |store: StoreState, outside: Outside| decide(&store, &outside, first_start);
            assert_eq!(decided(store(None, true), Outside::default()), Ok(Decision::Begin(Beginning::New)));
            assert_eq!(decided(store(None, false), Outside::default()), Ok(Decision::Begin(Beginning::Existing)));
            assert_eq!(decided(store(None, false), traced()), Ok(Decision::Begin(Beginning::Existing)));
            assert_eq!(decided(store(Some(id('a')), false), marked(Some(id('a')))), Ok(Decision::Keep));
            assert_eq!(
                decided(store(Some(id('a')), false), Outside::default()),
                Ok(Decision::Keep),
                "one more gateway"
            );
            assert_eq!(decided(store(Some(id('a')), false), traced()), Ok(Decision::Keep));
        }
    }

    #[test]
    fn what_was_lost_is_refused_until_the_operator_means_it() {
        let (a, b) = (id('a'), id('b'));
        let empty = |is_empty| LostState::NoIdentity { is_empty, expected: id('a'), by: NamedBy::Marker };
        let other = LostState::OtherStore { found: b.clone(), expected: a.clone(), by: NamedBy::Marker };
        let begun = Decision::Begin(Beginning::AfterLoss);
        for (store, outside, lost, meant) in [
            (store(None, true), marked(Some(a.clone())), empty(true), begun.clone()),
            (store(None, false), marked(Some(a.clone())), empty(false), begun.clone()),
            (store(Some(b), false), marked(Some(a.clone())), other, Decision::Adopt { former: a.clone() }),
            (store(Some(a.clone()), true), marked(None), LostState::Emptied(a.clone()), begun.clone()),
            (store(Some(a.clone()), true), marked(Some(a.clone())), LostState::Emptied(a), begun.clone()),
            (store(None, true), traced(), LostState::Traces(traced().traces), begun),
        ] {
            assert_eq!(decide(&store, &outside, false), Err(lost), "{store:?} {outside:?}");
            assert_eq!(decide(&store, &outside, true), Ok(meant), "{store:?} {outside:?}");
        }
    }

    #[test]
    fn what_the_configuration_names_holds_whatever_is_said() {
        let named = |marker| Outside { configured: Some(id('a')), ..marked(marker) };
        for first_start in [false, true] {
            for (store, outside) in [
                (store(None, true), named(None)),
                (store(Some(id('b')), false), named(None)),
                (store(Some(id('b')), false), named(Some(id('b')))),
                (store(None, false), named(Some(id('a')))),
            ] {
                assert!(decide(&store, &outside, first_start).is_err(), "{store:?} {outside:?}");
            }
            assert_eq!(decide(&store(Some(id('a')), false), &named(None), first_start), Ok(Decision::Keep));
        }
        let moved = decide(&store(Some(id('a')), false), &named(Some(id('b'))), true);
        assert_eq!(moved, Ok(Decision::Adopt { former: id('b') }), "the marker alone is old");
    }
}
