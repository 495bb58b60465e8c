//! References: what the orchestrator gets to book by, and then to follow a booking by. They are complete in themselves, so
//! that any replica can take one without having kept the search, and sealed: their holder reads the intent and nothing else.
//! For a reference holds the partner's token and marks of the user, and travels through an assistant.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
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
    /// When the search was answered, likewise; absent in references from before it was told.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub answered_at_ms: Option<Timestamp>,
    /// The option itself, where its ranking's receipt was not expected to be kept soon.
    #[serde(rename = "j", default, skip_serializing_if = "Option::is_none")]
    pub quoted: Option<Quote>,
}

/// Longest option that a reference holds, bytes.
const QUOTE_MAX_BYTES: usize = 4 * 1024;

/// An option whose receipt was not expected to be kept soon, so that its reference has to say what was quoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quote {
    /// As the partner wrote it, JSON text.
    Whole(String),
    /// It does not fit a reference.
    TooLong,
}

impl Quote {
    /// Of an option's JSON text.
    #[must_use]
    pub fn of(option: &str) -> Self {
        if option.len() <= QUOTE_MAX_BYTES { Self::Whole(option.to_owned()) } else { Self::TooLong }
    }
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

/// The text is not a reference that this gateway issued.
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

    /// When the option was shown.
    pub(crate) fn answered_at(&self) -> Option<Timestamp> {
        match self {
            Self::Option(option) => option.answered_at_ms,
            Self::Booking(_) => None,
        }
    }

    /// The option, where its receipt was not expected to be kept soon.
    pub(crate) fn quoted(&self) -> Option<&Quote> {
        match self {
            Self::Option(option) => option.quoted.as_ref(),
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

/// What one key makes for references of one kind.
struct KindKeys {
    cipher: XChaCha20Poly1305,
    /// Gives each reference a nonce of its own, the same for the same reference.
    nonces: Hmac<Sha256>,
    /// Under which references were signed before they were sealed.
    signed: Hmac<Sha256>,
}

/// What one key makes.
struct ReferenceKeys {
    options: KindKeys,
    bookings: KindKeys,
}

/// Seals references under one key, and opens them under it and those before it.
#[derive(Clone)]
pub struct ReferenceSealer {
    current: Arc<ReferenceKeys>,
    previous: Arc<[ReferenceKeys]>,
}

/// Longest reference that is looked at, bytes.
const REFERENCE_MAX_BYTES: usize = 8 * 1024;
/// Nonce of the cipher, bytes.
const NONCE_BYTES: usize = 24;

impl ReferenceSealer {
    /// A sealer under a key.
    #[must_use]
    pub fn new(key: &Secret) -> Self {
        Self { current: Arc::new(ReferenceKeys::of(key)), previous: Arc::default() }
    }

    /// The same, which opens besides what was sealed under keys before a rotation.
    #[must_use]
    pub fn with_previous(self, keys: &[Secret]) -> Self {
        Self { previous: keys.iter().map(ReferenceKeys::of).collect(), ..self }
    }

    /// Seals a reference to an option into URL-safe text: `opt_`, the intent, a dot, and what only the gateway reads.
    #[must_use]
    pub fn seal(&self, reference: &OptionReference) -> String {
        let sealed = self.current.options.seal(OPTION, &reference.intent, reference);
        // An option of nothing but quotation marks grows when it is written as a text.
        if sealed.len() > REFERENCE_MAX_BYTES && matches!(reference.quoted, Some(Quote::Whole(_))) {
            return self.seal(&OptionReference { quoted: Some(Quote::TooLong), ..reference.clone() });
        }
        sealed
    }

    /// Seals a reference to a booking likewise.
    #[must_use]
    pub(crate) fn seal_booking(&self, reference: &BookingReference) -> String {
        self.current.bookings.seal(BOOKING, &reference.intent, reference)
    }

    /// Opens a reference of either kind, also one from before they were sealed: bookings last.
    ///
    /// # Errors
    /// [`InvalidReference`] for anything that was not sealed under one of the keys.
    pub fn open(&self, text: &str) -> Result<Reference, InvalidReference> {
        if text.len() > REFERENCE_MAX_BYTES {
            return Err(InvalidReference);
        }
        if let Some(text) = text.strip_prefix(OPTION) {
            return self.open_kind(text, |keys| &keys.options).map(Reference::Option);
        }
        let text = text.strip_prefix(BOOKING).ok_or(InvalidReference)?;
        self.open_kind(text, |keys| &keys.bookings).map(Reference::Booking)
    }

    fn open_kind<T: DeserializeOwned>(
        &self,
        text: &str,
        kind: fn(&ReferenceKeys) -> &KindKeys,
    ) -> Result<T, InvalidReference> {
        let (head, tail) = text.rsplit_once('.').ok_or(InvalidReference)?;
        let tail = URL_SAFE_NO_PAD.decode(tail).map_err(|_| InvalidReference)?;
        let is_sealed = IntentId::parse(head).is_ok();
        std::iter::once(&*self.current)
            .chain(&*self.previous)
            .find_map(|keys| match is_sealed {
                true => kind(keys).open(head, &tail),
                false => kind(keys).open_signed(head, &tail),
            })
            .ok_or(InvalidReference)
    }
}

impl ReferenceKeys {
    fn of(key: &Secret) -> Self {
        Self { options: KindKeys::of("option-reference", key), bookings: KindKeys::of("booking-reference", key) }
    }
}

impl KindKeys {
    /// The keyed states are made once; each use copies them.
    fn of(kind: &str, key: &Secret) -> Self {
        use sha2::Digest as _;
        let derive = |purpose: &str| -> [u8; 32] {
            let labelled = Sha256::new().chain_update(kind).chain_update(purpose).chain_update(b"\0");
            labelled.chain_update(key.expose()).finalize().into()
        };
        // Derived keys have the fixed length that the MAC takes without failing.
        let keyed = |purpose: &str| Hmac::<Sha256>::new(&padded(derive(purpose)));
        Self {
            cipher: XChaCha20Poly1305::new(&Key::from(derive("-sealing"))),
            nonces: keyed("-nonce"),
            signed: keyed(""),
        }
    }

    /// The nonce is a MAC of what is sealed: no two references share one, and no random bytes are needed.
    fn seal(&self, prefix: &str, intent: &str, reference: &impl Serialize) -> String {
        let claims = serde_json::to_vec(reference).expect("a struct of strings and numbers always serialises");
        let nonce = self.nonces.clone().chain_update(&claims).finalize().into_bytes();
        let nonce: [u8; NONCE_BYTES] = std::array::from_fn(|at| nonce[at]);
        let payload = Payload { msg: &claims, aad: intent.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).expect("memory holds it");
        let mut text = format!("{prefix}{intent}.");
        URL_SAFE_NO_PAD.encode_string([&nonce[..], &sealed].concat(), &mut text);
        text
    }

    fn open<T: DeserializeOwned>(&self, intent: &str, sealed: &[u8]) -> Option<T> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: intent.as_bytes() };
        let claims = self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()?;
        serde_json::from_slice(&claims).ok()
    }

    /// Opens what was signed and readable: the claims, and a MAC of their text.
    fn open_signed<T: DeserializeOwned>(&self, claims: &str, mac: &[u8]) -> Option<T> {
        self.signed.clone().chain_update(claims).verify_slice(mac).ok()?;
        let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
        serde_json::from_slice(&claims).ok()
    }
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
            answered_at_ms: Some(Timestamp::from_ms(0)),
            quoted: None,
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
        for strange in ["", "opt_", "opt_auto.fix.", "opt_auto.fix.AAAA", "bkg_.", "x"] {
            assert_eq!(sealer.open(strange), Err(InvalidReference), "{strange}");
        }
    }

    #[test]
    fn a_holder_reads_the_intent_alone() {
        let sealer = ReferenceSealer::new(&Secret::new("k"));
        let text = sealer.seal(&reference());
        assert_eq!(text, sealer.seal(&reference()), "the same reference has the same text");
        let tail = text.strip_prefix("opt_auto.book_ac_service.").expect("the intent");
        let bytes = URL_SAFE_NO_PAD.decode(tail).expect("URL-safe");
        for hidden in ["coolcar", "slot-1", "rank_1", "book_ac_service", reference().asker.expect("one").0.as_str()] {
            assert!(!bytes.windows(hidden.len()).any(|window| window == hidden.as_bytes()), "{hidden}");
        }
        let other = sealer.seal(&OptionReference { number: 4, ..reference() });
        let nonce = |text: &str| text["opt_auto.book_ac_service.".len()..][..NONCE_BYTES].to_owned();
        assert_ne!(nonce(&text), nonce(&other));
    }

    #[test]
    fn a_reference_says_no_other_intent_than_it_is_of() {
        let sealer = ReferenceSealer::new(&Secret::new("k"));
        let other = sealer.seal(&reference()).replacen("auto.book_ac_service", "auto.book_wheel", 1);
        assert_eq!(sealer.open(&other), Err(InvalidReference));
    }

    #[test]
    fn what_was_signed_before_references_were_sealed_still_opens() {
        let sealer = ReferenceSealer::new(&Secret::new("k"));
        for (text, opened) in [
            (include_str!("reference/signed_option.txt"), Reference::Option(reference())),
            (include_str!("reference/signed_booking.txt"), Reference::Booking(booking())),
        ] {
            let text = text.trim_end();
            assert_eq!(sealer.open(text), Ok(opened));
            let other = ReferenceSealer::new(&Secret::new("other"));
            assert_eq!(other.open(text), Err(InvalidReference));
            let (claims, mac) = text.rsplit_once('.').expect("signed");
            for altered in [format!("{claims}A.{mac}"), format!("{claims}.A{}", &mac[1..]), format!("{claims}.")] {
                assert_eq!(sealer.open(&altered), Err(InvalidReference), "{altered}");
            }
        }
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
