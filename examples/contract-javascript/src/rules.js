/**
 * Rules between the members of a document, and between two documents. They run only on documents whose shape is
 * sound. Each says what it is about: a pointer, a stable code, a sentence.
 */

import { MS_PER_DAY, daysOf, instantMs } from "./kit/formats.js";
import { Violations } from "./kit/violations.js";

/** By how much the parts of a price may miss its total, in INR: providers round each part. */
const PRICE_TOLERANCE_INR = 1;
/** Days after which equipment has to be calibrated again. */
export const CALIBRATION_MAX_DAYS = 365;
/** The Bharat Stages under which a certificate may be valid for twelve months; before, six. */
const TWELVE_MONTH_NORMS = ["bs4", "bs6"];

/** Whole days from the calibration to the test; negative if it came after. */
export const calibrationAgeDays = (centre) =>
  Math.floor(instantMs(centre.slot_window.start) / MS_PER_DAY) - daysOf(centre.test.equipment_calibrated_on);

/** What is wrong with a request as a whole. */
export function requestRules(request) {
  const found = new Violations();
  vehicleRules(request.vehicle, found);
  const asked = request.service_preferences.preferred_window;
  const backwards = asked !== undefined && instantMs(asked.end) <= instantMs(asked.start);
  const at = "/service_preferences/preferred_window/end";
  found.addIf(backwards, at, "WINDOW_ORDER", "The window must end after it starts.");
  return found.list();
}

/** An electric vehicle has no exhaust and needs no certificate. */
export function vehicleRules(vehicle, found) {
  const exempt = vehicle.fuel_type === "electric";
  found.addIf(exempt, "/vehicle/fuel_type", "VEHICLE_EXEMPT", "Electric vehicles need no pollution certificate.");
}

/** What the rules say of one option: what takes it out, whether that is a strike, and what is only recorded. */
export function optionRules(request, centre) {
  const drops = new Violations();
  const findings = new Violations();
  authorisation(centre, drops);
  fuel(request, centre, drops);
  radius(request, centre, drops);
  slotWindow(request, centre, drops);
  const strike = overstatedValidity(request, centre, drops);
  price(centre.price, findings);
  calibration(centre, findings);
  return { drops: drops.list(), strike, findings: findings.list() };
}

/** Only an authorised centre's certificate counts, so this is a floor and no preference. */
function authorisation(centre, drops) {
  const message = "The centre must be authorised by the state's transport department.";
  drops.addIf(!centre.provider.state_authorised, "/provider/state_authorised", "NOT_AUTHORISED", message);
}

function fuel(request, centre, drops) {
  const { fuel_type } = request.vehicle;
  const message = `The centre does not test ${fuel_type}.`;
  drops.addIf(!centre.test.fuel_types.includes(fuel_type), "/test/fuel_types", "FUEL_NOT_TESTED", message);
}

function radius(request, centre, drops) {
  const { max_radius_km } = request.user_location;
  const distance = centre.provider.distance_from_user_km;
  const message = `${distance} km is beyond the ${max_radius_km} km asked for.`;
  const outside = max_radius_km !== undefined && distance > max_radius_km;
  drops.addIf(outside, "/provider/distance_from_user_km", "OUTSIDE_RADIUS", message);
}

/** A slot ends after it starts, and it starts inside the window asked for, both ends included. */
function slotWindow(request, centre, drops) {
  const { start, end } = centre.slot_window;
  const startMs = instantMs(start);
  const backwards = instantMs(end) <= startMs;
  drops.addIf(backwards, "/slot_window/end", "WINDOW_ORDER", "The slot must end after it starts.");
  const asked = request.service_preferences.preferred_window;
  if (asked === undefined) return;
  const outside = startMs < instantMs(asked.start) || startMs > instantMs(asked.end);
  const message = `${start} lies outside the window asked for, ${asked.start} to ${asked.end}.`;
  drops.addIf(outside, "/slot_window/start", "OUTSIDE_WINDOW", message);
}

/** Nobody may promise a certificate for longer than the law gives; who does counts towards suspension. */
function overstatedValidity(request, centre, drops) {
  const { emission_norm } = request.vehicle;
  const months = centre.certificate.validity_months;
  const overstated = emission_norm !== undefined && months > 6 && !TWELVE_MONTH_NORMS.includes(emission_norm);
  const message = `A certificate of a ${emission_norm} vehicle is valid for 6 months, not ${months}.`;
  drops.addIf(overstated, "/certificate/validity_months", "VALIDITY_OVERSTATED", message);
  return overstated;
}

function price(price, findings) {
  const sum = price.test_fee_inr + price.convenience_fee_inr + price.gst_inr;
  const message = `The parts add up to ${sum} INR, the total says ${price.total_inr} INR.`;
  findings.addIf(Math.abs(sum - price.total_inr) > PRICE_TOLERANCE_INR, "/price/total_inr", "PRICE_SUM", message);
}

function calibration(centre, findings) {
  const days = calibrationAgeDays(centre);
  const message = `The equipment was calibrated ${days} days before the test; expected 0 to ${CALIBRATION_MAX_DAYS}.`;
  const at = "/test/equipment_calibrated_on";
  findings.addIf(days < 0 || days > CALIBRATION_MAX_DAYS, at, "CALIBRATION_DATE", message);
}
