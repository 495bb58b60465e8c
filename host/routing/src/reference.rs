//! References: what the orchestrator gets to book by, and then to follow a booking by. Signed, not encrypted: they hold
//! nothing that their holder may not know. They are complete in themselves, so that any replica can take one without
//! having kept the search.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::order::OrderId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::{hex, padded};

/// Bytes of an asker's digest that a reference holds.
const MARK_BYTES: usize = 16;

/// By whom and for whom something was found or booked: a digest, for references travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskerMark(String);

impl AskerMark {
    /// The mark of an asker.
    #[must_use]
    pub fn of(asker: &Asker) -> Self {
        Self::of_text(asker.key())
    }

    fn of_text(text: &str) -> Self {
        Self(hex(&Digest::of(text.as_bytes()).as_bytes()[..MARK_BYTES]))
    }
}

/// What a reference to an option is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionReference {
    /// The partner that offered it.
    #[serde(rename = "p")]
    pub partner: String,
    #[serde(rename = "i")]
    pub intent: String,
    /// The contract that ranked it.
    #[serde(rename = "c")]
    pub contract: Digest,
    /// The search's request identifier.
    #[serde(rename = "q")]
    pub request_id: String,
    /// The option's own identifier.
    #[serde(rename = "o")]
    pub option_id: String,
    /// Its number in the ranking.
    #[serde(rename = "n")]
    pub number: u32,
    /// The ranking's receipt, where one is kept.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// Who searched, and for whom. References from before orchestrators were told apart hold a mark of the user's pseudonym
    /// alone, or none.
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    pub asker: Option<AskerMark>,
    /// The partner's token, where it gave one with the time that it is good for.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub result_token: Option<String>,
    /// How long it can be booked, milliseconds since the epoch.
    #[serde(rename = "e")]
    pub expires_at_ms: Timestamp,
    /// When the search was, likewise; absent in references from before it was told.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub searched_at_ms: Option<Timestamp>,
}

/// What a reference to a booking is bound to: anything that a call has made and a later one is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookingReference {
    /// The partner that made it.
    #[serde(rename = "p")]
    pub partner: String,
    #[serde(rename = "i")]
    pub intent: String,
    /// The contract that judged it.
    #[serde(rename = "c")]
    pub contract: Digest,
    /// The partner's identifier of it.
    #[serde(rename = "b")]
    pub booking_id: String,
    /// The member of the answer that held it, for example `booking_id`: later calls name it alike.
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// By whom and for whom it was made, likewise.
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    pub asker: Option<AskerMark>,
    /// The option that was booked: its ranking's receipt and its number there.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    pub option: Option<(String, u32)>,
    /// The order that it belongs to; absent where its intent has none, or it was made before there were orders.
    #[serde(rename = "w", skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderId>,
}

/// The text is no reference that this gateway issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reference is not one that this gateway issued")]
pub struct InvalidReference;

/// A reference that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// To an option that can be booked.
    Option(OptionReference),
    /// To what was booked.
    Booking(BookingReference),
}

impl Reference {
    pub(crate) fn intent(&self) -> &str {
        match self {
            Self::Option(option) => &option.intent,
            Self::Booking(booking) => &booking.intent,
        }
    }

    /// The contract that it was made under.
    pub(crate) fn contract(&self) -> Digest {
        match self {
            Self::Option(option) => option.contract,
            Self::Booking(booking) => booking.contract,
        }
    }

    /// When the option was found.
    pub(crate) fn searched_at(&self) -> Option<Timestamp> {
        match self {
            Self::Option(option) => option.searched_at_ms,
            Self::Booking(_) => None,
        }
    }

    /// Whether it was made for this asker.
    pub(crate) fn is_of(&self, asker: &Asker) -> bool {
        let made_for = match self {
            Self::Option(option) => option.asker.as_ref(),
            Self::Booking(booking) => booking.asker.as_ref(),
        };
        if made_for == Some(&AskerMark::of(asker)) {
            return true;
        }
        match (asker.unassigned(), made_for) {
            (None, _) => false,
            (Some(""), made_for) => made_for.is_none(),
            (Some(pseudonym), made_for) => made_for == Some(&AskerMark::of_text(pseudonym)),
        }
    }
}

/// What texts of references to options begin with.
const OPTION: &str = "opt_";
/// What texts of references to bookings begin with.
const BOOKING: &str = "bkg_";

/// The MACs of one key.
struct KeyMacs {
    options: Hmac<Sha256>,
    bookings: Hmac<Sha256>,
}

/// Seals references under one key, and opens them under it and those before it.
#[derive(Clone)]
pub struct ReferenceSealer {
    current: Arc<KeyMacs>,
    previous: Arc<[KeyMacs]>,
}

/// Longest reference that is looked at, bytes.
const REFERENCE_MAX_BYTES: usize = 8 * 1024;

impl ReferenceSealer {
    /// A sealer under a key.
    #[must_use]
    pub fn new(key: &Secret) -> Self {
        Self { current: Arc::new(KeyMacs::of(key)), previous: Arc::default() }
    }

    /// The same, which opens besides what was sealed under keys before a rotation.
    #[must_use]
    pub fn with_previous(self, keys: &[Secret]) -> Self {
        Self { previous: keys.iter().map(KeyMacs::of).collect(), ..self }
    }

    /// Seals a reference to an option into URL-safe text.
    #[must_use]
    pub fn seal(&self, reference: &OptionReference) -> String {
        seal(&self.current.options, OPTION, reference)
    }

    /// Seals a reference to a booking likewise.
    #[must_use]
    pub(crate) fn seal_booking(&self, reference: &BookingReference) -> String {
        seal(&self.current.bookings, BOOKING, reference)
    }

    /// Opens a reference of either kind.
    ///
    /// # Errors
    /// [`InvalidReference`] for anything that was not sealed under one of the keys.
    pub fn open(&self, text: &str) -> Result<Reference, InvalidReference> {
        if text.len() > REFERENCE_MAX_BYTES {
            return Err(InvalidReference);
        }
        let keys = || std::iter::once(&*self.current).chain(&*self.previous);
        if let Some(sealed) = text.strip_prefix(OPTION) {
            return keys()
                .find_map(|key| open(&key.options, sealed).ok())
                .map(Reference::Option)
                .ok_or(InvalidReference);
        }
        let sealed = text.strip_prefix(BOOKING).ok_or(InvalidReference)?;
        keys().find_map(|key| open(&key.bookings, sealed).ok()).map(Reference::Booking).ok_or(InvalidReference)
    }
}

impl KeyMacs {
    /// The MAC state is keyed once; each use copies it.
    fn of(key: &Secret) -> Self {
        let keyed = |domain: &[u8]| {
            use sha2::Digest as _;
            // A SHA-256 of the domain and the key has the fixed length that the MAC takes without failing.
            let key = Sha256::new().chain_update(domain).chain_update(key.expose()).finalize();
            Hmac::<Sha256>::new(&padded(key.into()))
        };
        Self { options: keyed(b"option-reference\0"), bookings: keyed(b"booking-reference\0") }
    }
}

fn seal(keyed: &Hmac<Sha256>, kind: &str, reference: &impl Serialize) -> String {
    let claims = serde_json::to_vec(reference).expect("a struct of strings and numbers always serialises");
    let mut text = kind.to_owned();
    URL_SAFE_NO_PAD.encode_string(claims, &mut text);
    let mac = keyed.clone().chain_update(&text.as_bytes()[kind.len()..]).finalize().into_bytes();
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(mac, &mut text);
    text
}

fn open<T: DeserializeOwned>(keyed: &Hmac<Sha256>, sealed: &str) -> Result<T, InvalidReference> {
    let (claims, mac) = sealed.split_once('.').ok_or(InvalidReference)?;
    let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| InvalidReference)?;
    keyed.clone().chain_update(claims.as_bytes()).verify_slice(&mac).map_err(|_| InvalidReference)?;
    let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| InvalidReference)?;
    serde_json::from_slice(&claims).map_err(|_| InvalidReference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_domain::user::{Orchestrator, Pseudonym};
    use intent_gateway_testing::users::{asker, orchestrator};

    fn reference() -> OptionReference {
        OptionReference {
            partner: "coolcar".to_owned(),
            intent: "auto.book_ac_service".to_owned(),
            contract: Digest::of(b"contract"),
            request_id: "r1".to_owned(),
            option_id: "slot-1".to_owned(),
            number: 3,
            receipt: Some("rank_1".to_owned()),
            asker: Some(AskerMark::of(&asker("user-1"))),
            result_token: Some("t".to_owned()),
            expires_at_ms: Timestamp::from_ms(1),
            searched_at_ms: Some(Timestamp::from_ms(0)),
        }
    }

    fn booking() -> BookingReference {
        let OptionReference { partner, intent, contract, asker, .. } = reference();
        let (booking_id, option) = ("BK-1".to_owned(), Some(("rank_1".to_owned(), 3)));
        let member = Some("booking_id".to_owned());
        BookingReference { partner, intent, contract, booking_id, member, asker, option, order: None }
    }

    #[test]
    fn opens_only_what_it_sealed() {
        let sealer = ReferenceSealer::new(&Secret::new("k"));
        let sealed = [
            (sealer.seal(&reference()), Reference::Option(reference())),
            (sealer.seal_booking(&booking()), Reference::Booking(booking())),
        ];
        for (text, opened) in sealed {
            assert_eq!(sealer.open(&text), Ok(opened.clone()));
            let other = ReferenceSealer::new(&Secret::new("other"));
            assert_eq!(other.open(&text), Err(InvalidReference));
            assert_eq!(other.with_previous(&[Secret::new("k")]).open(&text), Ok(opened), "after a rotation");
            for at in 0..text.len() {
                let mut altered = text.clone().into_bytes();
                altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
                let altered = String::from_utf8(altered).expect("ASCII");
                assert_eq!(sealer.open(&altered), Err(InvalidReference), "at {at}");
            }
        }
        assert_eq!(sealer.open(""), Err(InvalidReference));
    }

    #[test]
    fn a_reference_is_for_one_asker_and_one_from_before_for_the_heir_alone() {
        let made_for = |mark| Reference::Option(OptionReference { asker: mark, ..reference() });
        let of = |orchestrator, name: Option<&str>| {
            Asker::new(orchestrator, name.map(|name| Pseudonym::parse(name).expect("sound")).as_ref())
        };
        let heir = || orchestrator().with_unassigned();
        let other = || Orchestrator::new("test-issuer", "another");
        let now = made_for(Some(AskerMark::of(&asker("user-1"))));
        assert!(now.is_of(&asker("user-1")) && now.is_of(&of(heir(), Some("user-1"))));
        for stranger in [of(other(), Some("user-1")), asker("user-2"), of(heir(), None), of(orchestrator(), None)] {
            assert!(!now.is_of(&stranger), "{stranger:?}");
        }
        let before = made_for(Some(AskerMark::of_text("user-1")));
        assert!(before.is_of(&of(heir(), Some("user-1"))));
        for stranger in [asker("user-1"), of(other(), Some("user-1")), of(heir(), Some("user-2")), of(heir(), None)] {
            assert!(!before.is_of(&stranger), "{stranger:?}");
        }
        let for_nobody = made_for(None);
        assert!(for_nobody.is_of(&of(heir(), None)));
        for stranger in [of(heir(), Some("user-1")), of(orchestrator(), None), asker("user-1")] {
            assert!(!for_nobody.is_of(&stranger), "{stranger:?}");
        }
    }

    #[test]
    fn one_kind_is_never_taken_for_the_other() {
        let sealer = ReferenceSealer::new(&Secret::new("k"));
        let as_booking = sealer.seal(&reference()).replacen(OPTION, BOOKING, 1);
        assert_eq!(sealer.open(&as_booking), Err(InvalidReference));
    }
}
