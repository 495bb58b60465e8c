//! A partner as the gateway knows it when it routes a search.

use crate::contract::Axes;
use crate::endpoint::{Endpoint, Mappings};
use crate::id::{IntentId, PartnerId};
use crate::money::compare_amounts;
use crate::secret::Secret;
use crate::sign_in::SignInServer;
use serde_json::Number;

/// One intent that a partner lists.
#[derive(Clone, Debug)]
pub struct Listing {
    pub intent: IntentId,
    /// City names, six-digit postal codes, or `IN_ALL` (spec 1, Manifest).
    pub service_area: Vec<String>,
    /// Hours of operation in the partner's own words; empty is always (see [`availability`](crate::availability)).
    pub availability: String,
    /// The self-rated signals.
    pub declared: Axes,
    /// What one completed order costs; absent where nothing is stated, as with partners of a configuration.
    pub prices: Option<PriceRange>,
}

/// Floor and ceiling of what one completed order costs, in INR, both included, as the partner's manifest states them
/// (spec 1, Manifest, `pricing`). The bounds are compared and never added up, so they stay the numbers that were written.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceRange {
    /// Floor in INR.
    pub min: Number,
    /// Ceiling in INR.
    pub max: Number,
}

impl PriceRange {
    /// Whether a price in INR lies in the range.
    #[must_use]
    pub fn holds(&self, price: &Number) -> bool {
        compare_amounts(&self.min, price).is_le() && compare_amounts(price, &self.max).is_le()
    }
}

/// A partner that may be called.
#[derive(Clone, Debug)]
pub struct Partner {
    /// Issued by the platform.
    pub id: PartnerId,
    /// Display name.
    pub name: String,
    /// Where it is called.
    pub endpoint: Endpoint,
    /// How its API answers the tools of each intent, where it has no MCP server.
    pub mappings: Mappings,
    /// What it lists.
    pub listings: Vec<Listing>,
    /// A bearer token sent with every call that carries none of the user's own; for partners in development.
    pub token: Option<Secret>,
    /// Where its users sign in, as approved. Nobody's token is used where there is none.
    pub sign_in: Option<SignInServer>,
}

impl Partner {
    /// The listing of an intent.
    #[must_use]
    pub fn listing(&self, intent: &str) -> Option<&Listing> {
        self.listings.iter().find(|listing| listing.intent.as_str() == intent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_range_are_in_it() {
        let number = |text: &str| serde_json::from_str::<Number>(text).expect("a number");
        let range = PriceRange { min: number("499.5"), max: number("6999") };
        for inside in ["499.5", "499.50", "500", "6999", "6999.0", "6.999e3"] {
            assert!(range.holds(&number(inside)), "{inside}");
        }
        for outside in ["499", "499.49", "0", "-500", "6999.01", "7000", "1e300", "18446744073709551615"] {
            assert!(!range.holds(&number(outside)), "{outside}");
        }
    }
}
