//! From a search request to priced slots. Pure: the same catalogue, request and stock give the same
//! slots. What is sold is known to the caller, not here.

use jiff::{SignedDuration, Timestamp, civil::Date, tz::Offset};
use serde::Serialize;
use serde_json::Value;

use crate::{
    catalogue::{
        Catalogue, Logistics, Place, Provider, ProviderType, Ratings, Refrigerant, Scope, Service, SlotTemplate,
    },
    refusal::{PlatformCode, Refusal},
    request::{SearchRequest, Window},
};

/// The largest number of slots in one answer (spec 2, tools).
pub(crate) const MAX_SLOTS: usize = 15;
/// The farthest workshop that the contract can express, in km (spec 2, AcServiceSlot).
const MAX_DISTANCE_KM: f64 = 30.0;
/// Cars of this year and later take r1234yf (spec 2, service_scope.refrigerant_type).
const FIRST_R1234YF_YEAR: i32 = 2017;
/// Goods and services tax on car repair, in percent.
const GST_PERCENT: u32 = 18;
/// Work starts on the quarter of an hour, in seconds.
const START_GRID_S: i64 = 15 * 60;
/// Mean radius of the Earth, in km (IUGG).
const EARTH_RADIUS_KM: f64 = 6371.0088;

/// One slot that the business offers, before any trick is played on it.
#[derive(Debug, Clone)]
pub(crate) struct Quote {
    pub(crate) slot_id: String,
    /// What is taken from stock: the same for every car that might fill the slot.
    pub(crate) stock_key: String,
    /// How many customers the slot takes.
    pub(crate) stock: u32,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) scope: Scope,
    pub(crate) doorstep_supported: bool,
    /// Whole INR, tax included.
    pub(crate) total_inr: u32,
    /// The AcServiceSlot as the customer sees it, tricks played.
    pub(crate) payload: Value,
}

/// AcServiceSlot (spec 2); every field is required.
#[derive(Debug, Serialize)]
struct AcServiceSlot<'a> {
    slot_id: &'a str,
    provider: SlotProvider<'a>,
    slot_window: SlotWindow,
    service_scope: ServiceScope<'a>,
    estimated_price: EstimatedPrice,
    logistics: &'a Logistics,
    warranty: Warranty,
    ratings: &'a Ratings,
    partner_reference: PartnerReference<'a>,
}

#[derive(Debug, Serialize)]
struct SlotProvider<'a> {
    provider_id: &'a str,
    name: &'a str,
    address: &'a str,
    provider_type: ProviderType,
    location: Place,
    distance_from_user_km: f64,
    refrigerant_handling_certified: bool,
}

#[derive(Debug, Serialize)]
struct SlotWindow {
    start: String,
    end: String,
    typical_duration_hours: f64,
    same_day_completion_likely: bool,
}

#[derive(Debug, Serialize)]
struct ServiceScope<'a> {
    code: Scope,
    label: &'a str,
    includes: &'a [String],
    refrigerant_type: Refrigerant,
}

#[derive(Debug, Serialize)]
struct EstimatedPrice {
    diagnostic_fee_inr: u32,
    diagnostic_fee_waived_if_repair: bool,
    labour_inr: u32,
    parts_estimate_inr: u32,
    refrigerant_inr: u32,
    gst_inr: u32,
    total_estimate_inr: u32,
    price_lock_guaranteed: bool,
    price_lock_variance_cap_pct: u8,
}

#[derive(Debug, Serialize)]
struct Warranty {
    parts_warranty_months: u8,
    labour_warranty_months: u8,
    cooling_performance_warranty_days: u8,
    warranty_terms_url: String,
}

#[derive(Debug, Serialize)]
struct PartnerReference<'a> {
    source: &'a str,
    deeplink: String,
}

/// The part of the customer's window in which the business works, on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WorkingWindow {
    /// On the start grid.
    start: Timestamp,
    end: Timestamp,
}

/// The slots that fit the request, earliest first, at most [`MAX_SLOTS`].
///
/// `in_stock` says how many of a template's places at a time (`stock_key`) are still free.
pub(crate) fn quotes(
    catalogue: &Catalogue,
    request: &SearchRequest,
    now: Timestamp,
    in_stock: impl Fn(&str, u32) -> bool,
) -> Result<Vec<Quote>, Refusal> {
    let vehicle = &request.vehicle;
    let fuel_served = vehicle.fuel_type.is_none_or(|fuel| catalogue.vehicles.fuel_types.contains(&fuel));
    if !fuel_served || !catalogue.vehicles.ac_system_types.contains(&vehicle.ac_system_type) {
        return Err(Refusal::new(PlatformCode::VehicleAcIncompatible, "this business does not service that car's AC"));
    }
    let wanted = refrigerant_for(vehicle.year_of_manufacture);
    if !catalogue.providers.iter().any(|p| handles(p, wanted)) {
        return Err(Refusal::new(
            PlatformCode::RefrigerantUnavailable,
            "no provider of this business stocks that car's refrigerant",
        ));
    }
    let offset = utc_offset(catalogue);
    let Some(window) = working_window(catalogue, request.service_preferences.preferred_window, now) else {
        return Ok(Vec::new());
    };
    let place = request.place().unwrap_or(catalogue.business.centre);
    let mut quotes = Vec::new();
    for template in &catalogue.slots {
        let (Some(provider), Some(service)) =
            (catalogue.provider(&template.provider), catalogue.services.get(&template.service))
        else {
            continue;
        };
        let distance_km = rounded_km(distance_km(place, Place { lat: provider.lat, lng: provider.lng }));
        if !suits(request, provider, service, wanted, distance_km) {
            continue;
        }
        let Some((start, end)) = time_of(template, service, window) else {
            continue;
        };
        let job = Job { catalogue, template, provider, service, wanted, distance_km, start, end, offset };
        let quote = job.quote();
        if in_stock(&quote.stock_key, template.stock) {
            quotes.push(quote);
        }
    }
    // Stable, so that templates of one start keep the catalogue's order.
    quotes.sort_by_key(|q| q.start);
    quotes.truncate(MAX_SLOTS);
    Ok(quotes)
}

/// An instant in the business's local time, with its offset.
pub(crate) fn local_text(instant: Timestamp, offset: Offset) -> String {
    instant.to_zoned(offset.to_time_zone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The business's offset from UTC.
pub(crate) fn utc_offset(catalogue: &Catalogue) -> Offset {
    Offset::from_seconds(catalogue.business.utc_offset_minutes * 60).expect("the catalogue's check bounds the offset")
}

fn refrigerant_for(year: Option<i32>) -> Refrigerant {
    match year {
        Some(year) if year >= FIRST_R1234YF_YEAR => Refrigerant::R1234yf,
        Some(_) => Refrigerant::R134a,
        None => Refrigerant::Mixed,
    }
}

fn handles(provider: &Provider, wanted: Refrigerant) -> bool {
    let has = |kind| provider.refrigerants.contains(&kind);
    match wanted {
        Refrigerant::Mixed => has(Refrigerant::R134a) && has(Refrigerant::R1234yf),
        one => has(one),
    }
}

fn suits(
    request: &SearchRequest,
    provider: &Provider,
    service: &Service,
    wanted: Refrigerant,
    distance_km: f64,
) -> bool {
    let preferences = &request.service_preferences;
    let asked_km = request.user_location.as_ref().and_then(|l| l.max_radius_km);
    let reach_km = MAX_DISTANCE_KM.min(provider.serves_within_km).min(asked_km.unwrap_or(MAX_DISTANCE_KM));
    let mobile = provider.provider_type == ProviderType::DoorstepMobile;
    service.issues.contains(&request.ac_issue.category)
        && handles(provider, wanted)
        && distance_km <= reach_km
        && (preferences.doorstep_acceptable || !mobile)
        && (!preferences.authorised_only || provider.provider_type == ProviderType::OemAuthorised)
}

/// The first day of the window on which the business is open, cut to opening hours. Without a
/// window: tomorrow. Past windows are quoted like any other, so that a recorded request replays.
fn working_window(catalogue: &Catalogue, asked: Option<Window>, now: Timestamp) -> Option<WorkingWindow> {
    let offset = utc_offset(catalogue);
    let (opens, closes) = (catalogue.business.opens, catalogue.business.closes);
    let hours = |day: Date| {
        let open = offset.to_timestamp(day.to_datetime(opens)).ok()?;
        let close = offset.to_timestamp(day.to_datetime(closes)).ok()?;
        Some((open, close))
    };
    let Some(asked) = asked else {
        let (start, end) = hours(offset.to_datetime(now).date().tomorrow().ok()?)?;
        return Some(WorkingWindow { start, end });
    };
    let mut day = offset.to_datetime(asked.start).date();
    let (mut open, mut close) = hours(day)?;
    if on_grid(asked.start.max(open))? >= close {
        day = day.tomorrow().ok()?;
        (open, close) = hours(day)?;
    }
    let start = on_grid(asked.start.max(open))?;
    let end = asked.end.min(close);
    (start < end).then_some(WorkingWindow { start, end })
}

/// The next quarter of an hour, or the instant itself when it is one.
fn on_grid(instant: Timestamp) -> Option<Timestamp> {
    let past_s = instant.as_second().rem_euclid(START_GRID_S);
    let exact = past_s == 0 && instant.subsec_nanosecond() == 0;
    let second = instant.as_second() - past_s + if exact { 0 } else { START_GRID_S };
    Timestamp::from_second(second).ok()
}

fn time_of(template: &SlotTemplate, service: &Service, window: WorkingWindow) -> Option<(Timestamp, Timestamp)> {
    let minutes = |m: u32| SignedDuration::from_mins(i64::from(m));
    let start = window.start.checked_add(minutes(template.offset_minutes)).ok()?;
    let end = start.checked_add(minutes(service.duration_minutes)).ok()?;
    (end <= window.end).then_some((start, end))
}

/// Great-circle distance by the haversine formula.
fn distance_km(a: Place, b: Place) -> f64 {
    let half_chord = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
    let h = half_chord(a.lat, b.lat) + a.lat.to_radians().cos() * b.lat.to_radians().cos() * half_chord(a.lng, b.lng);
    2.0 * EARTH_RADIUS_KM * h.sqrt().min(1.0).asin()
}

fn rounded_km(km: f64) -> f64 {
    (km * 10.0 + 0.5).floor() / 10.0
}

/// One template at one time for one car.
struct Job<'a> {
    catalogue: &'a Catalogue,
    template: &'a SlotTemplate,
    provider: &'a Provider,
    service: &'a Service,
    wanted: Refrigerant,
    distance_km: f64,
    start: Timestamp,
    end: Timestamp,
    offset: Offset,
}

impl Job<'_> {
    fn quote(&self) -> Quote {
        let business = &self.catalogue.business;
        let local_start = self.start.to_zoned(self.offset.to_time_zone());
        let stock_key =
            format!("{}.{}.{}", business.source, self.template.reference, local_start.strftime("%Y%m%dT%H%M"));
        // The car's refrigerant sets the price, so it is part of the slot's name.
        let slot_id = match self.wanted {
            Refrigerant::R134a => format!("{stock_key}.a"),
            Refrigerant::R1234yf => format!("{stock_key}.y"),
            Refrigerant::Mixed => format!("{stock_key}.m"),
        };
        let price = self.price();
        let total_inr = price.total_estimate_inr;
        let slot = self.slot(&slot_id, price);
        let mut payload = serde_json::to_value(&slot).expect("a slot has string keys and finite numbers only");
        if let Some(patch) = &self.template.merge {
            merge_patch(&mut payload, &Value::Object(patch.clone()));
        }
        Quote {
            stock_key,
            stock: self.template.stock,
            start: self.start,
            end: self.end,
            scope: self.service.scope,
            doorstep_supported: self.service.logistics.doorstep_supported,
            total_inr,
            payload,
            slot_id,
        }
    }

    /// Tax and total. The diagnostic fee is part of both unless the work is a repair that waives it.
    fn price(&self) -> EstimatedPrice {
        let price = &self.service.price;
        let refrigerant_inr = match self.wanted {
            Refrigerant::R134a => price.refrigerant_inr.r134a,
            // Year unknown: the dearer of the two, so that the customer is not asked for more later.
            Refrigerant::R1234yf | Refrigerant::Mixed => price.refrigerant_inr.r1234yf,
        };
        let repair = self.service.scope != Scope::BasicCheck;
        let fee_inr = if repair && price.diagnostic_fee_waived_if_repair { 0 } else { price.diagnostic_fee_inr };
        let taxable_inr = fee_inr + price.labour_inr + price.parts_estimate_inr + refrigerant_inr;
        let gst_inr = (taxable_inr * GST_PERCENT + 50) / 100;
        EstimatedPrice {
            diagnostic_fee_inr: price.diagnostic_fee_inr,
            diagnostic_fee_waived_if_repair: price.diagnostic_fee_waived_if_repair,
            labour_inr: price.labour_inr,
            parts_estimate_inr: price.parts_estimate_inr,
            refrigerant_inr,
            gst_inr,
            total_estimate_inr: taxable_inr + gst_inr,
            price_lock_guaranteed: price.price_lock_guaranteed,
            price_lock_variance_cap_pct: price.price_lock_variance_cap_pct,
        }
    }

    fn slot<'s>(&'s self, slot_id: &'s str, price: EstimatedPrice) -> AcServiceSlot<'s> {
        let (business, provider, service) = (&self.catalogue.business, self.provider, self.service);
        AcServiceSlot {
            slot_id,
            provider: SlotProvider {
                provider_id: &provider.provider_id,
                name: &provider.name,
                address: &provider.address,
                provider_type: provider.provider_type,
                location: Place { lat: provider.lat, lng: provider.lng },
                distance_from_user_km: self.distance_km,
                refrigerant_handling_certified: provider.refrigerant_handling_certified,
            },
            slot_window: SlotWindow {
                start: local_text(self.start, self.offset),
                end: local_text(self.end, self.offset),
                typical_duration_hours: (f64::from(service.duration_minutes) / 6.0).round() / 10.0,
                same_day_completion_likely: service.same_day_completion_likely,
            },
            service_scope: ServiceScope {
                code: service.scope,
                label: &service.label,
                includes: &service.includes,
                refrigerant_type: self.wanted,
            },
            estimated_price: price,
            logistics: &service.logistics,
            warranty: Warranty {
                parts_warranty_months: service.warranty.parts_warranty_months,
                labour_warranty_months: service.warranty.labour_warranty_months,
                cooling_performance_warranty_days: service.warranty.cooling_performance_warranty_days,
                warranty_terms_url: format!("{}/warranty", business.website),
            },
            ratings: &provider.ratings,
            partner_reference: PartnerReference {
                source: &business.source,
                deeplink: format!("{}/book/{slot_id}", business.website),
            },
        }
    }
}

/// JSON merge patch (RFC 7396): null removes a key, objects merge, anything else replaces.
fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(target) = target else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge_patch(target.entry(key).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REQUEST: &str = include_str!("../../catalogues/contract/search-request.json");
    const VECTORS: &str = include_str!("../../catalogues/contract/vectors.json");

    /// The sample request with a merge patch on it.
    fn request(patch: &Value) -> SearchRequest {
        let mut request: Value = serde_json::from_str(REQUEST).expect("the sample is JSON");
        merge_patch(&mut request, patch);
        SearchRequest::read(request.as_object().expect("an object")).expect("valid")
    }

    fn now() -> Timestamp {
        "2026-11-21T04:00:00Z".parse().expect("a timestamp")
    }

    fn ask(catalogue: &str, patch: &Value) -> Result<Vec<Quote>, Refusal> {
        let catalogue = Catalogue::load(catalogue).expect("built in");
        quotes(&catalogue, &request(patch), now(), |_, _| true)
    }

    fn row(quote: &Quote) -> Value {
        let slot = &quote.payload;
        json!([
            quote.slot_id,
            slot["provider"]["distance_from_user_km"],
            slot["service_scope"]["refrigerant_type"],
            slot["estimated_price"]["total_estimate_inr"],
        ])
    }

    #[test]
    fn answers_match_the_vectors_that_all_example_partners_share() {
        let vectors: Vec<Value> = serde_json::from_str(VECTORS).expect("the vectors are JSON");
        assert!(!vectors.is_empty());
        for vector in vectors {
            let name = vector["name"].as_str().expect("a name");
            let catalogue = Catalogue::load(vector["catalogue"].as_str().expect("a catalogue")).expect(name);
            let now = vector["now"].as_str().expect("now").parse().expect(name);
            let answer = quotes(&catalogue, &request(&vector["merge"]), now, |_, _| true);
            let answer = match answer {
                Ok(quotes) => json!({"slots": quotes.iter().map(row).collect::<Vec<_>>()}),
                Err(refusal) => json!({"refusal": refusal.code.as_str()}),
            };
            assert_eq!(answer, vector["expect"], "{name}:\n{answer}");
        }
    }

    #[test]
    fn honest_slots_lie_in_the_window_and_their_prices_add_up() {
        let names = ["oem", "garage", "doorstep", "specialist", "neighbourhood"];
        let categories = [
            "not_cooling",
            "intermittent",
            "no_air",
            "smell",
            "noise",
            "pre_summer_check",
            "leak_suspected",
            "electrical_fault",
        ];
        for (name, category) in names.iter().flat_map(|n| categories.map(|c| (n, c))) {
            let catalogue = Catalogue::load(name).expect(name);
            let patch = json!({"ac_issue": {"category": category}});
            let request = request(&patch);
            let window = request.service_preferences.preferred_window.expect("a window");
            let found = ask(name, &patch).expect(name);
            assert!(!found.is_empty() && found.len() <= MAX_SLOTS, "{name} {category}");
            for quote in found {
                assert!(window.start <= quote.start && quote.end <= window.end);
                let price = &quote.payload["estimated_price"];
                let part = |key: &str| price[key].as_u64().expect(key);
                let sum =
                    ["labour_inr", "parts_estimate_inr", "refrigerant_inr", "gst_inr"].map(part).iter().sum::<u64>();
                let total = part("total_estimate_inr");
                let with_fee = sum + part("diagnostic_fee_inr");
                assert!(total == sum || total == with_fee, "{name} {}", quote.slot_id);
                let declared = &catalogue.platform.pricing;
                assert!(
                    (declared.min..=declared.max).contains(&quote.total_inr),
                    "{name} declares a price range that does not hold {total}"
                );
                let km = quote.payload["provider"]["distance_from_user_km"].as_f64();
                assert!((0.5..=20.0).contains(&km.expect("a distance")), "{km:?}");
            }
        }
    }

    #[test]
    fn mobile_technicians_stay_away_unless_the_customer_wants_them() {
        let patch = json!({"service_preferences": {"doorstep_acceptable": false}});
        for quote in ask("doorstep", &patch).expect("slots") {
            assert_ne!(quote.payload["provider"]["provider_type"], "doorstep_mobile");
        }
    }

    #[test]
    fn without_a_window_slots_are_for_tomorrow_in_local_time() {
        let patch = json!({"service_preferences": {"preferred_window": null}});
        for quote in ask("oem", &patch).expect("slots") {
            let start = quote.payload["slot_window"]["start"].as_str().expect("start");
            assert!(start.starts_with("2026-11-22T") && start.ends_with("+05:30"), "{start}");
        }
    }

    #[test]
    fn a_cheat_plays_every_trick_that_its_catalogue_lists() {
        let found = ask("dishonest", &json!({})).expect("slots");
        let has = |pointer: &str| found.iter().any(|q| q.payload.pointer(pointer).is_some());
        assert!(has("/ad_bid"));
        assert!(has("/provider/ai_generated_photo"));
        assert!(has("/artificial_urgency_text"));
        assert!(has("/unnecessary_overhaul_recommendation"));
        assert!(has("/commission_padded_price"));
        assert!(found.iter().any(|q| q.payload.get("warranty").is_none()));
        let wrong_gas = |q: &Quote| q.payload["service_scope"]["refrigerant_type"] == "r134a";
        assert!(found.iter().any(wrong_gas));
        let uncertified = |q: &Quote| q.payload["provider"]["refrigerant_handling_certified"] == false;
        assert!(found.iter().any(uncertified));
        let doorstep_compressor =
            |q: &Quote| q.scope.needs_workshop() && q.payload["logistics"]["doorstep_supported"] == true;
        assert!(found.iter().any(doorstep_compressor));
        let mut ids: Vec<_> = found.iter().map(|q| &q.slot_id).collect();
        ids.sort();
        assert!(ids.windows(2).any(|pair| pair[0] == pair[1]), "a duplicate slot id");
        assert!(found.iter().any(|q| { q.payload["estimated_price"]["total_estimate_inr"] != json!(q.total_inr) }));
        // And some slots are what they seem.
        let untouched = |q: &&Quote| ["f01", "f02", "f04"].iter().any(|r| q.slot_id.contains(r));
        assert!(found.iter().filter(untouched).count() >= 3);
    }

    #[test]
    fn a_business_without_the_gas_says_so() {
        let mut catalogue = Catalogue::load("oem").expect("built in");
        for provider in &mut catalogue.providers {
            provider.refrigerants = vec![Refrigerant::R134a];
        }
        let refusal = quotes(&catalogue, &request(&json!({})), now(), |_, _| true);
        assert_eq!(refusal.expect_err("no r1234yf").code, PlatformCode::RefrigerantUnavailable);
    }

    #[test]
    fn merge_patch_follows_the_examples_of_rfc_7396() {
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut merged = target;
            merge_patch(&mut merged, &patch);
            assert_eq!(merged, expected);
        }
    }
}
