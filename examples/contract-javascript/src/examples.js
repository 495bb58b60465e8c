/**
 * Cases that the host runs before the version goes live: at least one accepted and one refused per function. Their
 * context is the request `example` at 2026-01-01T00:00:00Z, and the sources of their options declare nothing.
 */

import { BOOK_TOOL, SEARCH_TOOL } from "./descriptor.js";
import { INTENT } from "./shapes.js";

/** What a manifest that declares nothing counts as (spec 1, `ttbs_signals`). */
const UNDECLARED = { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };

/** A deep copy with some of its members replaced; a pointer names each. `undefined` takes a member away. */
export function changed(base, changes) {
  const copy = JSON.parse(JSON.stringify(base));
  for (const [pointer, value] of Object.entries(changes)) {
    const steps = pointer.slice(1).split("/");
    const last = steps.pop();
    const parent = steps.reduce((inside, key) => inside[key], copy);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return copy;
}

export const REQUEST_SAMPLE = {
  intent: INTENT,
  user_locale: "en-IN",
  user_currency: "INR",
  user_location: { city: "Pune", pincode: "411001", lat: 18.5204, lng: 73.8567, max_radius_km: 10 },
  vehicle: { type: "car", fuel_type: "petrol", emission_norm: "bs6", registration_number_last4: "1234" },
  service_preferences: {
    doorstep_acceptable: false,
    preferred_window: { start: "2026-01-02T09:00:00+05:30", end: "2026-01-02T19:00:00+05:30" },
  },
};

export const CENTRE_SAMPLE = {
  centre_id: "c-1",
  provider: {
    provider_id: "p-1", name: "Example PUC Centre", address: "1 Example Road, Pune", provider_type: "testing_centre",
    location: { lat: 18.52, lng: 73.85 }, distance_from_user_km: 2.5, state_authorised: true,
    authorisation_number: "MH12/PUC/0001",
  },
  slot_window: {
    start: "2026-01-02T14:00:00+05:30", end: "2026-01-02T14:30:00+05:30", typical_duration_minutes: 15,
  },
  test: { fuel_types: ["petrol", "cng"], equipment_calibrated_on: "2025-11-15", uploads_to_vahan: true },
  certificate: { validity_months: 12, issued_same_visit: true },
  price: { test_fee_inr: 100, convenience_fee_inr: 0, gst_inr: 18, total_inr: 118 },
  logistics: { doorstep_supported: false },
  ratings: { avg_rating: 4.5, review_count: 120 },
  partner_reference: { source: "example", deeplink: "https://partner.example/centres/c-1" },
};

export const BOOK_SAMPLE = {
  request_id: "r-1",
  centre_id: "c-1",
  vehicle: REQUEST_SAMPLE.vehicle,
  contact_phone: "+919800000000",
};

export const BOOKING_SAMPLE = {
  booking_id: "b-1",
  centre_id: "c-1",
  scheduled_start: "2026-01-02T14:00:00+05:30",
  total_inr: 118,
  payment_due_at: "visit",
  doorstep_arranged: false,
  partner_booking_reference: "EX-1",
};

export const REPORT_SAMPLE = {
  intent: INTENT,
  external_id: "b-1",
  request_id: "r-1",
  amount_inr: 85.5,
  gst_inr: 18,
  tips_inr: 0,
  pass_through_inr: 14.5,
  closed_at: "2026-01-02T14:20:00+05:30",
  status: "completed",
  test_result: "pass",
  certificate_number: "MH0120010000001",
};

const passes = (codes = [], order = []) => ({ accepted: true, codes, order });
const refused = (codes = []) => ({ accepted: false, codes, order: [] });

const example = (name, tag, val, expect) => ({ name, call: { tag, val }, expect });

const classification = (name, utterance, expect) => example(name, "classify", utterance, expect);

const NOTHING = { quoted: null, order: null };
const QUOTED = { quoted: JSON.stringify(CENTRE_SAMPLE), order: null };

const request = (name, tool, base, changes, expect) =>
  example(name, "check-request", { tool, arguments: JSON.stringify(changed(base, changes)), about: NOTHING }, expect);

const search = (name, requestChanges, options, expect) => {
  const candidates = options.map((option, number) => ({ number, json: JSON.stringify(option) }));
  const payloads = [{ declared: UNDECLARED, candidates }];
  const requestJson = JSON.stringify(changed(REQUEST_SAMPLE, requestChanges));
  return example(name, "evaluate", { request: requestJson, payloads, history: [] }, expect);
};

const answer = (name, changes, expect) => {
  const [asked, payload] = [JSON.stringify(BOOK_SAMPLE), JSON.stringify(changed(BOOKING_SAMPLE, changes))];
  const exchange = { tool: BOOK_TOOL, arguments: asked, payload, about: QUOTED };
  return example(name, "check-response", exchange, expect);
};

const report = (name, changes, expect, text = JSON.stringify(changed(REPORT_SAMPLE, changes))) =>
  example(name, "check-completion", { report: text, about: QUOTED }, expect);

const centre = (id, changes = {}) => changed(CENTRE_SAMPLE, { "/centre_id": id, ...changes });

/** Better on every axis, so that the expected order holds under any weights. */
const BEST = centre("best", {
  "/provider/distance_from_user_km": 1, "/price/test_fee_inr": 80, "/price/total_inr": 98,
});
const WORSE = centre("worse", { "/ratings/avg_rating": 3, "/test/equipment_calibrated_on": "2025-06-01" });

export const EXAMPLES = [
  classification("a PUC certificate that ran out", "my car's PUC has expired, get it renewed", passes()),
  classification("Hinglish", "gaadi ka pollution check karwana hai", passes()),
  classification("the air of a city is not", "what is the air pollution level in Delhi", refused()),
  classification("smoke from the engine is not", "kaala dhuan nikal raha hai engine se", refused()),

  request("a sound request passes", SEARCH_TOOL, REQUEST_SAMPLE, {}, passes()),
  request("an unknown band is noted", SEARCH_TOOL, REQUEST_SAMPLE, { "/ttbs_user_band": { time: "asap" } },
    passes(["UNKNOWN_BAND"])),
  request("every violation is told", SEARCH_TOOL, REQUEST_SAMPLE,
    {
      "/vehicle/type": "boat", "/user_location/pincode": "4110",
      "/service_preferences/doorstep_acceptable": undefined,
    },
    refused(["NOT_IN_VOCABULARY", "BAD_FORMAT", "REQUIRED"])),
  request("an electric vehicle needs none", SEARCH_TOOL, REQUEST_SAMPLE, { "/vehicle/fuel_type": "electric" },
    refused(["VEHICLE_EXEMPT"])),
  request("a window ends after it starts", SEARCH_TOOL, REQUEST_SAMPLE,
    { "/service_preferences/preferred_window/end": "2026-01-02T08:00:00+05:30" }, refused(["WINDOW_ORDER"])),
  request("a booking can be asked for", BOOK_TOOL, BOOK_SAMPLE, {}, passes()),
  request("a booking needs a number to call", BOOK_TOOL, BOOK_SAMPLE, { "/contact_phone": "98000" },
    refused(["BAD_FORMAT"])),
  request("no other tool", "cancel_puc_check", BOOK_SAMPLE, {}, refused(["UNKNOWN_TOOL"])),

  search("the better centre comes first", {}, [WORSE, BEST], passes([], ["best", "worse"])),
  search("what breaks a rule is dropped", {},
    [
      BEST,
      centre("unknown", { "/provider/state_authorised": false }),
      centre("diesel-only", { "/test/fuel_types": ["diesel"] }),
      centre("far", { "/provider/distance_from_user_km": 10.5 }),
      centre("late", {
        "/slot_window/start": "2026-01-02T20:00:00+05:30", "/slot_window/end": "2026-01-02T20:30:00+05:30",
      }),
      centre("best"),
      { centre_id: "half", provider: {} },
    ],
    passes(["NOT_AUTHORISED", "FUEL_NOT_TESTED", "OUTSIDE_RADIUS", "OUTSIDE_WINDOW", "DUPLICATE_OPTION", "REQUIRED"],
      ["best"])),
  search("no certificate is valid for longer than the law gives", { "/vehicle/emission_norm": "bs3" },
    [BEST, centre("lawful", { "/certificate/validity_months": 6 })], passes(["VALIDITY_OVERSTATED"], ["lawful"])),
  search("odd sums and old calibrations are findings", {},
    [centre("odd", { "/price/total_inr": 150, "/test/equipment_calibrated_on": "2024-01-01" })],
    passes(["PRICE_SUM", "CALIBRATION_DATE"], ["odd"])),
  search("a request that is none", { "/vehicle": 1 }, [], refused(["WRONG_TYPE"])),

  answer("a booking at the quoted price", {}, passes()),
  answer("a slot that moved is a finding", { "/scheduled_start": "2026-01-02T15:00:00+05:30" }, passes(["SLOT_MOVED"])),
  answer("the quoted price holds", { "/total_inr": 119 }, refused(["PRICE_RAISED"])),
  answer("another offer than asked for", { "/centre_id": "c-2" }, refused(["UNEXPECTED_VALUE"])),

  report("a sound report", {}, passes()),
  report("a vehicle that failed has no certificate", { "/test_result": "fail", "/certificate_number": null }, passes()),
  report("more than was quoted is a finding", { "/amount_inr": 118.01 }, passes(["AMOUNT_ABOVE_QUOTE"])),
  report("a pass without a certificate", { "/certificate_number": null }, refused(["CERTIFICATE_MISSING"])),
  report("finer than a paisa, an unlisted status", { "/amount_inr": 10.005, "/status": "done" },
    refused(["BAD_FORMAT", "NOT_IN_VOCABULARY"])),
  report("an amount that is said twice", {}, refused(["DUPLICATE_KEY"]),
    JSON.stringify(REPORT_SAMPLE).replace("{", '{"amount_inr":1,')),
];
