//! References: what the orchestrator gets to book by, and then to follow a booking by. They are complete in themselves, so
//! that any replica can take one without having kept the search, and sealed: their holder reads the intent and nothing else.
//! For a reference holds the partner's token and marks of the user, and travels through an assistant.

mod sealing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::order::OrderId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::user::Asker;
use intent_gateway_domain::vault::hex;

pub(crate) use self::sealing::AnswerSealer;
use self::sealing::KindKeys;

/// Bytes of an asker's digest that a reference holds.
const MARK_BYTES: usize = 16;

/// By whom and for whom something was found or booked: a digest, for references travel. In JSON it is hexadecimal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskerMark([u8; MARK_BYTES]);

impl AskerMark {
    /// The mark of an asker.
    #[must_use]
    pub fn of(asker: &Asker) -> Self {
        Self::of_text(asker.key())
    }

    fn of_text(text: &str) -> Self {
        let digest = Digest::of(text.as_bytes());
        Self(std::array::from_fn(|at| digest.as_bytes()[at]))
    }
}

impl Serialize for AskerMark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { hex(&self.0).serialize(serializer) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for AskerMark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Deserialize::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        let mark = u128::from_str_radix(&text, 16).ok().filter(|_| text.len() == 2 * MARK_BYTES);
        let mark = mark.ok_or_else(|| serde::de::Error::custom("a mark is 32 hexadecimal characters"))?;
        Ok(Self(mark.to_be_bytes()))
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
            Self::Option(option) => option.asker,
            Self::Booking(booking) => booking.asker,
        };
        if made_for == Some(AskerMark::of(asker)) {
            return true;
        }
        match (asker.unassigned(), made_for) {
            (None, _) => false,
            (Some(""), made_for) => made_for.is_none(),
            (Some(pseudonym), made_for) => made_for == Some(AskerMark::of_text(pseudonym)),
        }
    }
}

/// What texts of references to options begin with.
const OPTION: &str = "opt_";
/// What texts of references to bookings begin with.
const BOOKING: &str = "bkg_";

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
        self.of_answer(reference).seal(&reference.option_id, reference.number, reference.quoted.as_ref())
    }

    /// What seals the references to options of an answer, by that of one of them.
    pub(crate) fn of_answer(&self, reference: &OptionReference) -> AnswerSealer<'_> {
        AnswerSealer::new(&self.current.options, OPTION, reference)
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
            let open = |keys: &ReferenceKeys, intent: &str, sealed: &[u8]| keys.options.open_option(intent, sealed);
            let open_signed = |keys: &ReferenceKeys, claims: &str, mac: &[u8]| keys.options.open_signed(claims, mac);
            return self.open_kind(text, open, open_signed).map(Reference::Option);
        }
        let text = text.strip_prefix(BOOKING).ok_or(InvalidReference)?;
        let open = |keys: &ReferenceKeys, intent: &str, sealed: &[u8]| keys.bookings.open(intent, sealed);
        let open_signed = |keys: &ReferenceKeys, claims: &str, mac: &[u8]| keys.bookings.open_signed(claims, mac);
        self.open_kind(text, open, open_signed).map(Reference::Booking)
    }

    fn open_kind<T>(
        &self,
        text: &str,
        open: impl Fn(&ReferenceKeys, &str, &[u8]) -> Option<T>,
        open_signed: impl Fn(&ReferenceKeys, &str, &[u8]) -> Option<T>,
    ) -> Result<T, InvalidReference> {
        let (head, tail) = text.rsplit_once('.').ok_or(InvalidReference)?;
        let tail = URL_SAFE_NO_PAD.decode(tail).map_err(|_| InvalidReference)?;
        let is_sealed = IntentId::parse(head).is_ok();
        let open =
            |keys: &ReferenceKeys| if is_sealed { open(keys, head, &tail) } else { open_signed(keys, head, &tail) };
        std::iter::once(&*self.current).chain(&*self.previous).find_map(open).ok_or(InvalidReference)
    }
}

impl ReferenceKeys {
    fn of(key: &Secret) -> Self {
        Self { options: KindKeys::of("option-reference", key), bookings: KindKeys::of("booking-reference", key) }
    }
}
