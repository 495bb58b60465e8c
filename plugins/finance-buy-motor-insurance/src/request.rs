//! The input of a search: what the platform sends to partners (spec 2, "finance.buy_motor_insurance input").
//!
//! Required is only what the spec marks so, and the blocks that hold it.

use crate::INTENT;
use crate::cover::{AddonCode, IdvBasis, PolicyType};
use crate::vehicle::Vehicle;
use contract_sdk::bindings::Need;
use contract_sdk::common::{SessionContext, TtbsUserBand};
use contract_sdk::shape::{Date, LocaleTag, Nullable, Text};
use contract_sdk::{SearchRequest, Shape, UserBands, Vocabulary};
use std::ops::RangeInclusive;

#[derive(Debug, Shape)]
pub struct MotorInsuranceRequest<'a> {
    /// Always finance.buy_motor_insurance.
    #[shape(equals = INTENT)]
    pub intent: Text<'a>,
    /// Identifier of the request; the platform fills it in.
    pub request_id: Option<Text<'a>>,
    /// The user's locale.
    pub user_locale: Option<LocaleTag<'a>>,
    /// Currency of all amounts.
    #[shape(equals = "INR")]
    pub user_currency: Option<Text<'a>>,
    /// Where the user is.
    pub user_location: Option<UserLocation<'a>>,
    /// Why the user needs a policy now.
    pub purchase_context: PurchaseContext,
    /// The vehicle to insure.
    pub vehicle: Vehicle<'a>,
    /// How it was insured before.
    pub previous_policy: PreviousPolicy<'a>,
    /// What the user wants.
    pub buyer_preferences: BuyerPreferences<'a>,
    /// What the user cares for, per axis.
    pub ttbs_user_band: Option<TtbsUserBand<'a>>,
    /// The platform's session.
    pub session_context: Option<SessionContext<'a>>,
}

impl SearchRequest for MotorInsuranceRequest<'_> {
    /// Where the user is. A quote is not bound to an hour.
    fn need(&self) -> Need {
        let place = self.user_location.as_ref();
        Need {
            city: place.and_then(|place| place.city.as_deref()).map(str::to_owned),
            postal_code: place.and_then(|place| place.pincode.as_deref()).map(str::to_owned),
            ..Need::default()
        }
    }

    fn bands(&self) -> UserBands<'_> {
        UserBands::of(&self.ttbs_user_band)
    }
}

impl MotorInsuranceRequest<'_> {
    /// Whether the vehicle is new.
    pub(crate) fn is_new(&self) -> bool {
        self.purchase_context == PurchaseContext::NewlyPurchased
    }

    /// The least and the greatest age that the vehicle may have on a day, in months, a month that has begun counting
    /// whole; `None` where nothing tells. A newly purchased one was bought within the last month, and may have
    /// been built earlier.
    pub(crate) fn age_months(&self, on: Date) -> Option<RangeInclusive<i64>> {
        let stated = self.vehicle.age_months(on);
        if self.is_new() { Some(0..=stated.map_or(1, |age| *age.end().max(&1))) } else { stated }
    }

    /// Years of third-party cover that the vehicle needs in a bundle; 0 where it needs none, `None` where the
    /// request does not tell what the vehicle is.
    pub(crate) fn needed_bundle_years(&self) -> Option<i64> {
        if self.is_new() { self.vehicle.kind().bundle_years() } else { Some(0) }
    }
}

/// Where the user is.
#[derive(Debug, Shape)]
pub struct UserLocation<'a> {
    /// Latitude in degrees.
    pub lat: Option<f64>,
    /// Longitude in degrees.
    pub lng: Option<f64>,
    /// City.
    pub city: Option<Text<'a>>,
    /// Postal code, six digits.
    #[shape(len = 6)]
    pub pincode: Option<Text<'a>>,
}

/// Why the user needs a policy now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PurchaseContext {
    /// Bought within 30 days, no prior policy.
    NewlyPurchased,
    /// A policy is live, with another insurer.
    Switching,
    /// The previous policy lapsed.
    LapsedFresh,
    /// A used vehicle's first policy of this owner.
    UsedVehicleFirstPolicy,
}

/// How the vehicle was insured before.
#[derive(Debug, Shape)]
pub struct PreviousPolicy<'a> {
    /// Whether there was a policy.
    pub has_prior_policy: bool,
    /// Its insurer; needed where there was a policy.
    pub insurer_name: Option<Nullable<Text<'a>>>,
    /// Its last day; needed where there was a policy.
    pub expiry_date: Option<Nullable<Date>>,
    /// Claims in the last policy year.
    pub claims_filed_last_year: Option<i64>,
    /// No-claim bonus that may be carried forward, in percent.
    pub ncb_pct_carry_forward: Option<i64>,
    /// Days since the policy lapsed; null where it did not.
    pub lapse_days: Option<Nullable<i64>>,
}

impl PreviousPolicy<'_> {
    /// Whether a claim was filed in the last policy year.
    pub(crate) fn has_claims(&self) -> bool {
        self.claims_filed_last_year.is_some_and(|claims| claims > 0)
    }

    /// Its insurer's name, where it is given.
    pub(crate) fn insurer(&self) -> Option<&str> {
        self.insurer_name.as_ref().and_then(|name| name.0.as_deref())
    }

    /// Its last day, where it is given.
    pub(crate) fn expiry(&self) -> Option<Date> {
        self.expiry_date.and_then(|date| date.0)
    }

    /// Days without cover before a new policy that starts on a day: as the request says, or else between the two
    /// policies. Negative or 0 where there is no gap; `None` where nothing is known or there was no policy.
    pub(crate) fn lapse_days(&self, starts: Date) -> Option<i64> {
        if !self.has_prior_policy {
            return None;
        }
        let stated = self.lapse_days.and_then(|days| days.0);
        stated.or_else(|| self.expiry().map(|expiry| i64::from(starts.days) - i64::from(expiry.days) - 1))
    }
}

/// What the user wants.
#[derive(Debug, Shape)]
pub struct BuyerPreferences<'a> {
    /// Kind of policy.
    pub target_policy_type: PolicyType,
    /// What the insured value should be taken from.
    pub idv_preference: Option<IdvBasis>,
    /// Addons that the policy should have; none where empty.
    pub addons_required: Vec<AddonCode>,
    /// Years that the policy should last.
    #[shape(one_of = [1, 3])]
    pub preferred_tenure_years: Option<i64>,
    /// Years of third-party cover: 3 for new cars, 5 for new two-wheelers, 0 for all else.
    #[shape(one_of = [0, 3, 5])]
    pub long_term_tp_years: i64,
    /// Whether the policy must be issued at once.
    pub instant_issuance_required: Option<bool>,
    /// Insurers that the user likes, by name or identifier.
    pub preferred_insurers: Option<Vec<Text<'a>>>,
}
