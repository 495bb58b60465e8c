//! What an option costs, against what its partner's manifest says that one order costs (spec 1, Manifest: the range is that
//! of real prices). An option outside the range is noted and ranked as it would be otherwise: it may be a fair one, and
//! the manifest the thing to be mended.
//!
//! Only the contract knows which number is the price of its intent, so its descriptor says where that stands.

use serde_json::Number;
use serde_json::value::RawValue;

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::partner::{Listing, PriceRange};
use intent_gateway_domain::pointer;

/// A finding: the option's price lies outside the range that the partner's manifest states.
const PRICE_OUT_OF_RANGE: &str = "PRICE_OUT_OF_RANGE";

/// What a partner's prices are compared with.
pub(super) struct PriceRule<'a> {
    /// Where an option has its price.
    at: &'a str,
    range: &'a PriceRange,
}

impl<'a> PriceRule<'a> {
    /// None where the manifest states no range.
    pub(super) fn of(at: &'a str, listing: &'a Listing) -> Option<Self> {
        listing.prices.as_ref().map(|range| Self { at, range })
    }

    /// What is wrong with an option's price. Whether it must have one at all, its contract says.
    pub(super) fn judge(&self, option: &RawValue) -> Option<Violation> {
        let Self { at, range } = self;
        let price: Number = serde_json::from_str(pointer::find_in(option, at)?.get()).ok()?;
        if range.holds(&price) {
            return None;
        }
        let PriceRange { min, max } = range;
        Some(Violation {
            pointer: (*at).to_owned(),
            code: PRICE_OUT_OF_RANGE.to_owned(),
            message: format!("{price} INR lies outside the range of the manifest, {min} to {max} INR an order"),
        })
    }
}
