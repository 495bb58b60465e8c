/** `check-request`: the arguments of a tool, before any partner is called. */

import { BOOK_TOOL, SEARCH_TOOL } from "./descriptor.js";
import { INVALID_REQUEST, UNKNOWN_TOOL } from "./kit/codes.js";
import { instantMs } from "./kit/formats.js";
import { noteUnknownBands } from "./kit/ranking.js";
import { judge } from "./kit/shape.js";
import { Refusal, Violations, quoted } from "./kit/violations.js";
import { requestRules, vehicleRules } from "./rules.js";
import { BAND_FACTORS } from "./scoring.js";
import { BOOK_ARGUMENTS, REQUEST } from "./shapes.js";

/** The value of a document whose shape is sound, or a refusal with all violations. */
export function soundOr(refusalCode, shape, json) {
  const { value, document, violations } = judge(shape, json);
  if (violations.length > 0) throw new Refusal(refusalCode, violations);
  return { value, document };
}

export function refuseIfAny(violations) {
  if (violations.length > 0) throw new Refusal(INVALID_REQUEST, violations);
}

/** Refuses a call of a tool that the intent does not have. */
export function unknownTool(tool) {
  const violation = { pointer: "", code: UNKNOWN_TOOL, message: `The intent has no tool ${quoted(tool)}.` };
  return new Refusal(INVALID_REQUEST, [violation]);
}

/** What a booking is about changes nothing: whether the tool's turn has come, the host sees. */
export function checkRequest({ requestId }, tool, json, _about) {
  if (tool === SEARCH_TOOL) return checkSearch(requestId, json);
  if (tool === BOOK_TOOL) return checkBooking(json);
  throw unknownTool(tool);
}

function checkSearch(requestId, json) {
  const { value: request } = soundOr(INVALID_REQUEST, REQUEST, json);
  refuseIfAny(requestRules(request));
  const notes = new Violations();
  noteUnknownBands(BAND_FACTORS, request.ttbs_user_band, notes);
  const argumentsJson = Object.hasOwn(request, "request_id") ? json : withRequestId(json, requestId);
  return { arguments: argumentsJson, need: needOf(request), notes: notes.list() };
}

function checkBooking(json) {
  const { value } = soundOr(INVALID_REQUEST, BOOK_ARGUMENTS, json);
  const found = new Violations();
  vehicleRules(value.vehicle, found);
  refuseIfAny(found.list());
  return { arguments: json, need: { city: null, postalCode: null, fromMs: null, untilMs: null }, notes: [] };
}

/** Where and when, for the host's choice of partners. */
function needOf({ user_location, service_preferences }) {
  const asked = service_preferences.preferred_window;
  // The interface has no instants before 1970.
  const instant = (text) => (text === undefined ? null : Math.max(instantMs(text), 0));
  return {
    city: user_location.city,
    postalCode: user_location.pincode ?? null,
    fromMs: instant(asked?.start),
    untilMs: instant(asked?.end),
  };
}

/** Puts `request_id` in front of the members of an object that has at least one. All else stays as it came. */
function withRequestId(json, requestId) {
  const at = json.indexOf("{") + 1;
  return `${json.slice(0, at)}"request_id":${JSON.stringify(requestId)},${json.slice(at)}`;
}
