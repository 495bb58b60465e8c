//! AcServiceSlot: one option of a search (spec 2). Every field is required.

use contract_sdk::common::{PartnerReference, Place};
use contract_sdk::shape::{DateTime, HttpsUrl, Inr, Text};
use contract_sdk::{SearchItem, Shape, Vocabulary};

/// A slot at a provider, with what is done in it and what it costs.
#[derive(Debug, Shape)]
pub struct AcServiceSlot<'a> {
    /// The partner's identifier of the slot.
    pub slot_id: Text<'a>,
    /// Who does the work.
    pub provider: Provider<'a>,
    /// When the work is done.
    pub slot_window: SlotWindow,
    /// What is done.
    pub service_scope: ServiceScope<'a>,
    /// What it costs.
    pub estimated_price: EstimatedPrice,
    /// Where it is done, and how the car gets there.
    pub logistics: Logistics,
    /// What is promised afterwards.
    pub warranty: Warranty<'a>,
    /// What earlier customers say.
    pub ratings: Ratings,
    /// Where the slot comes from.
    pub partner_reference: PartnerReference<'a>,
}

impl SearchItem for AcServiceSlot<'_> {
    fn id(&self) -> &str {
        &self.slot_id
    }
}

/// Who does the work.
#[derive(Debug, Shape)]
pub struct Provider<'a> {
    /// The partner's identifier of the provider.
    pub provider_id: Text<'a>,
    /// Name shown to the user.
    pub name: Text<'a>,
    /// Postal address.
    pub address: Text<'a>,
    /// Kind of provider.
    pub provider_type: ProviderType,
    /// Where the provider is.
    pub location: Place,
    /// Distance from the user in km.
    #[shape(min = 0, max = 30)]
    pub distance_from_user_km: f64,
    /// Trained on both common types of refrigerant, with a certificate of this year.
    pub refrigerant_handling_certified: bool,
}

/// When the work is done.
#[derive(Debug, Shape)]
pub struct SlotWindow {
    /// Start of the slot.
    pub start: DateTime,
    /// End of the slot.
    pub end: DateTime,
    /// How long such work usually takes, in hours.
    #[shape(min = 0.5, max = 6)]
    pub typical_duration_hours: f64,
    /// Whether the car is likely to be ready the same day.
    pub same_day_completion_likely: bool,
}

/// What is done.
#[derive(Debug, Shape)]
pub struct ServiceScope<'a> {
    /// Scope of the work; it must match the work performed.
    pub code: ServiceScopeCode,
    /// The scope in words.
    pub label: Text<'a>,
    /// What is included, point by point.
    #[shape(min_items = 2)]
    pub includes: Vec<Text<'a>>,
    /// The refrigerant used; mixed means that both are at hand.
    pub refrigerant_type: RefrigerantType,
}

/// What it costs, in INR.
#[derive(Debug, Shape)]
pub struct EstimatedPrice {
    /// Fee for finding the fault.
    #[shape(min = 0)]
    pub diagnostic_fee_inr: Inr,
    /// Labour.
    #[shape(min = 0)]
    pub labour_inr: Inr,
    /// Parts, as far as can be foreseen.
    #[shape(min = 0)]
    pub parts_estimate_inr: Inr,
    /// Refrigerant.
    #[shape(min = 0)]
    pub refrigerant_inr: Inr,
    /// Tax.
    #[shape(min = 0)]
    pub gst_inr: Inr,
    /// Whether the diagnostic fee falls away if the repair is done.
    pub diagnostic_fee_waived_if_repair: bool,
    /// What the user is to expect in all.
    #[shape(min = 0)]
    pub total_estimate_inr: Inr,
    /// Whether the total holds within the cap.
    pub price_lock_guaranteed: bool,
    /// By how much the total may rise under the lock, in percent.
    #[shape(min = 0, max = 50)]
    pub price_lock_variance_cap_pct: i64,
}

/// Where it is done, and how the car gets there.
#[derive(Debug, Shape)]
pub struct Logistics {
    /// Whether it is done at the user's door; never compressor work, leaks or overhauls.
    pub doorstep_supported: bool,
    /// Whether the user can wait for the car.
    pub while_you_wait_acceptable: bool,
    /// Whether the car is fetched and brought back.
    pub pickup_drop_supported: bool,
}

/// What is promised afterwards.
#[derive(Debug, Shape)]
pub struct Warranty<'a> {
    /// Warranty on parts in months.
    #[shape(min = 0, max = 24)]
    pub parts_warranty_months: i64,
    /// Warranty on labour in months.
    #[shape(min = 0, max = 6)]
    pub labour_warranty_months: i64,
    /// Days within which the partner services again for free if the air-conditioning does not cool.
    #[shape(min = 0, max = 90)]
    pub cooling_performance_warranty_days: i64,
    /// The terms.
    pub warranty_terms_url: HttpsUrl<'a>,
}

/// What earlier customers say.
#[derive(Debug, Shape)]
pub struct Ratings {
    /// Mean rating.
    #[shape(min = 0, max = 5)]
    pub avg_rating: f64,
    /// Number of reviews.
    #[shape(min = 0)]
    pub review_count: i64,
    /// Share of complaints about cooling that were resolved in the past 12 months, in percent.
    #[shape(min = 0, max = 100)]
    pub cooling_complaint_resolution_pct: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ProviderType {
    OemAuthorised,
    MultiBrandGarage,
    AcSpecialist,
    DoorstepMobile,
}

impl ProviderType {
    /// The kind in words, for cards.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::OemAuthorised => "Authorised workshop",
            Self::MultiBrandGarage => "Multi-brand garage",
            Self::AcSpecialist => "AC specialist",
            Self::DoorstepMobile => "Doorstep service",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ServiceScopeCode {
    BasicCheck,
    RefrigerantTopup,
    LeakDiagnosis,
    CompressorService,
    FullOverhaul,
    CabinFilterOnly,
}

impl ServiceScopeCode {
    /// Whether such work can be done at the user's door (spec 2, `logistics.doorstep_supported`).
    pub(crate) const fn goes_to_the_door(self) -> bool {
        matches!(self, Self::BasicCheck | Self::RefrigerantTopup | Self::CabinFilterOnly)
    }

    /// Whether the compressor is worked on, by itself or as a part of the whole circuit. Such work has an error code of its own
    /// where it is asked for at the door (spec 2, "Errors").
    pub(crate) const fn works_on_compressor(self) -> bool {
        matches!(self, Self::CompressorService | Self::FullOverhaul)
    }

    /// Where such work stands by what it costs, the dearest last. Scopes whose prices overlap share a rank, so that a higher
    /// rank always means dearer work.
    ///
    /// | rank | scope | what is paid for |
    /// |---|---|---|
    /// | 0 | cabin_filter_only, basic_check | a filter, or a look at the system |
    /// | 1 | leak_diagnosis, refrigerant_topup | finding a leak, or gas and the work of filling it in |
    /// | 2 | compressor_service | the compressor taken apart, and new gas |
    /// | 3 | full_overhaul | the whole circuit |
    pub(crate) const fn cost_rank(self) -> u8 {
        match self {
            Self::CabinFilterOnly | Self::BasicCheck => 0,
            Self::LeakDiagnosis | Self::RefrigerantTopup => 1,
            Self::CompressorService => 2,
            Self::FullOverhaul => 3,
        }
    }

    /// Whether such work fills or opens the refrigerant circuit, so that the type of refrigerant matters.
    pub(crate) const fn touches_refrigerant(self) -> bool {
        matches!(self, Self::RefrigerantTopup | Self::LeakDiagnosis | Self::CompressorService | Self::FullOverhaul)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum RefrigerantType {
    R134a,
    R1234yf,
    Mixed,
}

/// First year of manufacture whose cars take r1234yf (spec 2: r134a is for cars before 2017).
pub(crate) const FIRST_R1234YF_YEAR: i64 = 2017;

impl RefrigerantType {
    /// Whether a car of this year takes the refrigerant.
    pub(crate) const fn suits(self, year_of_manufacture: i64) -> bool {
        match self {
            Self::R134a => year_of_manufacture < FIRST_R1234YF_YEAR,
            Self::R1234yf => year_of_manufacture >= FIRST_R1234YF_YEAR,
            Self::Mixed => true,
        }
    }
}
