// The booking desk: what was quoted, what is sold, who booked. In memory; a restart forgets.
//
// No HTTP and no MCP here: arguments in, payload or Refusal out. No call waits in the middle, so
// none can come between the steps of another.

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { checkArguments, descriptors, type Catalogue, type Descriptor } from './catalogue.ts';
import { localText, quotes, type Quote, type SearchRequest } from './quote.ts';
import { Refusal } from './refusal.ts';

/** Quotes that are remembered; the oldest are forgotten first, and are then gone. */
const MAX_OFFERS = 10_000;
/** Bookings that are kept, cancelled ones included. Each holds the body that made it. */
const MAX_BOOKINGS = 2_000;
/** A cancellation later than this before the start costs a fee. */
const FREE_CANCELLATION_MS = 2 * 60 * 60 * 1000;
/** The fee for a late cancellation, in percent of the total. */
const LATE_FEE_PERCENT = 10;
/** Work on the compressor is done in a workshop only (spec 2, logistics). */
const WORKSHOP_SCOPES = new Set(['compressor_service', 'full_overhaul']);

interface CreateRequest {
  request_id: string;
  slot_id: string;
  doorstep_address?: string | null;
}

interface CancelRequest {
  booking_id: string;
}

/** AcServiceBooking (spec 2); every field is required. */
interface Booking {
  booking_id: string;
  slot_id: string;
  scheduled_start: string;
  estimated_completion: string;
  service_scope_confirmed: string;
  total_estimate_inr: number;
  service_advisor_name: string;
  service_advisor_phone: string;
  payment_due_at: string;
  doorstep_arranged: boolean;
  partner_booking_reference: string;
}

/** CancellationResult of the AC intent (spec 2); every field is required. */
interface Cancellation {
  booking_id: string;
  cancelled_at: string;
  cancellation_fee_inr: number;
  refund_amount_inr: number;
  refund_eta_days: number;
}

interface Booked {
  /** The whole arguments, to tell a repeat from a reuse. */
  args: unknown;
  booking: Booking;
  quote: Quote;
  cancellation?: Cancellation;
}

/** The desk of one business. */
export class Desk {
  readonly catalogue: Catalogue;
  readonly #offers = new Map<string, { quote: Quote; expiresMs: number }>();
  readonly #sold = new Map<string, number>();
  readonly #byRequest = new Map<string, Booked>();
  readonly #byBooking = new Map<string, Booked>();

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
  answer(tool: string, args: unknown, nowMs: number): unknown {
    checkArguments(tool, args);
    switch (tool) {
      case 'search_ac_service_slots':
        return this.#search(args as SearchRequest, nowMs);
      case 'create_ac_service_booking':
        return this.#create(args as CreateRequest, nowMs);
      case 'cancel_ac_service_booking':
        return this.#cancel(args as CancelRequest, nowMs);
      default:
        throw new Refusal('INVALID_REQUEST', 'this partner has no such tool', 'name');
    }
  }

  #search(request: SearchRequest, nowMs: number) {
    const free = (stockKey: string, stock: number) => this.#soldOf(stockKey) < stock;
    const found = quotes(this.catalogue, request, nowMs, free);
    const expiresMs = nowMs + this.catalogue.business.quote_valid_minutes * 60_000;
    for (const quote of found) this.#offers.set(quote.slotId, { quote, expiresMs });
    for (const oldest of this.#offers.keys()) {
      if (this.#offers.size <= MAX_OFFERS) break;
      this.#offers.delete(oldest);
    }
    return {
      result_token: `rt_${randomUUID()}`,
      expires_at: this.#local(expiresMs),
      slots: found.map((quote) => quote.payload),
    };
  }

  #create(request: CreateRequest, nowMs: number): Booking {
    const earlier = this.#byRequest.get(request.request_id);
    if (earlier !== undefined) {
      if (isDeepStrictEqual(earlier.args, request)) return earlier.booking;
      throw new Refusal('IDEMPOTENCY_VIOLATION', 'this request_id was used for another booking');
    }
    const offer = this.#offers.get(request.slot_id);
    if (
      offer === undefined ||
      offer.expiresMs <= nowMs ||
      this.#soldOf(offer.quote.stockKey) >= offer.quote.stock
    ) {
      throw new Refusal('SLOT_GONE', 'that slot is not on offer any more');
    }
    const { quote } = offer;
    const doorstep = request.doorstep_address !== undefined && request.doorstep_address !== null;
    if (doorstep && WORKSHOP_SCOPES.has(quote.scope)) {
      throw new Refusal('COMPRESSOR_WORK_REQUIRES_WORKSHOP', 'compressor work is done in the workshop only');
    }
    if (doorstep && !quote.doorstepSupported) {
      throw new Refusal('DOORSTEP_UNAVAILABLE_AT_LOCATION', 'nobody comes out for this slot');
    }
    if (this.#byRequest.size >= MAX_BOOKINGS) {
      throw new Refusal('INTERNAL_ERROR', 'the booking desk is full');
    }
    const booking = this.#booking(quote, doorstep);
    const booked: Booked = { args: structuredClone(request), booking, quote };
    this.#sold.set(quote.stockKey, this.#soldOf(quote.stockKey) + 1);
    this.#byRequest.set(request.request_id, booked);
    this.#byBooking.set(booking.booking_id, booked);
    return booking;
  }

  #booking(quote: Quote, doorstep: boolean): Booking {
    const { source, advisor, payment_due_at } = this.catalogue.business;
    const number = String(this.#byRequest.size + 1).padStart(5, '0');
    return {
      booking_id: `bk_${randomUUID()}`,
      slot_id: quote.slotId,
      scheduled_start: this.#local(quote.startMs),
      estimated_completion: this.#local(quote.endMs),
      service_scope_confirmed: quote.scope,
      total_estimate_inr: quote.totalInr,
      service_advisor_name: advisor.name,
      service_advisor_phone: advisor.phone,
      payment_due_at,
      doorstep_arranged: doorstep,
      partner_booking_reference: `${source.toUpperCase()}-${number}`,
    };
  }

  /**
   * A second cancellation of one booking gets the first one's answer. The desk does not track intake;
   * a business that does refuses once the car is in.
   */
  #cancel(request: CancelRequest, nowMs: number): Cancellation {
    const booked = this.#byBooking.get(request.booking_id);
    if (booked === undefined) throw new Refusal('INVALID_REQUEST', 'no such booking', 'booking_id');
    if (booked.cancellation === undefined) {
      const late = booked.quote.startMs - nowMs < FREE_CANCELLATION_MS;
      const feeInr = Math.floor((booked.booking.total_estimate_inr * LATE_FEE_PERCENT + 50) / 100);
      booked.cancellation = {
        booking_id: request.booking_id,
        cancelled_at: this.#local(nowMs),
        cancellation_fee_inr: late ? feeInr : 0,
        // Nothing is paid before intake, so there is nothing to pay back.
        refund_amount_inr: 0,
        refund_eta_days: 0,
      };
      this.#sold.set(booked.quote.stockKey, this.#soldOf(booked.quote.stockKey) - 1);
    }
    return booked.cancellation;
  }

  #soldOf(stockKey: string): number {
    return this.#sold.get(stockKey) ?? 0;
  }

  #local(ms: number): string {
    return localText(ms, this.catalogue.business.utc_offset_minutes);
  }
}
