// The desk of the studios: what was shown, what is booked, by whom. In memory; a restart forgets.
//
// No HTTP and no MCP here: arguments in, payload or Refusal out. No call waits in the middle, so
// none can come between the steps of another.

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import {
  checkArguments,
  descriptors,
  passName,
  passOf,
  type Catalogue,
  type Descriptor,
  type JsonObject,
  type Studio,
} from './catalogue.ts';
import {
  ANY_SEARCH,
  classFitsUser,
  describeSlot,
  describeStudio,
  findStudios,
  lateFeeInr,
  needsPrenatal,
  openSlots,
  type Asked,
  type SearchRequest,
} from './classes.ts';
import { Refusal } from './refusal.ts';
import { HOUR_MS, MINUTE_MS, localText, type Slot } from './timetable.ts';

/** Searches and shown slots that are remembered; the oldest are forgotten first. */
const MAX_SEARCHES = 10_000;
const MAX_OFFERS = 10_000;
/** Bookings that are kept, cancelled ones included. Each holds the body that made it. */
const MAX_BOOKINGS = 2_000;

interface DetailRequest {
  request_id: string;
  yoga_studio_id: string;
}

interface SlotsRequest extends DetailRequest {
  class_id?: string;
  instructor_id?: string;
}

interface BookRequest extends DetailRequest {
  class_id: string;
  instructor_id: string;
  scheduled_for_iso?: string;
}

interface CancelRequest {
  booking_ref: string;
}

interface ModifyRequest {
  booking_ref: string;
  class_id?: string;
  instructor_id?: string;
  scheduled_for_iso?: string;
}

/** What a slot must be to be the one that is meant. What is absent may be any. */
interface Wanted {
  studioId: string;
  classId: string;
  instructorId: string | undefined;
  startMs: number | undefined;
}

interface Booking {
  ref: string;
  /** The whole arguments, to tell a repeat from a reuse. */
  args: unknown;
  slot: Slot;
  /** Who booked, where the search is known. */
  asked: Asked | undefined;
  cancellation?: JsonObject;
}

/** The desk of one business. */
export class Desk {
  readonly catalogue: Catalogue;
  readonly #searches = new Map<string, Asked>();
  readonly #offers = new Map<string, { slot: Slot; expiresMs: number }>();
  readonly #taken = new Map<string, number>();
  readonly #byRequest = new Map<string, Booking>();
  readonly #byRef = new Map<string, Booking>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  get name(): string {
    return this.catalogue.business.name;
  }

  get tools(): Descriptor[] {
    return descriptors(this.catalogue.platform);
  }

  /** Answers one tool call at the time `nowMs`. */
  answer(tool: string, args: unknown, nowMs: number): JsonObject {
    checkArguments(tool, args);
    checkTime(args as { scheduled_for_iso?: string });
    switch (tool) {
      case 'search_providers':
        return this.#search(args as SearchRequest, nowMs);
      case 'get_provider_detail':
        return this.#detail(args as DetailRequest, nowMs);
      case 'get_available_slots':
        return this.#slots(args as SlotsRequest, nowMs);
      case 'book_slot':
        return this.#book(args as BookRequest, nowMs);
      case 'cancel_booking':
        return this.#cancel(args as CancelRequest, nowMs);
      case 'modify_booking':
        return this.#modify(args as ModifyRequest, nowMs);
      default:
        throw new Refusal('INVALID_REQUEST', 'this partner has no such tool', 'name');
    }
  }

  #search(request: SearchRequest, nowMs: number): JsonObject {
    const { request_id, search_area, scheduled_for_iso, session_kind, user_yoga_profile } = request;
    if (request_id !== undefined) {
      const { gender, yoga_experience_level, medical_conditions_disclosed, pregnant_or_postpartum } = user_yoga_profile;
      // No more of the user is kept than the desk looks at again.
      const profile = { gender, yoga_experience_level, medical_conditions_disclosed, pregnant_or_postpartum };
      const asked = { search_area, scheduled_for_iso, session_kind, user_yoga_profile: profile };
      remember(this.#searches, request_id, asked, MAX_SEARCHES);
    }
    const found = findStudios(this.catalogue, request, nowMs, this.#placesLeft);
    return {
      result_token: `rt_${randomUUID()}`,
      expires_at: this.#local(this.#expiresMs(nowMs)),
      options: found.map(({ studio, slots }) =>
        describeStudio(this.catalogue, studio, this.#show(slots, nowMs), request, nowMs),
      ),
    };
  }

  #detail(request: DetailRequest, nowMs: number): JsonObject {
    const studio = this.#studio(request.yoga_studio_id);
    const asked = this.#searches.get(request.request_id) ?? ANY_SEARCH;
    const slots = openSlots(this.catalogue, studio, asked, nowMs, this.#placesLeft);
    // The contract asks for at least one slot, so a studio that is booked up has no detail.
    if (slots.length === 0) throw new Refusal('INVALID_REQUEST', 'this studio has no place left', 'yoga_studio_id');
    return describeStudio(this.catalogue, studio, this.#show(slots, nowMs), asked, nowMs);
  }

  #slots(request: SlotsRequest, nowMs: number): JsonObject {
    const studio = this.#studio(request.yoga_studio_id);
    const asked = this.#searches.get(request.request_id) ?? ANY_SEARCH;
    const slots = openSlots(this.catalogue, studio, asked, nowMs, this.#placesLeft).filter(
      ({ yogaClass, instructor }) =>
        yogaClass.class_id === (request.class_id ?? yogaClass.class_id) &&
        instructor.instructor_id === (request.instructor_id ?? instructor.instructor_id),
    );
    return { slots: this.#show(slots, nowMs) };
  }

  #book(request: BookRequest, nowMs: number): JsonObject {
    const earlier = this.#byRequest.get(request.request_id);
    if (earlier !== undefined) {
      if (isDeepStrictEqual(earlier.args, request)) return this.#describe(earlier);
      throw new Refusal('IDEMPOTENCY_CONFLICT', 'this request_id was used for another booking', 'request_id');
    }
    const slot = this.#offered(
      {
        studioId: request.yoga_studio_id,
        classId: request.class_id,
        instructorId: request.instructor_id,
        startMs: instant(request.scheduled_for_iso),
      },
      nowMs,
      nowMs,
    );
    const asked = this.#searches.get(request.request_id);
    checkUser(asked, slot);
    if (this.#byRequest.size >= MAX_BOOKINGS) {
      throw new Refusal('INTERNAL_ERROR', 'the booking desk is full');
    }
    const booking: Booking = { ref: `bk_${randomUUID()}`, args: structuredClone(request), slot, asked };
    this.#take(slot, 1);
    this.#byRequest.set(request.request_id, booking);
    this.#byRef.set(booking.ref, booking);
    return this.#describe(booking);
  }

  /** A second cancellation of one booking gets the first one's answer. */
  #cancel(request: CancelRequest, nowMs: number): JsonObject {
    const booking = this.#booking(request.booking_ref);
    if (booking.cancellation === undefined) {
      const { slot } = booking;
      if (slot.startMs <= nowMs) throw new Refusal('INVALID_REQUEST', 'the class has begun', 'booking_ref');
      const priceInr = passOf(slot.studio, slot.yogaClass).inr;
      const feeInr = nowMs <= this.#freeUntilMs(slot) ? 0 : lateFeeInr(this.catalogue, priceInr);
      booking.cancellation = {
        booking_ref: booking.ref,
        status: 'cancelled',
        cancelled_at_iso: this.#local(nowMs),
        cancellation_fee_inr: feeInr,
        refund_amount_inr: priceInr - feeInr,
        refund_eta_days: this.catalogue.business.terms.refund_eta_days,
      };
      this.#take(slot, -1);
    }
    return booking.cancellation;
  }

  /**
   * Moves a booking within its studio and price, for as long as it could be cancelled for free. The class
   * stays unless another is named, and with the class its instructor; of several slots that fit, the one
   * nearest to the present one is taken. A booking that already is what is asked for stays where it is, so
   * that a repeated call moves nothing further.
   */
  #modify(request: ModifyRequest, nowMs: number): JsonObject {
    const booking = this.#booking(request.booking_ref);
    const { slot: from } = booking;
    if (booking.cancellation !== undefined) {
      throw new Refusal('INVALID_REQUEST', 'this booking was cancelled', 'booking_ref');
    }
    const { class_id: classId = from.yogaClass.class_id, instructor_id, scheduled_for_iso } = request;
    if (request.class_id === undefined && instructor_id === undefined && scheduled_for_iso === undefined) {
      throw new Refusal('INVALID_REQUEST', 'name another class, instructor or time', 'scheduled_for_iso');
    }
    const keepsClass = classId === from.yogaClass.class_id;
    const wanted: Wanted = {
      studioId: from.studio.identity.id,
      classId,
      instructorId: instructor_id ?? (keepsClass ? from.instructor.instructor_id : undefined),
      startMs: instant(scheduled_for_iso),
    };
    if (isWanted(from, wanted)) return this.#describe(booking);
    if (nowMs > this.#freeUntilMs(from)) {
      throw new Refusal('INVALID_REQUEST', 'it is too late to move this booking', 'booking_ref');
    }
    const to = this.#offered(wanted, from.startMs, nowMs);
    if (passName(to.yogaClass) !== passName(from.yogaClass)) {
      throw new Refusal('INVALID_REQUEST', 'that class has another price; cancel and book it', 'class_id');
    }
    checkUser(booking.asked, to);
    this.#take(from, -1);
    this.#take(to, 1);
    booking.slot = to;
    return this.#describe(booking);
  }

  /** BookingRef of the contract, and how the booking stands now. */
  #describe({ ref, slot, cancellation }: Booking): JsonObject {
    return {
      booking_ref: ref,
      status: cancellation === undefined ? 'confirmed' : 'cancelled',
      yoga_studio_id: slot.studio.identity.id,
      class_id: slot.yogaClass.class_id,
      instructor_id: slot.instructor.instructor_id,
      start_iso: this.#local(slot.startMs),
      end_iso: this.#local(slot.endMs),
      total_inr: passOf(slot.studio, slot.yogaClass).inr,
      free_cancellation_until_iso: this.#local(this.#freeUntilMs(slot)),
    };
  }

  /** Describes slots, and keeps them bookable for as long as the answer says. */
  #show(slots: Slot[], nowMs: number): JsonObject[] {
    const expiresMs = this.#expiresMs(nowMs);
    const offset = this.catalogue.business.utc_offset_minutes;
    for (const slot of slots) remember(this.#offers, slot.slotId, { slot, expiresMs }, MAX_OFFERS);
    return slots.map((slot) => describeSlot(slot, this.#placesLeft(slot), expiresMs, offset));
  }

  /** The slot nearest to `nearMs` that is meant, was shown, and still has a place. */
  #offered(wanted: Wanted, nearMs: number, nowMs: number): Slot {
    const shown = [...this.#offers.values()]
      .filter(({ slot, expiresMs }) => expiresMs > nowMs && isWanted(slot, wanted))
      .map(({ slot }) => slot);
    if (shown.length === 0) throw new Refusal('INVALID_REQUEST', 'that slot is not on offer', 'scheduled_for_iso');
    const away = ({ startMs }: Slot) => Math.abs(startMs - nearMs);
    const [slot] = shown.filter((one) => this.#placesLeft(one) > 0).sort((a, b) => away(a) - away(b));
    if (slot === undefined) throw new Refusal('INVALID_REQUEST', 'that slot is full', 'scheduled_for_iso');
    return slot;
  }

  #studio(id: string): Studio {
    const studio = this.catalogue.studios.find((one) => one.identity.id === id);
    if (studio === undefined) throw new Refusal('INVALID_REQUEST', 'no such studio', 'yoga_studio_id');
    return studio;
  }

  #booking(ref: string): Booking {
    const booking = this.#byRef.get(ref);
    if (booking === undefined) throw new Refusal('INVALID_REQUEST', 'no such booking', 'booking_ref');
    return booking;
  }

  readonly #placesLeft = (slot: Slot): number => slot.places - (this.#taken.get(slot.slotId) ?? 0);

  #take(slot: Slot, places: number): void {
    this.#taken.set(slot.slotId, (this.#taken.get(slot.slotId) ?? 0) + places);
  }

  #freeUntilMs(slot: Slot): number {
    return slot.startMs - this.catalogue.business.terms.free_until_hours_before_start * HOUR_MS;
  }

  #expiresMs(nowMs: number): number {
    return nowMs + this.catalogue.business.quote_valid_minutes * MINUTE_MS;
  }

  #local(ms: number): string {
    return localText(ms, this.catalogue.business.utc_offset_minutes);
  }
}

/** The schema's pattern lets texts through that are no time. */
function checkTime({ scheduled_for_iso: time }: { scheduled_for_iso?: string }): void {
  if (time !== undefined && Number.isNaN(Date.parse(time))) {
    throw new Refusal('INVALID_REQUEST', 'no such time', 'scheduled_for_iso');
  }
}

/** Refuses a class that is not right for the user: the slot may have been shown to somebody else. */
function checkUser(asked: Asked | undefined, { yogaClass }: Slot): void {
  const user = asked?.user_yoga_profile;
  if (user === undefined || classFitsUser(user, yogaClass)) return;
  if (needsPrenatal(user) && yogaClass.class_kind !== 'prenatal_class') {
    throw new Refusal('PRENATAL_CLASS_REQUIRED', 'this is no prenatal class', 'class_id');
  }
  throw new Refusal('INVALID_REQUEST', 'this class is not for this user', 'class_id');
}

function isWanted({ studio, yogaClass, instructor, startMs }: Slot, wanted: Wanted): boolean {
  return (
    studio.identity.id === wanted.studioId &&
    yogaClass.class_id === wanted.classId &&
    instructor.instructor_id === (wanted.instructorId ?? instructor.instructor_id) &&
    startMs === (wanted.startMs ?? startMs)
  );
}

function instant(iso: string | undefined): number | undefined {
  return iso === undefined ? undefined : Date.parse(iso);
}

/** Keeps the newest entries of a map: an entry that is set again is new again. */
export function remember<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}
