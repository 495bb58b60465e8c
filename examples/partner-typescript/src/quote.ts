// From a search request to priced slots. Pure: what is sold is known to the caller, not here.
// Instants are milliseconds since the Unix epoch.

import type { Catalogue, Json, JsonObject, Place, Provider, Service, SlotTemplate } from './catalogue.ts';
import { Refusal } from './refusal.ts';

/** The largest number of slots in one answer (spec 2, tools). */
const MAX_SLOTS = 15;
/** The farthest workshop that the contract can express, in km (spec 2, AcServiceSlot). */
const MAX_DISTANCE_KM = 30;
/** Cars of this year and later take r1234yf (spec 2, service_scope.refrigerant_type). */
const FIRST_R1234YF_YEAR = 2017;
/** Goods and services tax on car repair, in percent. */
const GST_PERCENT = 18;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Work starts on the quarter of an hour. */
const START_GRID_MS = 15 * MINUTE_MS;
/** Mean radius of the Earth, in km (IUGG). */
const EARTH_RADIUS_KM = 6371.0088;
/** The last part of a slot id: the car's refrigerant sets the price, so it is part of the name. */
const REFRIGERANT_LETTER = { r134a: 'a', r1234yf: 'y', mixed: 'm' } as const;

type Refrigerant = keyof typeof REFRIGERANT_LETTER;

/** Arguments of a search, as far as this business reads them. Checked against the input schema. */
export interface SearchRequest {
  user_location?: Place & { max_radius_km?: number };
  vehicle: { fuel_type?: string; year_of_manufacture?: number; ac_system_type: string };
  ac_issue: { category: string };
  service_preferences: {
    doorstep_acceptable: boolean;
    preferred_window?: { start: string; end: string };
    authorised_only?: boolean;
  };
}

/** One slot that the business offers, before any trick is played on it. */
export interface Quote {
  slotId: string;
  /** What is taken from stock: the same for every car that might fill the slot. */
  stockKey: string;
  stock: number;
  startMs: number;
  endMs: number;
  scope: string;
  doorstepSupported: boolean;
  totalInr: number;
  /** The AcServiceSlot as the customer sees it, tricks played. */
  payload: Json;
}

/** The slots that fit the request, earliest first, at most MAX_SLOTS. */
export function quotes(
  catalogue: Catalogue,
  request: SearchRequest,
  nowMs: number,
  inStock: (stockKey: string, stock: number) => boolean,
): Quote[] {
  const { fuel_type: fuel, year_of_manufacture: year, ac_system_type: ac } = request.vehicle;
  const fuelServed = fuel === undefined || catalogue.vehicles.fuel_types.includes(fuel);
  if (!fuelServed || !catalogue.vehicles.ac_system_types.includes(ac)) {
    throw new Refusal('VEHICLE_AC_INCOMPATIBLE', "this business does not service that car's AC");
  }
  const wanted = refrigerantFor(year);
  if (!catalogue.providers.some((provider) => handles(provider, wanted))) {
    throw new Refusal('REFRIGERANT_UNAVAILABLE', 'no provider of this business stocks that refrigerant');
  }
  const window = workingWindow(catalogue, request.service_preferences.preferred_window, nowMs);
  if (window === undefined) return [];
  const place = request.user_location ?? catalogue.business.centre;
  const found: Quote[] = [];
  for (const template of catalogue.slots) {
    const provider = catalogue.providers.find((one) => one.provider_id === template.provider);
    const service = catalogue.services[template.service];
    if (provider === undefined || service === undefined) continue;
    const distanceKm = distance(place, provider);
    if (!suits(request, provider, service, wanted, distanceKm)) continue;
    const startMs = window.startMs + template.offset_minutes * MINUTE_MS;
    const endMs = startMs + service.duration_minutes * MINUTE_MS;
    if (endMs > window.endMs) continue;
    const quote = quoteFor(catalogue, { template, provider, service, wanted, distanceKm, startMs, endMs });
    if (inStock(quote.stockKey, quote.stock)) found.push(quote);
  }
  // Stable, so that templates of one start keep the catalogue's order.
  return found.sort((a, b) => a.startMs - b.startMs).slice(0, MAX_SLOTS);
}

/** An instant in the business's local time, with its offset. */
export function localText(ms: number, offsetMinutes: number): string {
  const sign = offsetMinutes < 0 ? '-' : '+';
  const pad = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(Math.abs(offsetMinutes) / 60);
  const local = new Date(ms + offsetMinutes * MINUTE_MS).toISOString().slice(0, 19);
  return `${local}${sign}${pad(hours)}:${pad(Math.abs(offsetMinutes) % 60)}`;
}

/** JSON merge patch (RFC 7396): null removes a key, objects merge, anything else replaces. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refrigerantFor(year: number | undefined): Refrigerant {
  if (year === undefined) return 'mixed';
  return year >= FIRST_R1234YF_YEAR ? 'r1234yf' : 'r134a';
}

function handles(provider: Provider, wanted: Refrigerant): boolean {
  const needed = wanted === 'mixed' ? ['r134a', 'r1234yf'] : [wanted];
  return needed.every((kind) => provider.refrigerants.includes(kind));
}

function suits(
  request: SearchRequest,
  provider: Provider,
  service: Service,
  wanted: Refrigerant,
  distanceKm: number,
): boolean {
  const preferences = request.service_preferences;
  const askedKm = request.user_location?.max_radius_km ?? MAX_DISTANCE_KM;
  const reachKm = Math.min(MAX_DISTANCE_KM, provider.serves_within_km, askedKm);
  return (
    service.issues.includes(request.ac_issue.category) &&
    handles(provider, wanted) &&
    distanceKm <= reachKm &&
    (preferences.doorstep_acceptable || provider.provider_type !== 'doorstep_mobile') &&
    (!preferences.authorised_only || provider.provider_type === 'oem_authorised')
  );
}

/**
 * The first day of the window on which the business is open, cut to opening hours. Without a window:
 * tomorrow. Past windows are quoted like any other, so that a recorded request replays.
 */
function workingWindow(
  catalogue: Catalogue,
  asked: { start: string; end: string } | undefined,
  nowMs: number,
): { startMs: number; endMs: number } | undefined {
  const { opens, closes, utc_offset_minutes: offsetMinutes } = catalogue.business;
  const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
  const hours = (ms: number, days: number) => {
    const localMs = ms + offsetMinutes * MINUTE_MS;
    const midnightMs = Math.floor(localMs / DAY_MS) * DAY_MS - offsetMinutes * MINUTE_MS + days * DAY_MS;
    return {
      startMs: midnightMs + minutesOf(opens) * MINUTE_MS,
      endMs: midnightMs + minutesOf(closes) * MINUTE_MS,
    };
  };
  if (asked === undefined) return hours(nowMs, 1);
  const field = 'service_preferences.preferred_window';
  const firstMs = instant(asked.start, `${field}.start`);
  const lastMs = instant(asked.end, `${field}.end`);
  if (firstMs >= lastMs) throw new Refusal('INVALID_REQUEST', 'start must lie before end', field);
  let day = hours(firstMs, 0);
  if (onGrid(Math.max(firstMs, day.startMs)) >= day.endMs) day = hours(firstMs, 1);
  const startMs = onGrid(Math.max(firstMs, day.startMs));
  const endMs = Math.min(lastMs, day.endMs);
  return startMs < endMs ? { startMs, endMs } : undefined;
}

/** The schema has seen that there is an offset; here the numbers must make a date. */
function instant(text: string, field: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Refusal('INVALID_REQUEST', 'not a datetime', field);
  return ms;
}

/** The next quarter of an hour, or the instant itself when it is one. */
function onGrid(ms: number): number {
  return Math.ceil(ms / START_GRID_MS) * START_GRID_MS;
}

/** Great-circle distance by the haversine formula, to one decimal. */
function distance(a: Place, b: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const halfChord = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2;
  const h =
    halfChord(a.lat, b.lat) +
    Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * halfChord(a.lng, b.lng);
  const km = 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
  return Math.floor(km * 10 + 0.5) / 10;
}

/** Tax and total. The diagnostic fee is part of both unless the work is a repair that waives it. */
function priceOf(service: Service, wanted: Refrigerant) {
  const { price } = service;
  // Year unknown: the dearer of the two, so that the customer is not asked for more later.
  const refrigerantInr = price.refrigerant_inr[wanted === 'r134a' ? 'r134a' : 'r1234yf'];
  const waived = price.diagnostic_fee_waived_if_repair && service.scope !== 'basic_check';
  const feeInr = waived ? 0 : price.diagnostic_fee_inr;
  const taxableInr = feeInr + price.labour_inr + price.parts_estimate_inr + refrigerantInr;
  const gstInr = Math.floor((taxableInr * GST_PERCENT + 50) / 100);
  return {
    ...price,
    refrigerant_inr: refrigerantInr,
    gst_inr: gstInr,
    total_estimate_inr: taxableInr + gstInr,
  };
}

/** One template at one time for one car. */
interface Job {
  template: SlotTemplate;
  provider: Provider;
  service: Service;
  wanted: Refrigerant;
  distanceKm: number;
  startMs: number;
  endMs: number;
}

function quoteFor(catalogue: Catalogue, job: Job): Quote {
  const { business } = catalogue;
  const { template, provider, service, wanted, startMs, endMs } = job;
  const start = localText(startMs, business.utc_offset_minutes);
  const stockKey = `${business.source}.${template.ref}.${start.slice(0, 16).replace(/[-:]/g, '')}`;
  const slotId = `${stockKey}.${REFRIGERANT_LETTER[wanted]}`;
  const price = priceOf(service, wanted);
  const payload: JsonObject = {
    slot_id: slotId,
    provider: {
      provider_id: provider.provider_id,
      name: provider.name,
      address: provider.address,
      provider_type: provider.provider_type,
      location: { lat: provider.lat, lng: provider.lng },
      distance_from_user_km: job.distanceKm,
      refrigerant_handling_certified: provider.refrigerant_handling_certified,
    },
    slot_window: {
      start,
      end: localText(endMs, business.utc_offset_minutes),
      typical_duration_hours: Math.round(service.duration_minutes / 6) / 10,
      same_day_completion_likely: service.same_day_completion_likely,
    },
    service_scope: {
      code: service.scope,
      label: service.label,
      includes: service.includes,
      refrigerant_type: wanted,
    },
    estimated_price: price,
    logistics: service.logistics,
    warranty: { ...service.warranty, warranty_terms_url: `${business.website}/warranty` },
    ratings: provider.ratings,
    partner_reference: { source: business.source, deeplink: `${business.website}/book/${slotId}` },
  };
  return {
    slotId,
    stockKey,
    stock: template.stock,
    startMs,
    endMs,
    scope: service.scope,
    doorstepSupported: service.logistics.doorstep_supported,
    totalInr: price.total_estimate_inr,
    payload: template.merge === undefined ? payload : mergePatch(payload, template.merge),
  };
}
