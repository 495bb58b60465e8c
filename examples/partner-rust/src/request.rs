//! The arguments of the three tools, read strictly (spec 2, `auto.book_ac_service` input).
//!
//! Unknown keys pass: the contract may grow. What is known must have the right type and bounds.

use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{catalogue::Place, refusal::Refusal};

/// The longest `ac_issue.user_description`, in characters.
const MAX_DESCRIPTION_CHARS: usize = 500;
/// The largest `ac_issue.last_serviced_months_ago`.
const MAX_MONTHS_AGO: u32 = 120;
/// The longest identifier or code that is taken, in characters.
const MAX_ID_CHARS: usize = 200;
/// The longest doorstep address, in characters.
const MAX_ADDRESS_CHARS: usize = 500;

/// Arguments of `search_ac_service_slots`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SearchRequest {
    pub(crate) intent: String,
    pub(crate) user_location: Option<UserLocation>,
    pub(crate) vehicle: Vehicle,
    pub(crate) ac_issue: AcIssue,
    pub(crate) service_preferences: ServicePreferences,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct UserLocation {
    pub(crate) lat: f64,
    pub(crate) lng: f64,
    pub(crate) max_radius_km: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Vehicle {
    #[serde(rename = "type")]
    pub(crate) vehicle_type: VehicleType,
    pub(crate) fuel_type: Option<FuelType>,
    pub(crate) year_of_manufacture: Option<i32>,
    pub(crate) ac_system_type: AcSystemType,
}

/// The intent takes cars only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VehicleType {
    Car,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FuelType {
    Petrol,
    Diesel,
    Cng,
    Electric,
    Hybrid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AcSystemType {
    Manual,
    Automatic,
    ClimateControl,
    DualZone,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AcIssue {
    pub(crate) category: IssueCategory,
    pub(crate) user_description: String,
    /// Required, but may be null. Only a custom reader makes serde insist on the key.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) last_serviced_months_ago: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IssueCategory {
    NotCooling,
    Intermittent,
    NoAir,
    Smell,
    Noise,
    PreSummerCheck,
    LeakSuspected,
    ElectricalFault,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ServicePreferences {
    pub(crate) doorstep_acceptable: bool,
    pub(crate) preferred_window: Option<Window>,
    #[serde(default)]
    pub(crate) authorised_only: bool,
}

/// When the customer has time. A time without an offset is refused by the timestamp type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Window {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

/// Arguments of `create_ac_service_booking`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CreateRequest {
    pub(crate) request_id: String,
    pub(crate) slot_id: String,
    pub(crate) vehicle: Map<String, Value>,
    pub(crate) ac_issue: Map<String, Value>,
    pub(crate) contact_phone: String,
    pub(crate) doorstep_address: Option<String>,
}

/// Arguments of `cancel_ac_service_booking`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CancelRequest {
    pub(crate) request_id: String,
    pub(crate) booking_id: String,
    pub(crate) reason_code: String,
}

impl SearchRequest {
    /// Reads and checks the arguments of a search.
    pub(crate) fn read(arguments: &Map<String, Value>) -> Result<Self, Refusal> {
        let request: Self = read(arguments)?;
        request.check()?;
        Ok(request)
    }

    /// Where the customer is, if it is known.
    pub(crate) fn place(&self) -> Option<Place> {
        self.user_location.as_ref().map(|l| Place { lat: l.lat, lng: l.lng })
    }

    fn check(&self) -> Result<(), Refusal> {
        // Anything but a car was refused while reading; a second vehicle type must be thought of here.
        let VehicleType::Car = self.vehicle.vehicle_type;
        if self.intent != crate::descriptors::INTENT {
            return Err(Refusal::invalid("intent", format!("this partner serves {} only", crate::descriptors::INTENT)));
        }
        if self.ac_issue.user_description.chars().count() > MAX_DESCRIPTION_CHARS {
            return Err(Refusal::invalid(
                "ac_issue.user_description",
                format!("at most {MAX_DESCRIPTION_CHARS} characters"),
            ));
        }
        if self.ac_issue.last_serviced_months_ago > Some(MAX_MONTHS_AGO) {
            return Err(Refusal::invalid(
                "ac_issue.last_serviced_months_ago",
                format!("0 to {MAX_MONTHS_AGO}, or null"),
            ));
        }
        if let Some(location) = &self.user_location {
            within("user_location.lat", location.lat, -90.0, 90.0)?;
            within("user_location.lng", location.lng, -180.0, 180.0)?;
            let radius_km = location.max_radius_km.unwrap_or_default();
            within("user_location.max_radius_km", radius_km, 0.0, f64::MAX)?;
        }
        match self.service_preferences.preferred_window {
            Some(window) if window.start >= window.end => {
                Err(Refusal::invalid("service_preferences.preferred_window", "start must lie before end"))
            }
            _ => Ok(()),
        }
    }
}

impl CreateRequest {
    /// Reads and checks the arguments of a booking.
    pub(crate) fn read(arguments: &Map<String, Value>) -> Result<Self, Refusal> {
        let request: Self = read(arguments)?;
        filled("request_id", &request.request_id, MAX_ID_CHARS)?;
        filled("slot_id", &request.slot_id, MAX_ID_CHARS)?;
        for (field, object) in [("vehicle", &request.vehicle), ("ac_issue", &request.ac_issue)] {
            if object.is_empty() {
                return Err(Refusal::invalid(field, "must not be empty"));
            }
        }
        let phone = request.contact_phone.as_bytes();
        let dialable = |byte: &u8| byte.is_ascii_digit() || b" ()+-".contains(byte);
        if !(8..=20).contains(&phone.len()) || !phone.iter().all(dialable) {
            return Err(Refusal::invalid("contact_phone", "8 to 20 digits, spaces, brackets, + or -"));
        }
        if let Some(address) = &request.doorstep_address {
            filled("doorstep_address", address, MAX_ADDRESS_CHARS)?;
        }
        Ok(request)
    }
}

impl CancelRequest {
    /// Reads and checks the arguments of a cancellation.
    pub(crate) fn read(arguments: &Map<String, Value>) -> Result<Self, Refusal> {
        let request: Self = read(arguments)?;
        filled("request_id", &request.request_id, MAX_ID_CHARS)?;
        filled("booking_id", &request.booking_id, MAX_ID_CHARS)?;
        filled("reason_code", &request.reason_code, MAX_ID_CHARS)?;
        Ok(request)
    }
}

fn read<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(Value::Object(arguments.clone())).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        // For a missing key the path ends at the object around it, and the message names the key.
        let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let field = match (path.as_str(), missing) {
            (".", Some(key)) => key.to_owned(),
            (_, Some(key)) => format!("{path}.{key}"),
            (_, None) => path,
        };
        Refusal::invalid(field, message)
    })
}

fn within(field: &str, value: f64, low: f64, high: f64) -> Result<(), Refusal> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(Refusal::invalid(field, format!("{value} is out of range")))
    }
}

fn filled(field: &str, value: &str, max_chars: usize) -> Result<(), Refusal> {
    if value.trim().is_empty() {
        return Err(Refusal::invalid(field, "must not be empty"));
    }
    if value.chars().count() > max_chars {
        return Err(Refusal::invalid(field, format!("at most {max_chars} characters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{descriptors, refusal::PlatformCode};

    const REQUEST: &str = include_str!("../../catalogues/contract/search-request.json");

    fn sample() -> Value {
        serde_json::from_str(REQUEST).expect("the sample is JSON")
    }

    fn read_search(value: &Value) -> Result<SearchRequest, Refusal> {
        SearchRequest::read(value.as_object().expect("an object"))
    }

    /// Every (object pointer, key) that a schema lists under `required`.
    fn required(schema: &Value, at: &str, found: &mut Vec<(String, String)>) {
        for key in schema["required"].as_array().into_iter().flatten() {
            found.push((at.to_owned(), key.as_str().expect("a key").to_owned()));
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            required(inner, &format!("{at}/{key}"), found);
        }
    }

    #[test]
    fn the_sample_is_valid_without_what_the_schema_does_not_require() {
        read_search(&sample()).expect("valid");
        let mut bare = sample();
        for key in ["request_id", "user_location", "user_locale", "ttbs_user_band"] {
            bare.as_object_mut().expect("an object").remove(key);
        }
        read_search(&bare).expect("valid");
    }

    #[test]
    fn whatever_the_input_schema_requires_is_missed_by_name() {
        let terms = crate::catalogue::Catalogue::load("oem").expect("built in").platform;
        let tools = descriptors::tools(&terms).expect("descriptors");
        let mut keys = Vec::new();
        required(&tools[0].schema_as_json_value(), "", &mut keys);
        assert!(keys.len() >= 10, "{keys:?}");
        for (at, key) in keys {
            let mut request = sample();
            let holder = request.pointer_mut(&at).and_then(Value::as_object_mut);
            holder.expect("the sample has it").remove(&key);
            let refusal = read_search(&request).expect_err(&key);
            assert_eq!(refusal.code, PlatformCode::InvalidRequest);
            let expected = format!("{at}/{key}").replace('/', ".");
            assert_eq!(refusal.field.as_deref(), Some(expected.trim_start_matches('.')));
        }
    }

    #[test]
    fn wrong_types_and_bounds_are_refused() {
        for (pointer, value, field) in [
            ("/intent", Value::from("auto.book_general_service"), "intent"),
            ("/vehicle/type", "two_wheeler".into(), "vehicle.type"),
            ("/vehicle/ac_system_type", "none".into(), "vehicle.ac_system_type"),
            ("/ac_issue/user_description", "x".repeat(501).into(), "ac_issue.user_description"),
            ("/ac_issue/last_serviced_months_ago", 121.into(), "ac_issue.last_serviced_months_ago"),
            ("/user_location/lat", 91.into(), "user_location.lat"),
            ("/user_location/max_radius_km", (-1).into(), "user_location.max_radius_km"),
            (
                "/service_preferences/preferred_window/start",
                "2026-12-01T09:00:00".into(),
                "service_preferences.preferred_window.start",
            ),
            (
                "/service_preferences/preferred_window/end",
                "2026-12-01T09:00:00+05:30".into(),
                "service_preferences.preferred_window",
            ),
        ] {
            let mut request = sample();
            *request.pointer_mut(pointer).expect("the sample has it") = value;
            let refusal = read_search(&request).expect_err(pointer);
            assert_eq!(refusal.code, PlatformCode::InvalidRequest);
            assert_eq!(refusal.field.as_deref(), Some(field));
        }
    }

    #[test]
    fn a_phone_number_is_dialable() {
        let mut arguments = serde_json::json!({
            "request_id": "r1", "slot_id": "s1", "vehicle": {"type": "car"},
            "ac_issue": {"category": "noise"}, "contact_phone": "+91 98123 45678",
        });
        let object = arguments.as_object_mut().expect("an object");
        CreateRequest::read(object).expect("valid");
        object.insert("contact_phone".into(), "please call".into());
        assert!(CreateRequest::read(object).is_err());
    }
}
