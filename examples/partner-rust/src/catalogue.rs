//! The business behind the server, read from a catalogue file (`examples/catalogues/README.md`).
//!
//! A catalogue says what a business has on offer; it holds no state. What is sold lives in `desk`.

use std::{collections::BTreeMap, path::PathBuf};

use jiff::civil::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::request::{AcSystemType, FuelType, IssueCategory};

/// The largest catalogue file that is read, in bytes.
const MAX_CATALOGUE_BYTES: u64 = 1024 * 1024;

/// The largest price part, in INR: far above any repair, and its sums and tax fit an integer.
const MAX_PRICE_INR: u32 = 10_000_000;
/// The longest time that a quote may hold, in minutes.
const MAX_QUOTE_VALID_MINUTES: i64 = 24 * 60;

/// The catalogues that are compiled in, by every name that `--catalogue` knows them under.
const BUILT_IN: &[(&[&str], &str)] = &[
    (&["oem", "honest"], include_str!("../../catalogues/oem.json")),
    (&["garage", "budget"], include_str!("../../catalogues/garage.json")),
    (&["doorstep"], include_str!("../../catalogues/doorstep.json")),
    (&["dishonest"], include_str!("../../catalogues/dishonest.json")),
    (&["specialist"], include_str!("../../catalogues/specialist.json")),
    (&["neighbourhood"], include_str!("../../catalogues/neighbourhood.json")),
];

/// Why a catalogue cannot be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogueError {
    #[error("{path} cannot be read (built-in catalogues: {})", built_in_names().join(", "))]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} is larger than {MAX_CATALOGUE_BYTES} bytes")]
    TooLarge { path: PathBuf },
    #[error("the catalogue is not well-formed")]
    Malformed(#[source] serde_json::Error),
    #[error("slot {slot} names the {kind} {name}, which the catalogue does not have")]
    Dangling { slot: String, kind: &'static str, name: String },
    #[error("opening time {opens} is not before closing time {closes}")]
    Hours { opens: Time, closes: Time },
    #[error("utc_offset_minutes {0} is no time zone")]
    Offset(i32),
    #[error("quote_valid_minutes {0} is not within 1 to {MAX_QUOTE_VALID_MINUTES}")]
    QuoteValidity(i64),
    #[error("a price of service {0} is above {MAX_PRICE_INR} INR")]
    Price(String),
    #[error("service {0} must last at least 30 minutes and at most 360")]
    Duration(String),
}

/// A whole catalogue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catalogue {
    pub(crate) business: Business,
    pub(crate) platform: PlatformTerms,
    pub(crate) vehicles: Vehicles,
    pub(crate) providers: Vec<Provider>,
    pub(crate) services: BTreeMap<String, Service>,
    pub(crate) slots: Vec<SlotTemplate>,
}

/// Who answers, when it is open, and whom the customer meets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Business {
    pub(crate) name: String,
    /// `partner_reference.source`, and the head of every slot id.
    pub(crate) source: String,
    /// HTTPS origin without a trailing slash; warranty terms and deep links lie below it.
    pub(crate) website: String,
    /// Local time, minutes east of UTC.
    pub(crate) utc_offset_minutes: i32,
    pub(crate) opens: Time,
    pub(crate) closes: Time,
    /// How long a quoted slot stays bookable, in minutes.
    pub(crate) quote_valid_minutes: i64,
    /// Taken as the customer's place when a request states none.
    pub(crate) centre: Place,
    pub(crate) advisor: Advisor,
    pub(crate) payment_due_at: PaymentDueAt,
}

/// A point on the map, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) lat: f64,
    pub(crate) lng: f64,
}

/// The person that a booking names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Advisor {
    pub(crate) name: String,
    /// E.164.
    pub(crate) phone: String,
}

/// When the customer pays (spec 2, AcServiceBooking).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaymentDueAt {
    Intake,
    Completion,
    WeeklyInvoice,
}

/// What the business declares in each tool's `_meta.platform` (spec 1). Passed on as it stands.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlatformTerms {
    pub(crate) pricing: Pricing,
    pub(crate) service_area: Vec<String>,
    pub(crate) ttbs_signals: BTreeMap<String, f64>,
    pub(crate) availability: String,
    pub(crate) completion_callback: String,
}

/// Typical floor and ceiling of one completed order, in whole INR.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pricing {
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) currency: String,
}

/// The cars that the business takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vehicles {
    pub(crate) ac_system_types: Vec<AcSystemType>,
    pub(crate) fuel_types: Vec<FuelType>,
}

/// One workshop or mobile technician.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provider {
    pub(crate) provider_id: String,
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) provider_type: ProviderType,
    pub(crate) lat: f64,
    pub(crate) lng: f64,
    /// Customers farther away than this are not served, in km.
    pub(crate) serves_within_km: f64,
    pub(crate) refrigerant_handling_certified: bool,
    pub(crate) refrigerants: Vec<Refrigerant>,
    pub(crate) ratings: Ratings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderType {
    OemAuthorised,
    MultiBrandGarage,
    AcSpecialist,
    DoorstepMobile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Refrigerant {
    R134a,
    R1234yf,
    /// The provider handles both; quoted when the car's year is unknown.
    Mixed,
}

/// What customers said (spec 2, AcServiceSlot ratings).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ratings {
    pub(crate) avg_rating: f64,
    pub(crate) review_count: u32,
    pub(crate) cooling_complaint_resolution_pct: u8,
}

/// A kind of work, the same at every provider of the business.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Service {
    pub(crate) scope: Scope,
    pub(crate) label: String,
    pub(crate) includes: Vec<String>,
    /// The complaints that this work answers.
    pub(crate) issues: Vec<IssueCategory>,
    pub(crate) duration_minutes: u32,
    pub(crate) same_day_completion_likely: bool,
    pub(crate) price: Price,
    pub(crate) logistics: Logistics,
    pub(crate) warranty: WarrantyTerms,
}

/// spec 2, `service_scope.code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    BasicCheck,
    RefrigerantTopup,
    LeakDiagnosis,
    CompressorService,
    FullOverhaul,
    CabinFilterOnly,
}

impl Scope {
    /// Work on the compressor is done in a workshop only (spec 2, logistics).
    pub(crate) fn needs_workshop(self) -> bool {
        matches!(self, Self::CompressorService | Self::FullOverhaul)
    }
}

/// Prices before tax, in whole INR. Tax and total are computed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Price {
    pub(crate) diagnostic_fee_inr: u32,
    pub(crate) diagnostic_fee_waived_if_repair: bool,
    pub(crate) labour_inr: u32,
    pub(crate) parts_estimate_inr: u32,
    pub(crate) refrigerant_inr: RefrigerantPrice,
    pub(crate) price_lock_guaranteed: bool,
    pub(crate) price_lock_variance_cap_pct: u8,
}

impl Price {
    fn parts(&self) -> [u32; 5] {
        [
            self.diagnostic_fee_inr,
            self.labour_inr,
            self.parts_estimate_inr,
            self.refrigerant_inr.r134a,
            self.refrigerant_inr.r1234yf,
        ]
    }
}

/// The newer refrigerant costs two to three times as much.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefrigerantPrice {
    pub(crate) r134a: u32,
    pub(crate) r1234yf: u32,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Logistics {
    pub(crate) doorstep_supported: bool,
    pub(crate) while_you_wait_acceptable: bool,
    pub(crate) pickup_drop_supported: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WarrantyTerms {
    pub(crate) parts_warranty_months: u8,
    pub(crate) labour_warranty_months: u8,
    pub(crate) cooling_performance_warranty_days: u8,
}

/// One line of the day's plan: which provider does which service, how long after the window opens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SlotTemplate {
    /// Part of the slot id. Two templates with one ref give a duplicate slot id, as a cheat would.
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    pub(crate) provider: String,
    pub(crate) service: String,
    pub(crate) offset_minutes: u32,
    /// How many customers the slot takes.
    pub(crate) stock: u32,
    /// JSON merge patch (RFC 7396) on the finished slot: how a dishonest business bends the truth.
    pub(crate) merge: Option<Map<String, Value>>,
}

impl Catalogue {
    /// Reads a built-in catalogue by name, or else a file by path.
    pub(crate) fn load(name_or_path: &str) -> Result<Self, CatalogueError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(names, _)| names.contains(&name_or_path)) {
            return Self::parse(text);
        }
        let path = PathBuf::from(name_or_path);
        let read_error = |source| CatalogueError::Read { path: path.clone(), source };
        let size = std::fs::metadata(&path).map_err(read_error)?.len();
        if size > MAX_CATALOGUE_BYTES {
            return Err(CatalogueError::TooLarge { path });
        }
        Self::parse(&std::fs::read_to_string(&path).map_err(read_error)?)
    }

    /// Parses and checks a catalogue.
    pub(crate) fn parse(text: &str) -> Result<Self, CatalogueError> {
        let catalogue: Self = serde_json::from_str(text).map_err(CatalogueError::Malformed)?;
        catalogue.check()?;
        Ok(catalogue)
    }

    pub(crate) fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|p| p.provider_id == id)
    }

    fn check(&self) -> Result<(), CatalogueError> {
        let Business { opens, closes, utc_offset_minutes, .. } = self.business;
        if opens >= closes {
            return Err(CatalogueError::Hours { opens, closes });
        }
        if utc_offset_minutes.abs() > 14 * 60 {
            return Err(CatalogueError::Offset(utc_offset_minutes));
        }
        let valid_minutes = self.business.quote_valid_minutes;
        if !(1..=MAX_QUOTE_VALID_MINUTES).contains(&valid_minutes) {
            return Err(CatalogueError::QuoteValidity(valid_minutes));
        }
        for (name, service) in &self.services {
            if service.price.parts().iter().any(|part| *part > MAX_PRICE_INR) {
                return Err(CatalogueError::Price(name.clone()));
            }
            // spec 2, typical_duration_hours 0.5-6
            if !(30..=360).contains(&service.duration_minutes) {
                return Err(CatalogueError::Duration(name.clone()));
            }
        }
        for slot in &self.slots {
            let dangling = |kind, name: &str| CatalogueError::Dangling {
                slot: slot.reference.clone(),
                kind,
                name: name.to_owned(),
            };
            if self.provider(&slot.provider).is_none() {
                return Err(dangling("provider", &slot.provider));
            }
            if !self.services.contains_key(&slot.service) {
                return Err(dangling("service", &slot.service));
            }
        }
        Ok(())
    }
}

fn built_in_names() -> Vec<&'static str> {
    BUILT_IN.iter().flat_map(|(names, _)| names.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_catalogue_loads_under_every_name() {
        for name in built_in_names() {
            let catalogue = Catalogue::load(name).expect(name);
            // Go-live requirement of the intent: at least 3 providers and 8 slots.
            assert!(catalogue.providers.len() >= 3, "{name}");
            assert!(catalogue.slots.len() >= 8, "{name}");
            assert_eq!(catalogue.vehicles.ac_system_types.len(), 4, "{name}");
        }
    }

    #[test]
    fn a_slot_must_name_a_provider_and_a_service_of_the_catalogue() {
        let text = include_str!("../../catalogues/oem.json");
        let text = text.replace("\"provider\": \"namma-residency\"", "\"provider\": \"nobody\"");
        let error = Catalogue::parse(&text).expect_err("dangling provider");
        assert!(matches!(error, CatalogueError::Dangling { kind: "provider", .. }), "{error}");
    }

    #[test]
    fn prices_and_quotes_are_bounded() {
        let text = include_str!("../../catalogues/oem.json");
        for (old, new) in [
            ("\"labour_inr\": 900", "\"labour_inr\": 4000000000"),
            ("\"quote_valid_minutes\": 15", "\"quote_valid_minutes\": 0"),
            ("\"opens\": \"08:00\"", "\"opens\": \"21:00\""),
            ("\"duration_minutes\": 360", "\"duration_minutes\": 361"),
            ("\"utc_offset_minutes\": 330", "\"utc_offset_minutes\": 900"),
        ] {
            assert!(text.contains(old), "{old}");
            assert!(Catalogue::parse(&text.replace(old, new)).is_err(), "{new}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_built_in_ones() {
        let error = Catalogue::load("/nowhere/cheap.json").expect_err("no such file");
        assert!(error.to_string().contains("doorstep"), "{error}");
    }
}
