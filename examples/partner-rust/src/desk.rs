//! The booking desk: what was quoted, what is sold, who booked. All in memory; a restart forgets.
//!
//! The three tools end here. No HTTP and no MCP: arguments in, payload or refusal out.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    catalogue::{Catalogue, PaymentDueAt, Scope},
    quote::{Quote, local_text, quotes, utc_offset},
    refusal::{PlatformCode, Refusal},
    request::{CancelRequest, CreateRequest, SearchRequest},
};

/// Quotes that are remembered; the oldest are forgotten first, and are then gone.
const MAX_OFFERS: usize = 10_000;
/// Bookings that are kept, cancelled ones included. Each holds the body that made it.
const MAX_BOOKINGS: usize = 2_000;
/// A cancellation later than this before the start costs a fee, in hours.
const FREE_CANCELLATION_HOURS: i64 = 2;
/// The fee for a late cancellation, in percent of the total.
const LATE_FEE_PERCENT: u32 = 10;

/// The desk of one business.
#[derive(Debug)]
pub(crate) struct Desk {
    catalogue: Catalogue,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    offers: HashMap<String, Offer>,
    /// Slot ids in the order in which they were first quoted.
    offer_order: VecDeque<String>,
    /// Places sold, by stock key.
    sold: HashMap<String, u32>,
    /// By the request id that made them.
    bookings: HashMap<String, Booked>,
    /// Request id by booking id.
    request_of: HashMap<String, String>,
}

/// A quote that may be booked until it expires.
#[derive(Debug)]
struct Offer {
    quote: Quote,
    expires_at: Timestamp,
}

#[derive(Debug)]
struct Booked {
    /// The whole arguments, to tell a repeat from a reuse.
    arguments: Map<String, Value>,
    booking: AcServiceBooking,
    stock_key: String,
    start: Timestamp,
    cancellation: Option<CancellationResult>,
}

/// AcServiceBooking (spec 2); every field is required.
#[derive(Debug, Clone, Serialize)]
struct AcServiceBooking {
    booking_id: String,
    slot_id: String,
    scheduled_start: String,
    estimated_completion: String,
    service_scope_confirmed: Scope,
    total_estimate_inr: u32,
    service_advisor_name: String,
    service_advisor_phone: String,
    payment_due_at: PaymentDueAt,
    doorstep_arranged: bool,
    partner_booking_reference: String,
}

/// CancellationResult of the AC intent (spec 2); every field is required.
#[derive(Debug, Clone, Serialize)]
struct CancellationResult {
    booking_id: String,
    cancelled_at: String,
    cancellation_fee_inr: u32,
    refund_amount_inr: u32,
    refund_eta_days: u8,
}

impl Desk {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self { catalogue, state: Mutex::default() }
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Answers one tool call at the time `now`.
    pub(crate) fn answer(&self, tool: &str, arguments: &Map<String, Value>, now: Timestamp) -> Result<Value, Refusal> {
        match tool {
            "search_ac_service_slots" => self.search(arguments, now),
            "create_ac_service_booking" => self.create(arguments, now),
            "cancel_ac_service_booking" => self.cancel(arguments, now),
            _ => Err(Refusal::invalid("name", "this partner has no such tool")),
        }
    }

    fn search(&self, arguments: &Map<String, Value>, now: Timestamp) -> Result<Value, Refusal> {
        let request = SearchRequest::read(arguments)?;
        let mut state = self.lock();
        let found =
            quotes(&self.catalogue, &request, now, |key, stock| state.sold.get(key).is_none_or(|sold| *sold < stock))?;
        let valid = SignedDuration::from_mins(self.catalogue.business.quote_valid_minutes);
        let expires_at = now
            .checked_add(valid)
            .map_err(|_| Refusal::new(PlatformCode::InternalError, "the clock is out of range"))?;
        let slots: Vec<Value> = found.iter().map(|quote| quote.payload.clone()).collect();
        for quote in found {
            state.offer(quote, expires_at);
        }
        Ok(json!({
            "result_token": format!("rt_{}", Uuid::now_v7().simple()),
            "expires_at": local_text(expires_at, utc_offset(&self.catalogue)),
            "slots": slots,
        }))
    }

    fn create(&self, arguments: &Map<String, Value>, now: Timestamp) -> Result<Value, Refusal> {
        let request = CreateRequest::read(arguments)?;
        let mut state = self.lock();
        if let Some(booked) = state.bookings.get(&request.request_id) {
            return if booked.arguments == *arguments {
                payload(&booked.booking)
            } else {
                Err(Refusal::new(PlatformCode::IdempotencyViolation, "this request_id was used for another booking"))
            };
        }
        let gone = || Refusal::new(PlatformCode::SlotGone, "that slot is not on offer any more");
        let offer = state.offers.get(&request.slot_id).ok_or_else(gone)?;
        let sold = state.sold.get(&offer.quote.stock_key).copied().unwrap_or(0);
        if offer.expires_at <= now || sold >= offer.quote.stock {
            return Err(gone());
        }
        let doorstep = request.doorstep_address.is_some();
        if doorstep {
            check_doorstep(&offer.quote)?;
        }
        if state.bookings.len() >= MAX_BOOKINGS {
            return Err(Refusal::new(PlatformCode::InternalError, "the booking desk is full"));
        }
        let booking = self.booking(&offer.quote, doorstep, state.bookings.len() + 1);
        let answer = payload(&booking)?;
        let (stock_key, start) = (offer.quote.stock_key.clone(), offer.quote.start);
        *state.sold.entry(stock_key.clone()).or_default() += 1;
        state.request_of.insert(booking.booking_id.clone(), request.request_id.clone());
        let booked = Booked { arguments: arguments.clone(), booking, stock_key, start, cancellation: None };
        state.bookings.insert(request.request_id, booked);
        Ok(answer)
    }

    /// A second cancellation of one booking gets the first one's answer. The desk does not track
    /// intake; a business that does refuses once the car is in.
    fn cancel(&self, arguments: &Map<String, Value>, now: Timestamp) -> Result<Value, Refusal> {
        let request = CancelRequest::read(arguments)?;
        let mut state = self.lock();
        let State { bookings, request_of, sold, .. } = &mut *state;
        let booked = request_of
            .get(&request.booking_id)
            .and_then(|request_id| bookings.get_mut(request_id))
            .ok_or_else(|| Refusal::invalid("booking_id", "no such booking"))?;
        if let Some(cancellation) = &booked.cancellation {
            return payload(cancellation);
        }
        let late = booked.start.duration_since(now) < SignedDuration::from_hours(FREE_CANCELLATION_HOURS);
        let fee_inr = if late { (booked.booking.total_estimate_inr * LATE_FEE_PERCENT + 50) / 100 } else { 0 };
        let cancellation = CancellationResult {
            booking_id: request.booking_id,
            cancelled_at: local_text(now, utc_offset(&self.catalogue)),
            cancellation_fee_inr: fee_inr,
            // Nothing is paid before intake, so there is nothing to pay back.
            refund_amount_inr: 0,
            refund_eta_days: 0,
        };
        let answer = payload(&cancellation)?;
        booked.cancellation = Some(cancellation);
        if let Some(places) = sold.get_mut(&booked.stock_key) {
            *places = places.saturating_sub(1);
        }
        Ok(answer)
    }

    fn booking(&self, quote: &Quote, doorstep: bool, number: usize) -> AcServiceBooking {
        let business = &self.catalogue.business;
        let offset = utc_offset(&self.catalogue);
        AcServiceBooking {
            booking_id: format!("bk_{}", Uuid::now_v7().simple()),
            slot_id: quote.slot_id.clone(),
            scheduled_start: local_text(quote.start, offset),
            estimated_completion: local_text(quote.end, offset),
            service_scope_confirmed: quote.scope,
            total_estimate_inr: quote.total_inr,
            service_advisor_name: business.advisor.name.clone(),
            service_advisor_phone: business.advisor.phone.clone(),
            payment_due_at: business.payment_due_at,
            doorstep_arranged: doorstep,
            partner_booking_reference: format!("{}-{number:05}", business.source.to_uppercase()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is made after the last step that can fail, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn offer(&mut self, quote: Quote, expires_at: Timestamp) {
        let slot_id = quote.slot_id.clone();
        let offer = Offer { quote, expires_at };
        if self.offers.insert(slot_id.clone(), offer).is_none() {
            self.offer_order.push_back(slot_id);
        }
        while self.offer_order.len() > MAX_OFFERS {
            if let Some(oldest) = self.offer_order.pop_front() {
                self.offers.remove(&oldest);
            }
        }
    }
}

fn check_doorstep(quote: &Quote) -> Result<(), Refusal> {
    if quote.scope.needs_workshop() {
        return Err(Refusal::new(
            PlatformCode::CompressorWorkRequiresWorkshop,
            "compressor work is done in the workshop only",
        ));
    }
    if !quote.doorstep_supported {
        return Err(Refusal::new(PlatformCode::DoorstepUnavailableAtLocation, "nobody comes out for this slot"));
    }
    Ok(())
}

fn payload<T: Serialize>(value: &T) -> Result<Value, Refusal> {
    serde_json::to_value(value).map_err(|_| Refusal::new(PlatformCode::InternalError, "the answer cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = include_str!("../../catalogues/contract/search-request.json");
    /// Two places, 10:00 to 11:30 local time on the sample request's day.
    const TOPUP: &str = "namma-authorised.n02.20261201T1000.y";
    /// One place.
    const COMPRESSOR: &str = "namma-authorised.n04.20261201T0930.y";

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a timestamp")
    }

    fn now() -> Timestamp {
        at("2026-11-30T06:00:00Z")
    }

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("{other} is no object"),
        }
    }

    fn search_arguments() -> Map<String, Value> {
        object(serde_json::from_str(REQUEST).expect("the sample is JSON"))
    }

    /// A desk that has answered the sample search.
    fn quoted_desk() -> Desk {
        let desk = Desk::new(Catalogue::load("oem").expect("built in"));
        let answer = desk.answer("search_ac_service_slots", &search_arguments(), now());
        assert!(answer.is_ok(), "{answer:?}");
        desk
    }

    fn offered(desk: &Desk) -> Vec<String> {
        let answer = desk.answer("search_ac_service_slots", &search_arguments(), now()).expect("an answer");
        let slots = answer["slots"].as_array().expect("slots");
        slots.iter().map(|s| s["slot_id"].as_str().expect("an id").to_owned()).collect()
    }

    fn booking_arguments(request_id: &str, slot_id: &str) -> Map<String, Value> {
        object(json!({
            "request_id": request_id,
            "slot_id": slot_id,
            "vehicle": {"type": "car", "year_of_manufacture": 2021},
            "ac_issue": {"category": "not_cooling"},
            "contact_phone": "+919812345678",
        }))
    }

    fn book(desk: &Desk, request_id: &str, slot_id: &str) -> Result<Value, Refusal> {
        desk.answer("create_ac_service_booking", &booking_arguments(request_id, slot_id), now())
    }

    fn cancel(desk: &Desk, booking: &Value, now: Timestamp) -> Result<Value, Refusal> {
        let arguments = object(json!({
            "request_id": "cancel-1",
            "booking_id": booking["booking_id"],
            "reason_code": "changed_plans",
        }));
        desk.answer("cancel_ac_service_booking", &arguments, now)
    }

    fn code(answer: Result<Value, Refusal>) -> PlatformCode {
        answer.expect_err("a refusal").code
    }

    #[test]
    fn the_same_key_and_body_get_the_same_booking() {
        let desk = quoted_desk();
        let first = book(&desk, "r1", TOPUP).expect("a booking");
        assert_eq!(book(&desk, "r1", TOPUP), Ok(first.clone()));
        assert_eq!(first["slot_id"], TOPUP);
        assert_eq!(first["scheduled_start"], "2026-12-01T10:00:00+05:30");
        assert_eq!(first.as_object().map(Map::len), Some(11));
        // The repeat took no second place: the slot has two.
        assert!(book(&desk, "r2", TOPUP).is_ok());
        assert_eq!(code(book(&desk, "r3", TOPUP)), PlatformCode::SlotGone);
    }

    #[test]
    fn the_same_key_with_another_body_is_refused() {
        let desk = quoted_desk();
        book(&desk, "r1", TOPUP).expect("a booking");
        assert_eq!(code(book(&desk, "r1", COMPRESSOR)), PlatformCode::IdempotencyViolation);
    }

    #[test]
    fn a_sold_slot_disappears_and_comes_back_when_cancelled() {
        let desk = quoted_desk();
        let booking = book(&desk, "r1", COMPRESSOR).expect("a booking");
        assert!(!offered(&desk).iter().any(|id| id == COMPRESSOR));
        cancel(&desk, &booking, now()).expect("a cancellation");
        assert!(offered(&desk).iter().any(|id| id == COMPRESSOR));
    }

    #[test]
    fn a_slot_that_was_never_quoted_or_has_expired_is_gone() {
        let desk = quoted_desk();
        let never = "namma-authorised.n02.20261202T1000.y";
        assert_eq!(code(book(&desk, "r1", never)), PlatformCode::SlotGone);
        let later = at("2026-11-30T06:15:00Z");
        let arguments = booking_arguments("r1", TOPUP);
        let answer = desk.answer("create_ac_service_booking", &arguments, later);
        assert_eq!(code(answer), PlatformCode::SlotGone);
    }

    #[test]
    fn nobody_mends_a_compressor_on_the_doorstep() {
        let desk = quoted_desk();
        for (slot, expected) in [
            (COMPRESSOR, PlatformCode::CompressorWorkRequiresWorkshop),
            (TOPUP, PlatformCode::DoorstepUnavailableAtLocation),
        ] {
            let mut arguments = booking_arguments("r1", slot);
            arguments.insert("doorstep_address".into(), "12 Some Street".into());
            let answer = desk.answer("create_ac_service_booking", &arguments, now());
            assert_eq!(code(answer), expected);
        }
    }

    #[test]
    fn cancelling_late_costs_a_tenth_and_cancelling_twice_costs_no_more() {
        let desk = quoted_desk();
        let booking = book(&desk, "r1", TOPUP).expect("a booking");
        let total = booking["total_estimate_inr"].as_u64().expect("a total");
        // The slot starts at 04:30Z.
        let late = cancel(&desk, &booking, at("2026-12-01T02:30:01Z")).expect("a cancellation");
        assert_eq!(late["cancellation_fee_inr"], (total + 5) / 10);
        assert_eq!(cancel(&desk, &booking, at("2026-12-01T02:40:00Z")), Ok(late));
        let other = book(&desk, "r2", TOPUP).expect("a booking");
        let early = cancel(&desk, &other, at("2026-12-01T02:30:00Z")).expect("a cancellation");
        assert_eq!(early["cancellation_fee_inr"], 0);
    }

    #[test]
    fn an_unknown_booking_or_tool_is_an_invalid_request() {
        let desk = quoted_desk();
        let nobody = json!({"booking_id": "bk_none"});
        assert_eq!(code(cancel(&desk, &nobody, now())), PlatformCode::InvalidRequest);
        let answer = desk.answer("rate_ac_service", &Map::new(), now());
        assert_eq!(code(answer), PlatformCode::InvalidRequest);
    }

    #[test]
    fn forgotten_quotes_are_the_oldest() {
        let desk = quoted_desk();
        let mut state = desk.lock();
        let quote = state.offers[TOPUP].quote.clone();
        for number in 0..MAX_OFFERS {
            let quote = Quote { slot_id: format!("s{number}"), ..quote.clone() };
            state.offer(quote, now());
        }
        assert_eq!(state.offers.len(), MAX_OFFERS);
        assert!(!state.offers.contains_key(TOPUP));
    }
}
