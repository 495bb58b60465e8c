// From a search to options. Pure: how many places are left is known to the caller, not here.
//
// What the user says must be so is a filter here. What the user would like best is left to the platform's
// ranking. An option shows the whole studio, so that later slots and bookings can be of any of its classes;
// its slots are those of the classes that suit.

import {
  passName,
  splitTax,
  type Catalogue,
  type Instructor,
  type JsonObject,
  type Pass,
  type PassName,
  type Place,
  type Studio,
  type YogaClass,
} from './catalogue.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, localText, openingTimes, slotsOf, type Slot } from './timetable.ts';

/** The largest number of options in one answer. */
const MAX_OPTIONS = 15;
/** The largest number of slots in one option: the earliest. */
const MAX_SLOTS = 12;
/** How long before the time asked for a slot may start. */
const EARLIER_MS = 6 * HOUR_MS;
/** A week, so that each class of the timetable comes up once. */
const SPAN_MS = 7 * DAY_MS;
/** How much shorter or longer than asked a class may be, in minutes. */
const DURATION_SLACK_MINUTES = 30;
/** For how long an answer counts as fresh, in seconds. */
const FRESH_SECONDS = 60;
/** Mean radius of the Earth, in km (IUGG). */
const EARTH_RADIUS_KM = 6371.0088;

/** What is sold for each kind of session, and under which name. Introductions to retreats are not given. */
const PASSES: Partial<Record<string, { name: PassName; kind: string }>> = {
  drop_in_class: { name: 'group', kind: 'single_class' },
  trial_class: { name: 'group', kind: 'trial_class' },
  guest_pass: { name: 'group', kind: 'guest_pass' },
  private_session: { name: 'private', kind: 'private_with_instructor' },
  themed_workshop: { name: 'workshop', kind: 'single_class' },
};

/** The user as far as it decides who may come to which class. */
export interface Profile {
  gender?: string;
  yoga_experience_level: string;
  medical_conditions_disclosed: string[];
  pregnant_or_postpartum: string;
}

/** Arguments of a search, as far as this business reads them. Checked against the input schema. */
export interface SearchRequest {
  request_id?: string;
  search_area: { city?: string; lat?: number; lng?: number; max_radius_km?: number };
  scheduled_for_iso?: string;
  duration_minutes?: number;
  session_kind: string;
  user_yoga_profile: Profile;
  yoga_intent: {
    yoga_styles_acceptable: string[];
    yoga_style_preferred: string;
    class_kind_acceptable: string[];
    temperature_kind_acceptable: string[];
    max_class_size: number;
    min_instructor_skill: number;
    props_required: string[];
  };
  preferences: {
    studio_kind_acceptable: string[];
    instructor_min_experience_years?: number;
    instructor_certifications_required: boolean;
    instructor_certification_authority_acceptable: string[];
    shower_required?: boolean;
    locker_required?: boolean;
    ac_or_fan_required?: boolean;
    parking_required?: boolean;
    single_gender_class_required?: boolean;
    budget_max_inr_total?: number;
  };
}

/** How many places of a slot are left. */
export type PlacesLeft = (slot: Slot) => number;

/** What of a search also decides what is shown of a studio later on. */
export type Asked = Pick<SearchRequest, 'search_area' | 'scheduled_for_iso' | 'session_kind'> & {
  user_yoga_profile?: Profile;
};

/** Stands in where the search is not known. */
export const ANY_SEARCH: Asked = { search_area: {}, session_kind: 'drop_in_class' };

/** The studios that suit a search with their slots that do, nearest first, at most MAX_OPTIONS. */
export function findStudios(
  catalogue: Catalogue,
  request: SearchRequest,
  nowMs: number,
  placesLeft: PlacesLeft,
): { studio: Studio; slots: Slot[] }[] {
  const place = placeOf(catalogue, request);
  const found = [];
  for (const studio of catalogue.studios) {
    const distanceKm = distance(place, studio.address);
    if (!studioSuits(request, studio, distanceKm)) continue;
    const slots = openSlots(catalogue, studio, request, nowMs, placesLeft).filter(
      (slot) => classFitsWishes(request, slot.yogaClass) && instructorFits(request, slot.instructor),
    );
    if (slots.length > 0) found.push({ studio, slots: slots.slice(0, MAX_SLOTS), distanceKm });
  }
  return found.sort((a, b) => a.distanceKm - b.distanceKm).slice(0, MAX_OPTIONS);
}

/**
 * The slots of a studio with places left that are right for who asks, in the week around the time asked for
 * and at the price of the session asked for. None starts before the answer that shows it expires, so that
 * what is shown can be booked, nor later than the timetable is out.
 */
export function openSlots(
  catalogue: Catalogue,
  studio: Studio,
  { scheduled_for_iso: askedIso, session_kind: session, user_yoga_profile: user }: Asked,
  nowMs: number,
  placesLeft: PlacesLeft,
): Slot[] {
  const { quote_valid_minutes, bookable_days_ahead, utc_offset_minutes } = catalogue.business;
  const soonestMs = nowMs + quote_valid_minutes * MINUTE_MS;
  const fromMs = askedIso === undefined ? soonestMs : Math.max(soonestMs, Date.parse(askedIso) - EARLIER_MS);
  const untilMs = Math.min(fromMs + SPAN_MS, nowMs + bookable_days_ahead * DAY_MS);
  return slotsOf(studio, fromMs, untilMs, utc_offset_minutes).filter(
    (slot) =>
      passName(slot.yogaClass) === PASSES[session]?.name &&
      (user === undefined || classFitsUser(user, slot.yogaClass)) &&
      placesLeft(slot) > 0,
  );
}

/** Whether a class is right for who comes, whatever they wish. */
export function classFitsUser(user: Profile, yogaClass: YogaClass): boolean {
  const { class_kind: kind, difficulty_level: level } = yogaClass;
  const has = (...conditions: string[]) => conditions.some((one) => user.medical_conditions_disclosed.includes(one));
  if (needsPrenatal(user) ? !yogaClass.prenatal_friendly : kind === 'prenatal_class') return false;
  if (user.pregnant_or_postpartum === 'pregnant_t3' && kind !== 'prenatal_class') return false;
  if (needsPostpartum(user) && !yogaClass.postpartum_friendly) return false;
  const gaveBirth = needsPostpartum(user) || user.pregnant_or_postpartum === 'postpartum_over_6mo';
  if (kind === 'postpartum_class' && !gaveBirth) return false;
  if (has('back_pain', 'mild_back_pain') && !yogaClass.back_pain_friendly) return false;
  const isNew = ['beginner', 'novice'].includes(user.yoga_experience_level);
  if (isNew && (level === 'advanced' || kind === 'advanced_only')) return false;
  const isFarOn = ['advanced', 'teacher_level'].includes(user.yoga_experience_level);
  if (isFarOn && (level === 'beginner' || kind === 'beginners_only')) return false;
  return yogaClass.only_for === undefined || yogaClass.only_for === user.gender;
}

/** Whether only a class that is fit for pregnant people will do. */
export function needsPrenatal(user: Profile): boolean {
  return user.pregnant_or_postpartum.startsWith('pregnant_') || user.medical_conditions_disclosed.includes('pregnancy');
}

function needsPostpartum(user: Profile): boolean {
  return (
    user.pregnant_or_postpartum === 'postpartum_under_6mo' || user.medical_conditions_disclosed.includes('postpartum')
  );
}

/** One option of the contract, or the detail of a studio. */
export function describeStudio(
  catalogue: Catalogue,
  studio: Studio,
  slots: JsonObject[],
  asked: Asked,
  nowMs: number,
): JsonObject {
  const { utc_offset_minutes: offset, gst_percent, terms, website, source } = catalogue.business;
  const pass = passFor(studio, asked.session_kind);
  if (pass === undefined) throw new Error(`no pass for ${asked.session_kind}`);
  const { netInr, gstInr } = splitTax(pass.inr, gst_percent);
  const distanceKm = distance(placeOf(catalogue, asked), studio.address);
  return {
    yoga_studio: describePlace(studio, distanceKm, nowMs, offset),
    yoga_class_catalog: studio.classes.map((one) => describeClass(one, offset)),
    available_slots: slots,
    instructors: studio.instructors.map((one) => ({ ...one, private_session_inr: studio.passes.private.inr })),
    session_pass: {
      pass_kind: pass.kind,
      pass_inr: pass.inr,
      pass_includes: pass.includes,
      props_included: pass.includes.includes('props_use'),
      shower_included: pass.includes.includes('shower_access'),
      validity_days: pass.validity_days,
    },
    fare: { base_inr: netInr, gst_inr: gstInr, total_inr: pass.inr, currency: 'INR' },
    cancellation: {
      free_until_hours_before_start: terms.free_until_hours_before_start,
      fee_inr: lateFeeInr(catalogue, pass.inr),
    },
    freshness: { fetched_at_iso: localText(nowMs, offset), ttl_seconds: FRESH_SECONDS },
    provider: { provider_id: source, deeplink: `${website}/studios/${studio.identity.id}` },
  };
}

/** A slot as the contract has it. */
export function describeSlot(slot: Slot, spotsLeft: number, expiresMs: number, offsetMinutes: number): JsonObject {
  return {
    slot_id: slot.slotId,
    class_id: slot.yogaClass.class_id,
    instructor_id_assigned: slot.instructor.instructor_id,
    start_iso: localText(slot.startMs, offsetMinutes),
    end_iso: localText(slot.endMs, offsetMinutes),
    spots_left: spotsLeft,
    bookable_until_iso: localText(expiresMs, offsetMinutes),
  };
}

/** What is kept of a price when a booking is cancelled late, in whole INR. */
export function lateFeeInr(catalogue: Catalogue, priceInr: number): number {
  return Math.round((priceInr * catalogue.business.terms.late_fee_percent) / 100);
}

/** Where the user is, or the middle of the city. */
function placeOf(catalogue: Catalogue, { search_area: { lat, lng } }: Asked): Place {
  return lat === undefined || lng === undefined ? catalogue.business.centre : { lat, lng };
}

/** The pass that a studio sells for a kind of session, if it does. */
function passFor(studio: Studio, session: string): (Pass & { kind: string }) | undefined {
  const sold = PASSES[session];
  const pass = sold && studio.passes[sold.name];
  return sold && pass && { ...pass, kind: sold.kind };
}

function studioSuits(request: SearchRequest, studio: Studio, distanceKm: number): boolean {
  const { search_area: area, preferences: wishes } = request;
  const { amenities } = studio;
  const pass = passFor(studio, request.session_kind);
  return (
    pass !== undefined &&
    (area.city === undefined || area.city.trim().toLowerCase() === studio.address.city.toLowerCase()) &&
    (area.max_radius_km === undefined || distanceKm <= area.max_radius_km) &&
    wishes.studio_kind_acceptable.includes(studio.identity.studio_kind) &&
    (!wishes.shower_required || amenities.showers_count > 0) &&
    (!wishes.locker_required || amenities.lockers_count > 0) &&
    (!wishes.ac_or_fan_required || amenities.air_conditioning || amenities.fan_only) &&
    (!wishes.parking_required || amenities.parking_available) &&
    pass.inr <= (wishes.budget_max_inr_total ?? Infinity)
  );
}

function classFitsWishes(request: SearchRequest, yogaClass: YogaClass): boolean {
  const { yoga_intent: wanted, duration_minutes: minutes, user_yoga_profile: user } = request;
  // Who needs a special class is offered it, whether or not its kind was thought of.
  const kindFits =
    wanted.class_kind_acceptable.includes(yogaClass.class_kind) ||
    (yogaClass.class_kind === 'prenatal_class' && needsPrenatal(user)) ||
    (yogaClass.class_kind === 'postpartum_class' && needsPostpartum(user));
  return (
    kindFits &&
    (wanted.yoga_styles_acceptable.includes(yogaClass.yoga_style) ||
      wanted.yoga_style_preferred === yogaClass.yoga_style) &&
    wanted.temperature_kind_acceptable.includes(yogaClass.temperature_kind) &&
    yogaClass.class_size_max <= wanted.max_class_size &&
    wanted.props_required.every((prop) => yogaClass.props_provided.includes(prop)) &&
    (minutes === undefined || Math.abs(yogaClass.duration_minutes - minutes) <= DURATION_SLACK_MINUTES) &&
    (!request.preferences.single_gender_class_required || yogaClass.only_for !== undefined)
  );
}

function instructorFits(request: SearchRequest, instructor: Instructor): boolean {
  const wishes = request.preferences;
  const held = [...instructor.certifications, ...instructor.certifying_authorities];
  const certified = held.some((one) => wishes.instructor_certification_authority_acceptable.includes(one));
  return (
    instructor.ratings.rating_avg >= request.yoga_intent.min_instructor_skill &&
    instructor.experience_years >= (wishes.instructor_min_experience_years ?? 0) &&
    (certified || !wishes.instructor_certifications_required)
  );
}

function describePlace(studio: Studio, distanceKm: number, nowMs: number, offset: number): JsonObject {
  const { isOpen, opensMs, closesMs } = openingTimes(studio.hours, nowMs, offset);
  const ageDays = Math.floor((nowMs - Date.parse(studio.account_since)) / DAY_MS);
  return {
    identity: { ...studio.identity, partner_account_age_days: ageDays },
    address: studio.address,
    distance_from_user_km: distanceKm,
    ratings: studio.ratings,
    operating_hours: {
      is_open_now: isOpen,
      next_open_iso: localText(opensMs, offset),
      next_close_iso: localText(closesMs, offset),
      is_24x7: false,
      hours_of_operation: studio.hours.map((day) => ({ ...day })),
    },
    amenities: studio.amenities,
    trust: studio.trust,
    photos: studio.photos,
  };
}

function describeClass({ only_for: _, timetable, ...shown }: YogaClass, offset: number): JsonObject {
  // Of any instant, for the text of the offset alone.
  const zone = localText(0, offset).slice(19);
  const schedule = timetable.flatMap(({ days, start }) =>
    days.map((day) => ({ day_of_week: day, start_iso_time: `${start}:00${zone}` })),
  );
  return { ...shown, recurring_schedule: schedule };
}

/** Along the great circle, in km, to a tenth. */
function distance(from: Place, to: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (a: number, b: number) => Math.sin((radians(b) - radians(a)) / 2) ** 2;
  const chord =
    half(from.lat, to.lat) + Math.cos(radians(from.lat)) * Math.cos(radians(to.lat)) * half(from.lng, to.lng);
  return Math.round(2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(chord))) * 10) / 10;
}
