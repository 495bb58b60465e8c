//! The four amounts of a report, read from their digits.

use serde_json::value::RawValue;

use super::content;
use intent_gateway_domain::money::{AMOUNT_MAX, InvalidAmount, Paise};
use intent_gateway_domain::violations::{code, quote};

/// The members, in the order of [`Amounts`].
pub(super) const MEMBERS: [&str; 4] = ["amount_inr", "gst_inr", "tips_inr", "pass_through_inr"];

/// What was paid for an order. Each is at least 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// `amount_inr`: NET supplier revenue, the commission base.
    pub amount: Paise,
    /// `gst_inr`: tax; no commission.
    pub gst: Paise,
    /// `tips_inr`: collected for staff; no commission.
    pub tips: Paise,
    /// `pass_through_inr`: fees that the partner does not keep; no commission.
    pub pass_through: Paise,
}

/// What is wrong with an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Type,
    Negative,
    TooLarge,
    TooFine,
}

impl Wrong {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Type => code::WRONG_TYPE,
            Self::Negative | Self::TooLarge => code::OUT_OF_RANGE,
            Self::TooFine => code::BAD_FORMAT,
        }
    }

    pub(super) fn message(self, found: &RawValue) -> String {
        let found = match self {
            Self::Type => content::kind(found).to_owned(),
            _ => quote(found.get()),
        };
        match self {
            Self::Type => format!("expected a number, found {found}"),
            Self::Negative => format!("expected at least 0, found {found}"),
            Self::TooLarge => format!("expected at most {AMOUNT_MAX}, found {found}"),
            Self::TooFine => format!("expected at most two decimals, found {found}"),
        }
    }
}

/// Reads one amount. A zero may be written `-0`.
pub(super) fn read(raw: &RawValue) -> Result<Paise, Wrong> {
    let negative = raw.get().starts_with('-');
    match Paise::from_inr(raw.get()) {
        Ok(paise) if paise < Paise::ZERO => Err(Wrong::Negative),
        Ok(paise) if paise > AMOUNT_MAX => Err(Wrong::TooLarge),
        Ok(paise) => Ok(paise),
        Err(InvalidAmount::NotANumber) => Err(Wrong::Type),
        Err(_) if negative => Err(Wrong::Negative),
        Err(InvalidAmount::TooLarge) => Err(Wrong::TooLarge),
        Err(InvalidAmount::TooFine) => Err(Wrong::TooFine),
    }
}
