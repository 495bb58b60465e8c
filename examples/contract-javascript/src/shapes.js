/**
 * Every document of the intent: the request, one option, the booking's arguments and answer, the completion report.
 * Response fields and report fields are all required (spec 1); request fields only where nothing works without them.
 */

import {
  amount, array, boolean, constant, date, dateTime, httpsUrl, integer, integerOutOf, localeTag, name, nullable, number,
  object, oneOf, optional, phone, pincode, text, textOfLength,
} from "./kit/shape.js";
import { VOCABULARIES } from "./vocabularies.js";

export const INTENT = "auto.book_pollution_check";
/** Completion statuses; commission is due on the first only (spec 1, "Commission"). */
export const STATUSES = ["completed", "cancelled"];
/** Most that any amount of a report may be, INR; the gateway refuses more. */
export const AMOUNT_MAX_INR = 100_000;

/** Greatest distance of a centre in km. */
export const MAX_DISTANCE_KM = 30;
/** Least and greatest duration of a test in minutes. */
export const DURATION_MINUTES = { min: 5, max: 120 };
/** Characters of an option that are read; a full one has about 1,300. */
export const MAX_OPTION_CHARS = 4_096;
/** Months for which a certificate may be valid. */
const VALIDITY_MONTHS = [6, 12];

const VEHICLE = object(
  {
    type: oneOf(VOCABULARIES.vehicle_type, "Kind of vehicle."),
    fuel_type: oneOf(VOCABULARIES.fuel_type, "What it runs on; decides which test it takes."),
    emission_norm: optional(
      oneOf(VOCABULARIES.emission_norm, "Bharat Stage of the vehicle; decides how long a certificate may be valid."),
    ),
    registration_number_last4: optional(
      textOfLength(4, "The last four characters of the registration number, and no more."),
    ),
  },
  "The vehicle.",
);

const bandText = () => optional(text({ maxLength: 40 }));

/** Arguments of `search_puc_centres`. */
export const REQUEST = object({
  intent: constant(INTENT, "Always auto.book_pollution_check."),
  request_id: optional(name("Identifier of the request; the platform fills it in.")),
  user_locale: optional(localeTag("The user's locale.")),
  user_currency: optional(constant("INR", "Currency of all amounts.")),
  user_location: object({
    city: name("City."),
    pincode: optional(pincode("Postal code.")),
    lat: optional(number({ min: -90, max: 90, doc: "Latitude in degrees." })),
    lng: optional(number({ min: -180, max: 180, doc: "Longitude in degrees." })),
    max_radius_km: optional(number({ min: 0, max: 100, doc: "Greatest distance of a centre in km." })),
  }, "Where the user is, and how far to go."),
  vehicle: VEHICLE,
  service_preferences: object({
    doorstep_acceptable: boolean("Whether a mobile unit may come to the user."),
    preferred_window: optional(object({
      start: dateTime("Earliest start."),
      end: dateTime("Latest start."),
    }, "When the test should start.")),
  }, "How the user wants to be served."),
  ttbs_user_band: optional(object({ time: bandText(), taste: bandText(), budget: bandText(), safety: bandText() },
    "What the user cares for, per axis.")),
  session_context: optional(object({
    platform_session_id: optional(text({ maxLength: 200 })),
    user_dna_hash: optional(text({ maxLength: 200 })),
  }, "The platform's session.")),
});

const inr = (doc) => integer({ min: 0, doc });

/** One option of a search. */
export const PUC_CENTRE = object({
  centre_id: name("The partner's identifier of the offer."),
  provider: object({
    provider_id: name("The partner's identifier of the provider."),
    name: name("Name shown to the user."),
    address: name("Postal address."),
    provider_type: oneOf(VOCABULARIES.provider_type, "Kind of provider."),
    location: object({ lat: number(), lng: number() }, "Where the provider is."),
    distance_from_user_km: number({ min: 0, max: MAX_DISTANCE_KM, doc: "Distance from the user in km." }),
    state_authorised: boolean("Authorised by the state's transport department."),
    authorisation_number: name("Number of the authorisation."),
  }),
  slot_window: object({
    start: dateTime("Start of the slot."),
    end: dateTime("End of the slot."),
    typical_duration_minutes: integer({ ...DURATION_MINUTES, doc: "How long a test usually takes, in minutes." }),
  }),
  test: object({
    fuel_types: array(oneOf(VOCABULARIES.fuel_type), {
      minItems: 1,
      maxItems: VOCABULARIES.fuel_type.length,
      doc: "Fuels that the centre can test.",
    }),
    equipment_calibrated_on: date("When the equipment was last calibrated."),
    uploads_to_vahan: boolean("Whether the result is entered in the national vehicle register on the spot."),
  }),
  certificate: object({
    validity_months: integerOutOf(VALIDITY_MONTHS, "How long the certificate is valid, in months."),
    issued_same_visit: boolean("Whether the certificate is handed out with the test."),
  }),
  price: object({
    test_fee_inr: inr("Fee of the test in INR."),
    convenience_fee_inr: inr("What the provider adds, for example for coming to the user, in INR."),
    gst_inr: inr("Tax in INR."),
    total_inr: inr("What the user pays in all, in INR."),
  }),
  logistics: object({ doorstep_supported: boolean("Whether the test can be done at the user's door.") }),
  ratings: object({
    avg_rating: number({ min: 0, max: 5, doc: "Mean rating." }),
    review_count: integer({ min: 0, doc: "Number of reviews." }),
  }),
  partner_reference: object({ source: name("The partner's system."), deeplink: httpsUrl("Link to the offer.") }),
});

/** Arguments of `book_puc_check`. */
export const BOOK_ARGUMENTS = object({
  request_id: name("Identifier of the request; the same one gives the same booking."),
  centre_id: name("The offer to book."),
  vehicle: VEHICLE,
  contact_phone: phone("Where the provider reaches the user."),
  doorstep_address: optional(name("Where to come to, for a test at the door.")),
});

/** Answer of `book_puc_check`. */
export const PUC_BOOKING = object({
  booking_id: name("The partner's identifier of the booking; it never changes."),
  centre_id: name("The offer that was booked."),
  scheduled_start: dateTime("When the test starts."),
  total_inr: inr("What the user pays in all, in INR."),
  payment_due_at: oneOf(VOCABULARIES.payment_due_at, "When the user pays."),
  doorstep_arranged: boolean("Whether the test is done at the user's door."),
  partner_booking_reference: name("The partner's own reference."),
});

/** The completion report: the members that every intent has (spec 1), then those of this one. */
export const REPORT = object({
  intent: constant(INTENT),
  external_id: name("The partner's booking identifier."),
  request_id: name("The request that the booking came from."),
  amount_inr: amount("NET supplier revenue in INR: the base of the commission."),
  gst_inr: amount("Tax in INR; no commission is due on it."),
  tips_inr: amount("Tips in INR; no commission is due on them."),
  pass_through_inr: amount("Fees that the partner passes on, for example the state's share, in INR."),
  closed_at: dateTime("When the order closed."),
  status: oneOf(STATUSES, "How the order ended."),
  test_result: nullable(oneOf(VOCABULARIES.test_result, "What the test showed; null where none was made.")),
  certificate_number: nullable(name("Number of the certificate; null where none was issued.")),
});
