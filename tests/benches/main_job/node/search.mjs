// Answers one search, that of car AC, as a Node engineer would write it by hand for one intent and one partner: the
// token is verified, the request checked, the partner's tool called, its answer read, searched, checked, ranked and
// sealed, and a receipt kept. Only what Node brings is used, each part as its own documentation shows.
//
// It does less than the gateway: it knows forbidden names in no disguise but their case, notes nothing of what is
// merely odd, knows no earlier orders, opens no session with the partner and repeats no call. Its receipts lie in a
// file that nothing reads. What it ranks, it scores as the contract does.

import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { Agent, createServer, request as call } from "node:http";
import { parseArgs } from "node:util";

const INTENT = "auto.book_ac_service";
const PATH = `/api/v1/intents/${INTENT}/search`;
const TOOL = "search_ac_service_slots";
const PARTNER_DEADLINE_MS = 2000;
const REQUEST_MAX_BYTES = 64 * 1024;
const ANSWER_MAX_BYTES = 1024 * 1024;
const OPTIONS_MAX = 15;
const DEPTH_MAX = 32;
// Receipts that may wait for the disk; searches wait with them beyond that.
const RECEIPTS_WAITING_MAX_BYTES = 8 * 1024 * 1024;

const { values: options } = parseArgs({
  options: { partner: { type: "string" }, receipts: { type: "string" }, port: { type: "string", default: "0" } },
});
const secret = process.env.SEARCH_TOKEN_SECRET;
if (!secret || !options.partner || !options.receipts) {
  console.error("usage: SEARCH_TOKEN_SECRET=... node search.mjs --partner URL --receipts FILE [--port PORT]");
  process.exit(2);
}
const tokenKey = createSecretKey(secret, "utf8");
// One secret is enough for both, but no token may pass as a reference.
const sealingKey = createSecretKey(createHmac("sha256", tokenKey).update("reference").digest());
const partner = new URL(options.partner);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const receipts = createWriteStream(options.receipts, { flags: "a", highWaterMark: RECEIPTS_WAITING_MAX_BYTES });

/** What the asker is told: a status and a code. */
class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

// ---- Shapes

const WHEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
const HTTPS = /^https:\/\/[^\s\\/?#]+(?:[/?#][^\s\\]*)?$/;
const LOCALE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string" && value !== "";
const isFlag = (value) => typeof value === "boolean";
const isWhen = (value) => typeof value === "string" && WHEN.test(value) && !Number.isNaN(Date.parse(value));
const isHttps = (value) => typeof value === "string" && HTTPS.test(value);
const isNumber = (least = -Infinity, most = Infinity) => (value) =>
  typeof value === "number" && value >= least && value <= most;
const isWhole = (least = -Infinity, most = Infinity) => (value) =>
  Number.isSafeInteger(value) && value >= least && value <= most;
const isOneOf = (...values) => {
  const known = new Set(values);
  return (value) => known.has(value);
};
const isLocale = (value) => typeof value === "string" && LOCALE.test(value);
const isList = (least, isItem) => (value) => Array.isArray(value) && value.length >= least && value.every(isItem);
/** A member that may be left out, or null. */
const maybe = (check) => (value) => value === undefined || value === null || check(value);
const isNullOr = (check) => (value) => value === null || check(value);

/** A check of an object by a check for each of its members; it gives the pointer of the first that is wrong. */
function shape(members) {
  const checks = Object.entries(members);
  return (value, at = "") => {
    if (!isObject(value)) return at || "/";
    for (const [name, check] of checks) {
      const inner = value[name];
      if (check.members) {
        if (check.optional && (inner === undefined || inner === null)) continue;
        const wrong = check.members(inner, `${at}/${name}`);
        if (wrong) return wrong;
      } else if (!check(inner)) {
        return `${at}/${name}`;
      }
    }
    return null;
  };
}
const inside = (members) => ({ members: shape(members) });
const perhaps = (members) => ({ members: shape(members), optional: true });

const wrongInRequest = shape({
  intent: (value) => value === INTENT,
  request_id: maybe(isText),
  user_locale: maybe(isLocale),
  user_currency: maybe((value) => value === "INR"),
  user_location: perhaps({
    lat: maybe(isNumber()),
    lng: maybe(isNumber()),
    max_radius_km: maybe(isNumber(0)),
    city: maybe(isText),
  }),
  vehicle: inside({
    type: (value) => value === "car",
    make: maybe(isText),
    model: maybe(isText),
    variant: maybe(isText),
    fuel_type: maybe(isOneOf("petrol", "diesel", "cng", "electric", "hybrid")),
    year_of_manufacture: maybe(isWhole()),
    registration_number_last4: maybe((value) => typeof value === "string" && value.length === 4),
    current_odometer_km: maybe(isWhole()),
    ac_system_type: isOneOf("manual", "automatic", "climate_control", "dual_zone"),
  }),
  ac_issue: inside({
    category: isOneOf(
      "not_cooling", "intermittent", "no_air", "smell", "noise", "pre_summer_check", "leak_suspected",
      "electrical_fault",
    ),
    user_description: (value) => typeof value === "string" && value.length <= 500,
    last_serviced_months_ago: isNullOr(isWhole(0, 120)),
  }),
  service_preferences: inside({
    doorstep_acceptable: isFlag,
    preferred_window: perhaps({ start: isWhen, end: isWhen }),
    loaner_vehicle_required: maybe(isFlag),
    authorised_only: maybe(isFlag),
  }),
  ttbs_user_band: perhaps({
    time: maybe((value) => typeof value === "string"),
    taste: maybe((value) => typeof value === "string"),
    budget: maybe((value) => typeof value === "string"),
    safety: maybe((value) => typeof value === "string"),
  }),
  session_context: perhaps({
    platform_session_id: maybe((value) => typeof value === "string"),
    user_dna_hash: maybe((value) => typeof value === "string"),
  }),
});

const wrongInSlot = shape({
  slot_id: isText,
  provider: inside({
    provider_id: isText,
    name: isText,
    address: isText,
    provider_type: isOneOf("oem_authorised", "multi_brand_garage", "ac_specialist", "doorstep_mobile"),
    location: inside({ lat: isNumber(), lng: isNumber() }),
    distance_from_user_km: isNumber(0, 30),
    refrigerant_handling_certified: isFlag,
  }),
  slot_window: inside({
    start: isWhen,
    end: isWhen,
    typical_duration_hours: isNumber(0.5, 6),
    same_day_completion_likely: isFlag,
  }),
  service_scope: inside({
    code: isOneOf(
      "basic_check", "refrigerant_topup", "leak_diagnosis", "compressor_service", "full_overhaul", "cabin_filter_only",
    ),
    label: isText,
    includes: isList(2, isText),
    refrigerant_type: isOneOf("r134a", "r1234yf", "mixed"),
  }),
  estimated_price: inside({
    diagnostic_fee_inr: isWhole(0),
    labour_inr: isWhole(0),
    parts_estimate_inr: isWhole(0),
    refrigerant_inr: isWhole(0),
    gst_inr: isWhole(0),
    diagnostic_fee_waived_if_repair: isFlag,
    total_estimate_inr: isWhole(0),
    price_lock_guaranteed: isFlag,
    price_lock_variance_cap_pct: isWhole(0, 50),
  }),
  logistics: inside({
    doorstep_supported: isFlag,
    while_you_wait_acceptable: isFlag,
    pickup_drop_supported: isFlag,
  }),
  warranty: inside({
    parts_warranty_months: isWhole(0, 24),
    labour_warranty_months: isWhole(0, 6),
    cooling_performance_warranty_days: isWhole(0, 90),
    warranty_terms_url: isHttps,
  }),
  ratings: inside({
    avg_rating: isNumber(0, 5),
    review_count: isWhole(0),
    cooling_complaint_resolution_pct: isWhole(0, 100),
  }),
  partner_reference: inside({ source: isText, deeplink: isHttps }),
});

// ---- What no answer may hold

const isUnlessFalse = (value) => value !== false;
const isUnlessEmpty = (value) => value !== null && value !== "";
const FORBIDDEN = new Set([
  "paid_placement_score", "ad_bid", "sponsored_rank", "promotion_priority", "kickback_amount", "referral_fee_kickback",
  "_partner_revenue_share", "commission_padded_price", "unnecessary_overhaul_recommendation",
]);
const FORBIDDEN_UNLESS = new Map([
  ["artificial_urgency_text", isUnlessEmpty],
  ["ai_generated_photo", isUnlessFalse],
  ["ai_generated_photos", isUnlessFalse],
  ["photo_ai_generated", isUnlessFalse],
]);

/** Whether a value holds a forbidden member, however deep. */
function holdsForbidden(value, depth = 0) {
  if (typeof value !== "object" || value === null) return false;
  if (depth === DEPTH_MAX) throw new Refusal(502, "INVALID_RESPONSE", "the answer nests too deep");
  if (Array.isArray(value)) return value.some((item) => holdsForbidden(item, depth + 1));
  for (const name of Object.keys(value)) {
    const lower = name.toLowerCase();
    const inner = value[name];
    if (FORBIDDEN.has(lower) || FORBIDDEN_UNLESS.get(lower)?.(inner)) return true;
    if (holdsForbidden(inner, depth + 1)) return true;
  }
  return false;
}

// ---- Rules

const DOORSTEP_SCOPES = new Set(["basic_check", "refrigerant_topup", "cabin_filter_only"]);
const REFRIGERANT_SCOPES = new Set(["refrigerant_topup", "leak_diagnosis", "compressor_service", "full_overhaul"]);
const FIRST_R1234YF_YEAR = 2017;

/** What ranking and rules take of a request; instants are read once. */
function readAsked(request) {
  const window = request.service_preferences.preferred_window;
  return {
    category: request.ac_issue.category,
    year: request.vehicle.year_of_manufacture ?? null,
    radiusKm: request.user_location?.max_radius_km ?? null,
    window: window ? { start: Date.parse(window.start), end: Date.parse(window.end) } : null,
    doorstep: request.service_preferences.doorstep_acceptable,
    authorisedOnly: request.service_preferences.authorised_only === true,
    bands: request.ttbs_user_band ?? {},
  };
}

/** The rule that a slot breaks, or null. */
function brokenRule(asked, slot, start, end) {
  const { code, refrigerant_type } = slot.service_scope;
  if (!slot.provider.refrigerant_handling_certified) return "UNCERTIFIED";
  if (slot.logistics.doorstep_supported && !DOORSTEP_SCOPES.has(code)) return "DOORSTEP_SCOPE";
  if (asked.year !== null && REFRIGERANT_SCOPES.has(code) && refrigerant_type !== "mixed") {
    const right = asked.year < FIRST_R1234YF_YEAR ? "r134a" : "r1234yf";
    if (refrigerant_type !== right) return "REFRIGERANT_MISMATCH";
  }
  if (asked.radiusKm !== null && slot.provider.distance_from_user_km > asked.radiusKm) return "OUTSIDE_RADIUS";
  if (end <= start) return "WINDOW_ORDER";
  if (asked.window && (start < asked.window.start || start > asked.window.end)) return "OUTSIDE_WINDOW";
  if (asked.authorisedOnly && slot.provider.provider_type !== "oem_authorised") return "NOT_AUTHORISED";
  return null;
}

// ---- Ranking

const WEIGHTS = { time: 0.25, taste: 0.15, budget: 0.25, safety: 0.35 };
// What a band does to the weight of its axis; any other value does nothing.
const BANDS = {
  time: new Map([["fast", 1.5], ["flexible", 0.7]]),
  taste: new Map(),
  budget: new Map([["ok", 1.5], ["great", 0.8]]),
  safety: new Map([["fast", 0.7], ["good", 1.3]]),
};
// What a partner says of itself counts for this much of an axis; this one says nothing.
const DECLARED_SHARE = 0.2;
const NEUTRAL = 0.5;
// A slot without all of its members is dropped, so each that is left is complete.
const COMPLETENESS_SHARE = 0.1;

const TIME = [0.25, 0.35, 0.25, 0.15];
const TIME_FAST = emphasise(TIME, 3);
const TASTE = [0.5, 0.5];
const BUDGET = [0.55, 0.2, 0.25];
const BUDGET_OK = emphasise(BUDGET, 0);
const SAFETY = [0.25, 0.3, 0.25, 0.2];
const SAFETY_FLEXIBLE = emphasise(SAFETY, 2);

const SCOPES = [
  "basic_check", "refrigerant_topup", "leak_diagnosis", "compressor_service", "full_overhaul", "cabin_filter_only",
];
/** How well each scope answers a trouble, in the order of `SCOPES`. */
const SCOPE_MATCH = {
  not_cooling: [0.6, 1.0, 0.9, 0.7, 0.3, 0.1],
  intermittent: [0.9, 0.6, 0.8, 0.8, 0.3, 0.1],
  no_air: [1.0, 0.1, 0.2, 0.3, 0.4, 0.8],
  smell: [0.7, 0.1, 0.2, 0.1, 0.3, 1.0],
  noise: [0.7, 0.1, 0.2, 1.0, 0.5, 0.2],
  pre_summer_check: [1.0, 0.7, 0.5, 0.1, 0.2, 0.6],
  leak_suspected: [0.4, 0.5, 1.0, 0.4, 0.4, 0.0],
  electrical_fault: [1.0, 0.1, 0.1, 0.5, 0.5, 0.0],
};

/** The same weights with one of them doubled. */
function emphasise(weights, place) {
  const sum = 1 + weights[place];
  return weights.map((weight, index) => (index === place ? 2 * weight : weight) / sum);
}

function unit(value) {
  return value >= 1 ? 1 : value > 0 ? value : 0;
}

function blend(weights, ...values) {
  let sum = 0;
  for (let place = 0; place < weights.length; place += 1) sum += weights[place] * unit(values[place]);
  return unit(sum);
}

/** The weights of the axes for one user; they sum to 1. */
function weightsFor(bands) {
  const weights = {};
  let sum = 0;
  for (const axis in WEIGHTS) {
    weights[axis] = WEIGHTS[axis] * (BANDS[axis].get(bands[axis]) ?? 1);
    sum += weights[axis];
  }
  for (const axis in weights) weights[axis] /= sum;
  return weights;
}

function timeOf(asked, slot, start) {
  const { typical_duration_hours, same_day_completion_likely } = slot.slot_window;
  const distance = 1 - slot.provider.distance_from_user_km / (asked.radiusKm > 0 ? asked.radiusKm : 30);
  let fit = NEUTRAL;
  if (asked.window && asked.bands.time === "flexible") {
    fit = 1;
  } else if (asked.window) {
    const half = (asked.window.end - asked.window.start) / 2;
    fit = 1 - Math.abs(start - asked.window.start - half) / half;
  }
  const duration = 1 - (typical_duration_hours - 0.5) / 5.5;
  const weights = asked.bands.time === "fast" ? TIME_FAST : TIME;
  return blend(weights, distance, fit, duration, Number(same_day_completion_likely));
}

function tasteOf(asked, slot) {
  // Who wants nobody at the door cannot be served by somebody without a workshop. No earlier orders are known.
  const provider = slot.provider.provider_type === "doorstep_mobile" && !asked.doorstep ? 0 : NEUTRAL;
  return blend(TASTE, provider, SCOPE_MATCH[asked.category][SCOPES.indexOf(slot.service_scope.code)]);
}

function budgetOf(asked, slot, least, most) {
  const price = slot.estimated_price;
  const { cooling_performance_warranty_days, parts_warranty_months, labour_warranty_months } = slot.warranty;
  const total = most > least ? (most - price.total_estimate_inr) / (most - least) : 1;
  const lock = price.price_lock_guaranteed ? 1 - price.price_lock_variance_cap_pct / 100 : 0;
  const weights = asked.bands.budget === "ok" ? BUDGET_OK : BUDGET;
  const value = blend(weights, total, Number(price.diagnostic_fee_waived_if_repair), lock);
  if (asked.bands.budget === "good") {
    const warranty =
      (cooling_performance_warranty_days / 90 + parts_warranty_months / 24 + labour_warranty_months / 6) / 3;
    return 0.7 * value + 0.3 * warranty;
  }
  if (asked.bands.budget === "great") {
    const preferred = slot.provider.provider_type === "oem_authorised" && cooling_performance_warranty_days >= 30;
    return 0.6 * value + 0.4 * Number(preferred);
  }
  return value;
}

function safetyOf(asked, slot) {
  const days = slot.warranty.cooling_performance_warranty_days;
  const cooling = (days / 90) * (days < 30 && asked.bands.safety !== "fast" ? 0.5 : 1);
  return blend(
    asked.bands.safety === "flexible" ? SAFETY_FLEXIBLE : SAFETY,
    Number(slot.provider.refrigerant_handling_certified),
    cooling,
    slot.ratings.cooling_complaint_resolution_pct / 100,
    slot.warranty.parts_warranty_months / 24,
  );
}

/** The slots that may be shown with their scores, best first; equal ones by their identifiers. */
function rank(asked, slots) {
  const sound = [];
  let least = Infinity;
  let most = -Infinity;
  for (const slot of slots) {
    if (holdsForbidden(slot) || wrongInSlot(slot)) continue;
    const start = Date.parse(slot.slot_window.start);
    if (brokenRule(asked, slot, start, Date.parse(slot.slot_window.end))) continue;
    const total = slot.estimated_price.total_estimate_inr;
    least = Math.min(least, total);
    most = Math.max(most, total);
    sound.push({ slot, start });
  }
  const weights = weightsFor(asked.bands);
  const mixed = (rules) => (1 - DECLARED_SHARE) * rules + DECLARED_SHARE * NEUTRAL;
  const ranked = sound.map(({ slot, start }) => {
    const axes = {
      time: mixed(timeOf(asked, slot, start)),
      taste: mixed(tasteOf(asked, slot)),
      budget: mixed(budgetOf(asked, slot, least, most)),
      safety: mixed(safetyOf(asked, slot)),
    };
    let sum = 0;
    for (const axis in weights) sum += weights[axis] * axes[axis];
    return { slot, axes, total: (1 - COMPLETENESS_SHARE) * sum + COMPLETENESS_SHARE };
  });
  return ranked.sort((one, other) => other.total - one.total || (one.slot.slot_id < other.slot.slot_id ? -1 : 1));
}

// ---- What is shown

const PROVIDER_LABELS = {
  oem_authorised: "Authorised workshop",
  multi_brand_garage: "Multi-brand garage",
  ac_specialist: "AC specialist",
  doorstep_mobile: "Doorstep service",
};

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** An instant as a clock on the spot shows it, for example `Mon 4 May, 09:00`. `Intl` would take far longer. */
function shownTime(text) {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return `${DAYS[day.getUTCDay()]} ${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]}, ${text.slice(11, 16)}`;
}

function cardOf({ provider, slot_window, estimated_price, warranty }) {
  return {
    header: provider.name,
    subline_1: `${PROVIDER_LABELS[provider.provider_type]} · ${provider.distance_from_user_km.toFixed(1)} km`,
    subline_2: `${shownTime(slot_window.start)} · ${slot_window.typical_duration_hours} h`,
    price: { amount_inr: estimated_price.total_estimate_inr, currency: "INR" },
    pill: `${warranty.cooling_performance_warranty_days}-day cooling warranty`,
    badge: provider.refrigerant_handling_certified ? "Certified" : null,
  };
}

/** What a booking needs to know, sealed so that nobody else can have made it. */
function seal(claims) {
  const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${text}.${createHmac("sha256", sealingKey).update(text).digest("base64url")}`;
}

// ---- Who asks

/** The claims of a token that holds; throws what is wrong with it. */
function verify(header) {
  const refused = (message) => new Refusal(401, "INVALID_AUTH", message);
  const token = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(header ?? "");
  if (!token) throw refused("a bearer token is needed");
  const [, head, body, signature] = token;
  const mac = createHmac("sha256", tokenKey).update(`${head}.${body}`).digest();
  const given = Buffer.from(signature, "base64url");
  if (given.length !== mac.length || !timingSafeEqual(given, mac)) throw refused("the token is not ours");
  // What is signed was written here, but the header decides what the signature means.
  const read = (part) => JSON.parse(Buffer.from(part, "base64url").toString());
  const claims = read(body);
  if (read(head).alg !== "HS256") throw refused("the token is signed otherwise");
  if (!Number.isFinite(claims.exp) || claims.exp * 1000 <= Date.now()) throw refused("the token has expired");
  if (claims.role !== "orchestrator") throw new Refusal(403, "FORBIDDEN", "the token is another role's");
  return claims;
}

// ---- The partner

let calls = 0;

/** A body whole, as text. */
function readAll(stream, most, refusals) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let length = 0;
    stream.on("data", (chunk) => {
      length += chunk.length;
      if (length > most) {
        stream.pause();
        reject(refusals.tooLong());
        return;
      }
      chunks.push(chunk);
    });
    stream.on("end", () => resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length)).toString()));
    stream.on("error", () => reject(refusals.broken()));
  });
}

const ANSWER_REFUSALS = {
  tooLong: () => new Refusal(502, "INVALID_RESPONSE", "the partner's answer is too long"),
  broken: () => new Refusal(502, "PARTNER_ERROR", "the partner's answer breaks off"),
};

/** Posts a message to the partner; the answer's text. */
function post(message) {
  const body = Buffer.from(JSON.stringify(message));
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
    "content-length": body.length,
  };
  return new Promise((resolve, reject) => {
    const sent = call(partner, { agent, method: "POST", headers });
    const fail = (refusal) => {
      clearTimeout(deadline);
      reject(refusal);
      sent.destroy();
    };
    const deadline = setTimeout(() => {
      fail(new Refusal(504, "PARTNER_TIMEOUT", "the partner does not answer in time"));
    }, PARTNER_DEADLINE_MS);
    sent.on("error", (error) => {
      fail(new Refusal(502, "PARTNER_ERROR", `the partner cannot be reached: ${error.code}`));
    });
    sent.on("response", (answer) => {
      if (answer.statusCode !== 200 || !answer.headers["content-type"]?.startsWith("application/json")) {
        fail(new Refusal(502, "PARTNER_ERROR", `the partner answers with ${answer.statusCode}`));
        return;
      }
      readAll(answer, ANSWER_MAX_BYTES, ANSWER_REFUSALS).then((text) => {
        clearTimeout(deadline);
        resolve(text);
      }, fail);
    });
    sent.end(body);
  });
}

/** Calls the search tool; the partner's own words, and what they say. */
async function search(request) {
  calls += 1;
  const id = calls;
  const unsound = (message) => new Refusal(502, "INVALID_RESPONSE", message);
  const params = { name: TOOL, arguments: request };
  const text = await post({ jsonrpc: "2.0", id, method: "tools/call", params });
  const envelope = parse(text, () => unsound("the partner's answer is no JSON"));
  if (!isObject(envelope) || envelope.jsonrpc !== "2.0" || envelope.id !== id) {
    throw unsound("the partner's answer is no answer to the call");
  }
  if (envelope.error) throw new Refusal(502, "PARTNER_ERROR", `the partner says ${envelope.error.message}`);
  const { result } = envelope;
  const content = result?.content?.[0];
  if (result?.isError || content?.type !== "text" || typeof content.text !== "string") {
    throw unsound("the partner's answer has no text");
  }
  const payload = parse(content.text, () => unsound("the partner's text is no JSON"));
  const isSound =
    isObject(payload) && isText(payload.result_token) && isWhen(payload.expires_at) && Array.isArray(payload.slots);
  if (!isSound) throw unsound("the partner's text is no list of slots");
  return { text: content.text, payload };
}

function parse(text, refusal) {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal();
  }
}

// ---- The service

let drained = null;

/** Adds a line to the file; whoever comes while too much waits for the disk waits as well. */
function keep(receipt) {
  if (!receipts.write(`${JSON.stringify(receipt)}\n`)) {
    drained ??= once(receipts, "drain").then(() => {
      drained = null;
    });
  }
}

const REQUEST_REFUSALS = {
  tooLong: () => new Refusal(413, "INVALID_REQUEST", "the request is too long"),
  broken: () => new Refusal(400, "INVALID_REQUEST", "the request breaks off"),
};

/** One search, from the token to the receipt; the answer's body. */
async function serve(request) {
  const claims = verify(request.headers.authorization);
  if (drained) await drained;
  const body = await readAll(request, REQUEST_MAX_BYTES, REQUEST_REFUSALS);
  const invalid = (message) => new Refusal(400, "INVALID_REQUEST", message);
  const wanted = parse(body, () => invalid("the request is no JSON"));
  const wrong = wrongInRequest(wanted);
  if (wrong) throw invalid(`${wrong} is missing or not as it must be`);
  const asked = readAsked(wanted);
  if (asked.window && asked.window.end <= asked.window.start) throw invalid("the window must end after it starts");
  wanted.request_id ??= `req_${randomUUID()}`;

  const { text, payload } = await search(wanted);
  const ranked = rank(asked, payload.slots.slice(0, OPTIONS_MAX));
  const { result_token, expires_at } = payload;
  const shown = ranked.map(({ slot, axes, total }) => ({
    reference: seal({
      intent: INTENT,
      request_id: wanted.request_id,
      slot_id: slot.slot_id,
      total_inr: slot.estimated_price.total_estimate_inr,
      result_token,
      expires_at,
    }),
    score: { total, ...axes },
    card: cardOf(slot),
    option: slot,
  }));
  keep({
    at: Date.now(),
    by: claims.sub ?? null,
    request: wanted,
    answer: text,
    order: ranked.map(({ slot, total }) => [slot.slot_id, total]),
  });
  return JSON.stringify({ request_id: wanted.request_id, intent: INTENT, options: shown });
}

function answer(response, status, text) {
  const body = Buffer.from(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

const server = createServer((request, response) => {
  if (request.method !== "POST" || request.url !== PATH) {
    request.resume();
    answer(response, 404, JSON.stringify({ code: "NOT_FOUND" }));
    return;
  }
  serve(request).then(
    (body) => answer(response, 200, body),
    (error) => {
      const { status = 500, code = "INTERNAL_ERROR" } = error instanceof Refusal ? error : {};
      if (status === 500) console.error(error);
      request.resume();
      answer(response, status, JSON.stringify({ code, message: status === 500 ? "" : error.message }));
    },
  );
});

process.once("SIGTERM", () => {
  server.close(() => receipts.end());
  server.closeIdleConnections();
  agent.destroy();
});

server.listen(Number(options.port), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
