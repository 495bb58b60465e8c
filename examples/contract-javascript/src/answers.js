/** `check-response` and `check-completion`: what a partner answers to a booking, and what it reports at the end. */

import { BOOK_TOOL } from "./descriptor.js";
import { INTERNAL_ERROR, INVALID_REQUEST, QUOTE_UNREADABLE, UNEXPECTED_VALUE } from "./kit/codes.js";
import { instantMs, paiseOf } from "./kit/formats.js";
import { judge } from "./kit/shape.js";
import { Refusal, Violations, quoted as shown } from "./kit/violations.js";
import { refuseIfAny, soundOr, unknownTool } from "./requests.js";
import { BOOK_ARGUMENTS, MAX_OPTION_CHARS, PUC_BOOKING, PUC_CENTRE, REPORT, STATUSES } from "./shapes.js";

export function checkResponse(_context, { tool, arguments: argumentsJson, payload, about }) {
  if (tool !== BOOK_TOOL) throw unknownTool(tool);
  const { value: asked } = soundOr(INTERNAL_ERROR, BOOK_ARGUMENTS, argumentsJson);
  const { value: booking } = soundOr(INTERNAL_ERROR, PUC_BOOKING, payload);
  const findings = new Violations();
  const refused = bookingRules(asked, booking, quotedCentre(about.quoted, findings), findings);
  if (refused.length > 0) throw new Refusal(INTERNAL_ERROR, refused);
  return { reference: booking.booking_id, advisory: null, findings: findings.list() };
}

/** What is wrong with a booking, given what was asked for and quoted. */
function bookingRules(asked, booking, centre, findings) {
  const found = new Violations();
  const other = `Expected the offer that was asked for, ${shown(asked.centre_id)}.`;
  found.addIf(booking.centre_id !== asked.centre_id, "/centre_id", UNEXPECTED_VALUE, other);
  if (centre === null) return found.list();
  const dearer = `${booking.total_inr} INR is more than the ${centre.price.total_inr} INR that were quoted.`;
  found.addIf(booking.total_inr > centre.price.total_inr, "/total_inr", "PRICE_RAISED", dearer);
  const away = booking.doorstep_arranged && !centre.logistics.doorstep_supported;
  found.addIf(away, "/doorstep_arranged", "DOORSTEP_NOT_OFFERED", "The offer has no test at the door.");
  const moved = instantMs(booking.scheduled_start) !== instantMs(centre.slot_window.start);
  const message = `${centre.slot_window.start} was quoted, ${booking.scheduled_start} is booked.`;
  findings.addIf(moved, "/scheduled_start", "SLOT_MOVED", message);
  return found.list();
}

/**
 * The quoted option, or null. It passed when it was ranked; should it not any more, because the contract has changed
 * since, that is a finding and nothing is compared with it.
 */
function quotedCentre(json, findings) {
  if (json === null || json === undefined) return null;
  const { value, violations } = judge(PUC_CENTRE, json, MAX_OPTION_CHARS);
  if (violations.length === 0) return value;
  const message = `The quoted option could not be read, so nothing was compared with it: ${violations[0].message}`;
  findings.add("", QUOTE_UNREADABLE, message);
  return null;
}

export function checkCompletion(_context, reportJson, about) {
  const { value: report, document } = soundOr(INVALID_REQUEST, REPORT, reportJson);
  refuseIfAny(reportRules(report));
  const findings = new Violations();
  const centre = quotedCentre(about.quoted, findings);
  const { paise } = paiseOf(document.digits("/amount_inr", report.amount_inr));
  const above = centre !== null && paise > centre.price.total_inr * 100;
  const message = `The NET revenue is more than the ${centre?.price.total_inr} INR that the user was quoted.`;
  findings.addIf(above, "/amount_inr", "AMOUNT_ABOVE_QUOTE", message);
  return {
    externalId: report.external_id,
    requestId: report.request_id,
    status: report.status,
    amountPaise: paise,
    charged: report.status === STATUSES[0],
    // The report tells when the order closed, not when the test began.
    lateMinutes: null,
    findings: findings.list(),
    strikes: [],
  };
}

/** A vehicle that passed has a certificate with a number, one that failed has none; what was completed was tested. */
function reportRules({ status, test_result, certificate_number }) {
  const found = new Violations();
  const untested = status === "completed" && test_result === null;
  found.addIf(untested, "/test_result", "RESULT_MISSING", "A completed check has a result.");
  const passed = test_result === "pass";
  const unnumbered = passed && certificate_number === null;
  found.addIf(unnumbered, "/certificate_number", "CERTIFICATE_MISSING", "A vehicle that passed has a certificate.");
  const forged = !passed && certificate_number !== null;
  found.addIf(forged, "/certificate_number", "CERTIFICATE_WITHOUT_PASS", "There is no certificate without a pass.");
  return found.list();
}
