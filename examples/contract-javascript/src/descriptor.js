/** The contract's identity and every policy that the host enforces for it: the WIT record `descriptor`. */

import { WIDGET } from "./card.js";
import { AXES, COMPLETENESS_SHARE, DECLARED_SHARE } from "./kit/ranking.js";
import { BAND_FACTORS, SIGNALS, WEIGHTS } from "./scoring.js";
import {
  AMOUNT_MAX_INR, BOOK_ARGUMENTS, INTENT, PUC_BOOKING, PUC_CENTRE, REPORT, REQUEST, STATUSES,
} from "./shapes.js";
import { VOCABULARIES } from "./vocabularies.js";
import { CUES, ELSEWHERE, PAIRS } from "./words.js";

export const SEARCH_TOOL = "search_puc_centres";
export const BOOK_TOOL = "book_puc_check";
export const ID_KEY = "centre_id";

/** Waits before a call is tried again, in milliseconds. */
const THROTTLE_WAIT_MS = 2000;
const FAILURE_WAIT_MS = 1000;
/** Seconds for which an answer of a search, and a provider's authorisation, may be kept. */
const SEARCH_CACHE_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * 60;

const schema = (shape) => JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...shape.schema });

const SEARCH = {
  name: SEARCH_TOOL,
  role: "search",
  purpose: "Finds up to 15 offers of a pollution check that match the vehicle, the place and the window.",
  latency: { p50Ms: 600, p95Ms: 1500, p99Ms: 3000 },
  ratePerMinute: 60,
  idempotencyKey: "request_id",
  retry: { onRateLimited: 1, onServerError: 2 },
  cacheSeconds: SEARCH_CACHE_SECONDS,
  ordersTool: null,
  requestSchema: schema(REQUEST),
  responseSchema: schema(PUC_CENTRE),
};

const BOOK = {
  name: BOOK_TOOL,
  role: "create",
  purpose: "Books a pollution check.",
  latency: { p50Ms: 1500, p95Ms: 4000, p99Ms: null },
  ratePerMinute: 30,
  idempotencyKey: "request_id",
  retry: { onRateLimited: 0, onServerError: 0 },
  cacheSeconds: null,
  ordersTool: null,
  requestSchema: schema(BOOK_ARGUMENTS),
  responseSchema: schema(PUC_BOOKING),
};

const error = (code, httpStatus, meaning, retry = null) => ({ code, httpStatus, meaning, retry });

const ERRORS = [
  error("INVALID_REQUEST", 400, "The payload is malformed."),
  error("INVALID_AUTH", 401, "The credentials are not valid."),
  error("RATE_LIMITED", 429, "Too many calls.", { times: 1, waitMs: THROTTLE_WAIT_MS, backoff: "fixed" }),
  error("INTERNAL_ERROR", 500, "The partner failed.", { times: 2, waitMs: FAILURE_WAIT_MS, backoff: "exponential" }),
  error("IDEMPOTENCY_VIOLATION", 409, "The request_id was used before."),
  error("SIGNATURE_INVALID", 401, "The signature of the completion report is wrong."),
  error("VEHICLE_EXEMPT", 422, "The vehicle needs no certificate."),
  error("FUEL_NOT_TESTED", 422, "The centre has no equipment for the vehicle's fuel."),
  error("NO_CENTRES_FOUND", 200, "The request is valid and matches nothing."),
  error("CENTRE_SLOT_GONE", 409, "The slot has been taken."),
];

const FORBIDDEN_FIELDS = [
  { name: "guaranteed_pass", breach: "present", reason: "Nobody may promise the result of a test." },
  { name: "certificate_without_test", breach: "present", reason: "A certificate without a test is a forgery." },
  { name: "commission_padded_price", breach: "present", reason: "Prices may not depend on the commission." },
];

const rule = (judged, consequence, code, text) => ({ code, judged, consequence, text });

/** What src/rules.js and src/answers.js enforce, in words. */
const RULES = [
  rule("request", "refused", "VEHICLE_EXEMPT", "An electric vehicle needs no certificate."),
  rule("request", "refused", "WINDOW_ORDER", "The preferred window ends after it starts."),
  rule("option", "dropped", "NOT_AUTHORISED", "The centre is authorised by the state's transport department."),
  rule("option", "dropped", "FUEL_NOT_TESTED", "The centre tests the vehicle's fuel."),
  rule("option", "dropped", "OUTSIDE_RADIUS", "The centre is within the radius that the user asked for."),
  rule("option", "dropped", "WINDOW_ORDER", "The slot ends after it starts."),
  rule("option", "dropped", "OUTSIDE_WINDOW", "The slot starts within the window that the user asked for."),
  rule("option", "strike", "VALIDITY_OVERSTATED", "A certificate is valid for 6 months, from Bharat Stage IV on for 12."),
  rule("option", "finding", "PRICE_SUM", "The parts of the price add up to the total, give or take 1 INR."),
  rule("option", "finding", "CALIBRATION_DATE", "The equipment was calibrated within a year before the test."),
  rule("answer", "refused", "PRICE_RAISED", "What is booked costs no more than what was quoted."),
  rule("answer", "refused", "DOORSTEP_NOT_OFFERED", "A test at the door is arranged only where one was offered."),
  rule("answer", "finding", "SLOT_MOVED", "The test starts when the quoted slot does."),
  rule("report", "finding", "AMOUNT_ABOVE_QUOTE", "The amount is not above the quoted total."),
];

const requirement = (code, text, tag, val, validDays) => ({ code, text, check: { tag, val }, validDays });

/** What must hold before users are sent to a partner, beyond its tools: seen in sample searches, or by people. */
const GO_LIVE = [
  requirement("CATALOGUE_DEPTH", "There are at least 2 providers and 6 slots in a window of 24 hours.", "at-least", {
    minimums: [
      { counted: "providers", pointer: "/provider/provider_id", count: 2 },
      { counted: "slots", pointer: "", count: 6 },
    ],
    within: { pointer: "/slot_window/start", hours: 24 },
  }),
  requirement("VEHICLES_COVERED", "The catalogue has slots for every type of vehicle.", "covers", {
    pointer: "/vehicle/type",
    vocabulary: "vehicle_type",
  }),
  requirement("DIESEL_TESTED", "Diesel vehicles are served, and no certificate is said to last too long.", "handles", {
    occasions: [
      { text: "a diesel vehicle", pointer: "/vehicle/fuel_type", test: { tag: "equals", val: JSON.stringify("diesel") } },
    ],
    unbroken: ["VALIDITY_OVERSTATED"],
  }),
  requirement("SEARCH_LATENCY", "95 of 100 searches are answered within the tool's target.", "within-latency", SEARCH_TOOL),
  requirement("AUTHORISATION_SEEN", "The state's authorisation of each centre has been seen.", "by-hand"),
];

/** A booking is an order until the centre reports what came of it; there is no tool that moves or cancels one. */
const ORDER = {
  states: [
    { name: "booked", meaning: "The centre expects the vehicle.", closed: false, milestones: ["confirmed"] },
  ],
  steps: [
    {
      tool: BOOK_TOOL,
      opening: "always",
      states: [],
      refusals: [],
      deadlines: [],
      keeps: [
        { name: "booking_id", source: "answer", pointer: "/booking_id", identifies: true },
        { name: "scheduled_start", source: "answer", pointer: "/scheduled_start", identifies: false },
        { name: "total_inr", source: "answer", pointer: "/total_inr", identifies: false },
      ],
      outcomes: [{ from: [], pointer: null, values: [], state: "booked" }],
    },
  ],
  amount: "total_inr",
  dueAfter: "scheduled_start",
  // The ranking goes by nothing that the user took before.
  history: [],
};

const RANKING = {
  weights: WEIGHTS,
  declaredShare: DECLARED_SHARE,
  completenessShare: COMPLETENESS_SHARE,
  signals: AXES.flatMap((axis) => Object.entries(SIGNALS[axis]).map(([name, weight]) => ({ axis, name, weight }))),
  bands: AXES.flatMap((axis) => Object.entries(BAND_FACTORS[axis]).map(([value, factor]) => ({ axis, value, factor }))),
};

export const DESCRIPTOR = {
  intent: INTENT,
  aliases: [],
  version: "1.0.0",
  domain: "auto",
  agent: "AutoServicesAgent",
  title: "Pollution check (PUC)",
  summary: "Books the emission test of a vehicle and its pollution-under-control certificate at an authorised centre.",
  search: {
    tool: SEARCH_TOOL,
    optionsKey: "centres",
    idKey: ID_KEY,
    pricePointer: "/price/total_inr",
    maxOptions: 15,
    emptyCode: "NO_CENTRES_FOUND",
    goneCode: "CENTRE_SLOT_GONE",
  },
  tools: [SEARCH, BOOK],
  ranking: RANKING,
  vocabularies: Object.entries(VOCABULARIES).map(([name, values]) => ({ name, values })),
  forbiddenFields: FORBIDDEN_FIELDS,
  rules: RULES,
  errors: ERRORS,
  widget: WIDGET,
  completion: {
    statuses: STATUSES,
    chargedStatuses: STATUSES.slice(0, 1),
    amountMaxInr: AMOUNT_MAX_INR,
    schema: schema(REPORT),
  },
  order: ORDER,
  dataLifetimes: [{ data: "authorisation of a centre", seconds: DAY_SECONDS }],
  goLive: GO_LIVE,
  cues: CUES,
  pairs: PAIRS,
  elsewhere: ELSEWHERE,
};
