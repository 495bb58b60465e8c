//! The input of a search: what the platform sends to providers (spec 2, "auto.book_ac_service input").
//!
//! Required is only what the spec marks so, and the blocks that hold it.

use crate::INTENT;
use contract_sdk::bindings::Need;
use contract_sdk::common::{SessionContext, TtbsUserBand};
use contract_sdk::shape::{DateTime, LocaleTag, Nullable, Text};
use contract_sdk::{SearchRequest, Shape, UserBands, Vocabulary};
use std::borrow::Cow;

#[derive(Debug, Shape)]
pub struct AcServiceRequest<'a> {
    /// Always auto.book_ac_service.
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
    /// The car.
    pub vehicle: Vehicle<'a>,
    /// What is wrong with its air-conditioning.
    pub ac_issue: AcIssue<'a>,
    /// How the user wants to be served.
    pub service_preferences: ServicePreferences,
    /// What the user cares for, per axis.
    pub ttbs_user_band: Option<TtbsUserBand<'a>>,
    /// The platform's session.
    pub session_context: Option<SessionContext<'a>>,
}

impl SearchRequest for AcServiceRequest<'_> {
    fn need(&self) -> Need {
        let window = self.service_preferences.preferred_window;
        Need {
            city: self.user_location.as_ref().and_then(|place| place.city.as_deref()).map(str::to_owned),
            from_ms: window.and_then(|window| window.start.epoch_ms()),
            until_ms: window.and_then(|window| window.end.epoch_ms()),
            ..Need::default()
        }
    }

    fn bands(&self) -> UserBands<'_> {
        UserBands::of(&self.ttbs_user_band)
    }
}

impl AcServiceRequest<'_> {
    /// The greatest distance that the user accepts, in km.
    pub(crate) fn max_radius_km(&self) -> Option<f64> {
        self.user_location.as_ref().and_then(|place| place.max_radius_km)
    }
}

/// Where the user is, and how far to go.
#[derive(Debug, Shape)]
pub struct UserLocation<'a> {
    /// Latitude in degrees.
    pub lat: Option<f64>,
    /// Longitude in degrees.
    pub lng: Option<f64>,
    /// Greatest distance of a provider in km.
    #[shape(min = 0)]
    pub max_radius_km: Option<f64>,
    /// City.
    pub city: Option<Text<'a>>,
}

/// The car.
#[derive(Debug, Shape)]
pub struct Vehicle<'a> {
    /// Cars only; two-wheelers are another intent's.
    #[shape(rename = "type")]
    pub kind: VehicleType,
    /// Maker.
    pub make: Option<Text<'a>>,
    /// Model.
    pub model: Option<Text<'a>>,
    /// Variant of the model.
    pub variant: Option<Text<'a>>,
    /// What it runs on.
    pub fuel_type: Option<FuelType>,
    /// Calendar year in which it was built; decides which refrigerant is right.
    pub year_of_manufacture: Option<i64>,
    /// The last four characters of the registration number, and no more.
    #[shape(len = 4)]
    pub registration_number_last4: Option<Text<'a>>,
    /// Odometer reading in km.
    pub current_odometer_km: Option<i64>,
    /// Kind of air-conditioning; filters the parts catalogue.
    pub ac_system_type: AcSystemType,
}

/// What is wrong.
#[derive(Debug, Shape)]
pub struct AcIssue<'a> {
    /// What the trouble is.
    pub category: IssueCategory,
    /// The trouble in the user's words.
    #[shape(max_len = 500)]
    pub user_description: Cow<'a, str>,
    /// Months since the air-conditioning was last serviced; null when unknown.
    #[shape(min = 0, max = 120)]
    pub last_serviced_months_ago: Nullable<i64>,
}

/// How the user wants to be served.
#[derive(Debug, Shape)]
pub struct ServicePreferences {
    /// Whether the provider may come to the user; compressor work needs a workshop.
    pub doorstep_acceptable: bool,
    /// When the service should start.
    pub preferred_window: Option<PreferredWindow>,
    /// Whether the user needs a car meanwhile.
    pub loaner_vehicle_required: Option<bool>,
    /// Whether only the maker's own workshops will do.
    pub authorised_only: Option<bool>,
}

/// When the service should start.
#[derive(Debug, Clone, Copy, Shape)]
pub struct PreferredWindow {
    /// Earliest start.
    pub start: DateTime,
    /// Latest start.
    pub end: DateTime,
}

/// Kinds of vehicle that the intent serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleType {
    Car,
}

/// What a car runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FuelType {
    Petrol,
    Diesel,
    Cng,
    Electric,
    Hybrid,
}

/// Kinds of air-conditioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum AcSystemType {
    Manual,
    Automatic,
    ClimateControl,
    DualZone,
}

/// What the trouble is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
#[vocabulary(name = "ac_issue_category")]
pub enum IssueCategory {
    NotCooling,
    Intermittent,
    NoAir,
    Smell,
    Noise,
    PreSummerCheck,
    LeakSuspected,
    ElectricalFault,
}
