// The completion report of a booking: the body that is posted to the platform when the order has closed. Pure; who
// signs and posts it is examples/signing.

import { passOf, splitTax, type Catalogue, type JsonObject } from './catalogue.ts';
import { MINUTE_MS, localText } from './timetable.ts';

/** In these a class took place for the user. */
const TOOK_PLACE = ['completed', 'partial_completion_user_left_early', 'medical_event_class_halted'];

/** How an order can end. */
export const STATUSES = [...TOOK_PLACE, 'cancelled_by_user', 'cancelled_by_studio', 'no_show', 'failed'];

/** What the studio knows of an order that has closed. */
export interface Closed {
  bookingRef: string;
  /** The request_id of the search in which the class was offered, not that of the booking. */
  requestId: string;
  studioId: string;
  classId: string;
  instructorId: string;
  status: string;
  /** When the class began, or was to begin. */
  startedMs: number;
  /** When it ended for the user; without it, by the class's duration. */
  endedMs?: number;
  /** When the order closed; without it, when the class ended. */
  closedMs?: number;
  /** What the user has paid in the end, tax included; without it the price, or nothing if there was no class. */
  chargedInr?: number;
  tipInr: number;
  lateMinutes: number;
  propsUsed: string[];
  notes: string;
}

/** The body of the report. */
export function completionReport(catalogue: Catalogue, closed: Closed): JsonObject {
  const { gst_percent, utc_offset_minutes: offset } = catalogue.business;
  const studio = catalogue.studios.find((one) => one.identity.id === closed.studioId);
  if (studio === undefined) throw new Error(`no studio ${closed.studioId}`);
  const yogaClass = studio.classes.find((one) => one.class_id === closed.classId);
  if (yogaClass === undefined) throw new Error(`${closed.studioId} has no class ${closed.classId}`);
  if (!studio.instructors.some((one) => one.instructor_id === closed.instructorId)) {
    throw new Error(`${closed.studioId} has no instructor ${closed.instructorId}`);
  }
  if (!STATUSES.includes(closed.status)) throw new Error(`no status ${closed.status}; one of ${STATUSES.join(', ')}`);
  const unknown = closed.propsUsed.find((prop) => !yogaClass.props_provided.includes(prop));
  if (unknown !== undefined) throw new Error(`${closed.classId} has no prop ${unknown}`);
  const tookPlace = TOOK_PLACE.includes(closed.status);
  const usualMinutes = tookPlace ? yogaClass.duration_minutes : 0;
  const endedMs = closed.endedMs ?? closed.startedMs + usualMinutes * MINUTE_MS;
  if (endedMs < closed.startedMs || (tookPlace && endedMs === closed.startedMs)) {
    throw new Error('a class ends after it starts');
  }
  const chargedInr = closed.chargedInr ?? (tookPlace ? passOf(studio, yogaClass).inr : 0);
  const { netInr, gstInr } = splitTax(chargedInr, gst_percent);
  return {
    intent: 'lifestyle.book_yoga_class',
    intent_version: '1.0.0',
    external_id: closed.bookingRef,
    appointment_ref: closed.bookingRef,
    request_id: closed.requestId,
    status: closed.status,
    closed_at: localText(closed.closedMs ?? endedMs, offset),
    yoga_studio_id: closed.studioId,
    class_id: closed.classId,
    instructor_id: closed.instructorId,
    started_at: localText(closed.startedMs, offset),
    ended_at: localText(endedMs, offset),
    duration_actual_minutes: Math.round((endedMs - closed.startedMs) / MINUTE_MS),
    user_arrived_late_minutes: closed.lateMinutes,
    props_used: closed.propsUsed,
    currency: 'INR',
    amount_inr: netInr,
    gst_inr: gstInr,
    tips_inr: closed.tipInr,
    pass_through_inr: 0,
    fare_breakdown_total_inr: chargedInr,
    rider_tip_inr: closed.tipInr,
    ratings_pending: tookPlace,
    notes: closed.notes,
  };
}
