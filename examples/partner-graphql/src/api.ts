// The API: its schema, and resolvers over the business's desk. It knows nothing of the platform.
//
// The business itself (catalogue, quotes, desk) is the one of the TypeScript example partner; only its surface
// differs.

import { timingSafeEqual } from 'node:crypto';

import { GraphQLError } from 'graphql';
import { createSchema, createYoga } from 'graphql-yoga';

import type { Desk } from '../../partner-typescript/src/desk.ts';
import { Refusal, type PlatformCode } from '../../partner-typescript/src/refusal.ts';

/** The API's own names for what the desk refuses. */
const PROBLEMS: Partial<Record<PlatformCode, string>> = {
  SLOT_GONE: 'OFFER_TAKEN',
  IDEMPOTENCY_VIOLATION: 'KEY_REUSED',
  VEHICLE_AC_INCOMPATIBLE: 'CAR_NOT_SERVED',
  REFRIGERANT_UNAVAILABLE: 'GAS_NOT_IN_STOCK',
  COMPRESSOR_WORK_REQUIRES_WORKSHOP: 'WORKSHOP_ONLY',
  DOORSTEP_UNAVAILABLE_AT_LOCATION: 'NO_HOME_VISIT',
  INVALID_REQUEST: 'NOT_UNDERSTOOD',
};

const TYPE_DEFS = /* GraphQL */ `
  enum Fuel { PETROL DIESEL CNG ELECTRIC HYBRID }
  enum Controls { MANUAL AUTOMATIC CLIMATE_CONTROL DUAL_ZONE }
  enum Symptom { NOT_COOLING INTERMITTENT NO_AIR SMELL NOISE PRE_SUMMER_CHECK LEAK_SUSPECTED ELECTRICAL_FAULT }
  enum WorkshopKind { OEM_AUTHORISED MULTI_BRAND_GARAGE AC_SPECIALIST DOORSTEP_MOBILE }
  enum Gas { R134A R1234YF MIXED }

  input CarInput { controls: Controls! fuel: Fuel year: Int }
  input PlaceInput { latitude: Float! longitude: Float! withinKm: Float }
  input TimeInput { from: String! until: String! }
  input SearchInput {
    car: CarInput!
    symptom: Symptom!
    words: String
    place: PlaceInput
    time: TimeInput
    homeVisit: Boolean!
    authorisedOnly: Boolean = false
  }
  input BookInput { offerId: ID! phone: String! homeAddress: String car: String! complaint: String! }

  type Workshop {
    id: ID! title: String! street: String! kind: WorkshopKind! latitude: Float! longitude: Float!
    distanceKm: Float! gasCertificate: Boolean!
  }
  type Work { kind: String! title: String! steps: [String!]! gas: Gas! }
  "Whole rupees."
  type Price {
    diagnosis: Int! diagnosisWaived: Boolean! labour: Int! parts: Int! gas: Int! tax: Int! total: Int!
    fixed: Boolean! variancePercent: Float!
  }
  type Visit { atHome: Boolean! waitHere: Boolean! collection: Boolean! }
  type Guarantee { partsMonths: Int! labourMonths: Int! coolingDays: Int! terms: String! }
  type Reviews { stars: Float! count: Int! solvedPercent: Float! }
  type Offer {
    id: ID! from: String! until: String! hours: Float! sameDay: Boolean!
    workshop: Workshop! work: Work! price: Price! visit: Visit! guarantee: Guarantee! reviews: Reviews! link: String!
  }
  type OfferList { reference: ID! validUntil: String! offers: [Offer!]! }
  type Booking {
    id: ID! number: String! offerId: ID! from: String! until: String! work: String! total: Int!
    contact: String! contactPhone: String! pay: String! atHome: Boolean!
  }
  type Cancellation { bookingId: ID! at: String! fee: Int! refund: Int! refundDays: Int! }

  type Query { findOffers(search: SearchInput!): OfferList! }
  type Mutation {
    bookOffer(key: ID!, booking: BookInput!): Booking!
    cancelBooking(id: ID!, reason: String!): Cancellation!
  }
`;

interface SearchInput {
  car: { controls: string; fuel?: string | null; year?: number | null };
  symptom: string;
  words?: string | null;
  place?: { latitude: number; longitude: number; withinKm?: number | null } | null;
  time?: { from: string; until: string } | null;
  homeVisit: boolean;
  authorisedOnly?: boolean | null;
}

interface BookInput {
  offerId: string;
  phone: string;
  homeAddress?: string | null;
  car: string;
  complaint: string;
}

/** A slot, a booking or a cancellation as the desk writes them; the desk's own tests pin their fields. */
type Written = any;

export interface ApiOptions {
  /** The bearer that mutations demand; absent: none. */
  token?: string | undefined;
  /** Whether the API tells its schema. */
  introspection: boolean;
}

/** The API of one business, as a request handler. */
export function api(desk: Desk, options: ApiOptions) {
  const answer = (tool: string, args: unknown): Written => {
    try {
      return desk.answer(tool, args, Date.now());
    } catch (error) {
      // Anything else is a fault of this program, which yoga keeps to itself.
      if (!(error instanceof Refusal)) throw error;
      const code: PlatformCode = error.code;
      throw new GraphQLError(error.message, { extensions: { code: PROBLEMS[code] ?? 'OUT_OF_ORDER' } });
    }
  };
  const signedIn = (request: Request) => {
    if (options.token === undefined || sameText(request.headers.get('authorization'), `Bearer ${options.token}`)) return;
    throw new GraphQLError('a valid bearer token is required', {
      extensions: { code: 'UNAUTHENTICATED', http: { status: 401 } },
    });
  };
  const schema = createSchema<{ request: Request }>({
    typeDefs: TYPE_DEFS,
    resolvers: {
      Query: {
        findOffers: (_: unknown, { search }: { search: SearchInput }) => {
          const found = answer('search_ac_service_slots', searchArguments(search));
          return { reference: found.result_token, validUntil: found.expires_at, offers: found.slots.map(offer) };
        },
      },
      Mutation: {
        bookOffer: (_: unknown, { key, booking }: { key: string; booking: BookInput }, { request }) => {
          signedIn(request);
          return booked(answer('create_ac_service_booking', bookArguments(key, booking)));
        },
        cancelBooking: (_: unknown, { id, reason }: { id: string; reason: string }, { request }) => {
          signedIn(request);
          const off = answer('cancel_ac_service_booking', { request_id: id, booking_id: id, reason_code: reason });
          return {
            bookingId: off.booking_id,
            at: off.cancelled_at,
            fee: off.cancellation_fee_inr,
            refund: off.refund_amount_inr,
            refundDays: off.refund_eta_days,
          };
        },
      },
    },
  });
  const noIntrospection = {
    onValidate({ params, setResult }: { params: { documentAST: unknown }; setResult: (errors: GraphQLError[]) => void }) {
      if (JSON.stringify(params.documentAST).includes('"__schema"')) {
        setResult([new GraphQLError('introspection is off', { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } })]);
      }
    },
  };
  return createYoga({
    schema,
    graphiql: false,
    landingPage: false,
    logging: 'error',
    plugins: options.introspection ? [] : [noIntrospection as never],
  });
}

/** The desk's form of a search. */
function searchArguments({ car, symptom, words, place, time, homeVisit, authorisedOnly }: SearchInput) {
  return {
    intent: 'auto.book_ac_service',
    vehicle: {
      type: 'car',
      ac_system_type: car.controls.toLowerCase(),
      ...(car.fuel != null && { fuel_type: car.fuel.toLowerCase() }),
      ...(car.year != null && { year_of_manufacture: car.year }),
    },
    ac_issue: { category: symptom.toLowerCase(), user_description: words ?? '', last_serviced_months_ago: null },
    service_preferences: {
      doorstep_acceptable: homeVisit,
      authorised_only: authorisedOnly ?? false,
      ...(time != null && { preferred_window: { start: time.from, end: time.until } }),
    },
    ...(place != null && {
      user_location: {
        lat: place.latitude,
        lng: place.longitude,
        ...(place.withinKm != null && { max_radius_km: place.withinKm }),
      },
    }),
  };
}

function bookArguments(key: string, { offerId, phone, homeAddress, car, complaint }: BookInput) {
  return {
    request_id: key,
    slot_id: offerId,
    vehicle: { type: car },
    ac_issue: { category: complaint },
    contact_phone: phone,
    ...(homeAddress != null && { doorstep_address: homeAddress }),
  };
}

/** One slot, in the API's words. */
function offer(slot: Written) {
  const { provider, slot_window: window, service_scope: scope, estimated_price: price, logistics, warranty } = slot;
  return {
    id: slot.slot_id,
    from: window.start,
    until: window.end,
    hours: window.typical_duration_hours,
    sameDay: window.same_day_completion_likely,
    workshop: {
      id: provider.provider_id,
      title: provider.name,
      street: provider.address,
      kind: provider.provider_type.toUpperCase(),
      latitude: provider.location.lat,
      longitude: provider.location.lng,
      distanceKm: provider.distance_from_user_km,
      gasCertificate: provider.refrigerant_handling_certified,
    },
    work: {
      kind: scope.code.toUpperCase(),
      title: scope.label,
      steps: scope.includes,
      gas: scope.refrigerant_type.toUpperCase(),
    },
    price: {
      diagnosis: price.diagnostic_fee_inr,
      diagnosisWaived: price.diagnostic_fee_waived_if_repair,
      labour: price.labour_inr,
      parts: price.parts_estimate_inr,
      gas: price.refrigerant_inr,
      tax: price.gst_inr,
      total: price.total_estimate_inr,
      fixed: price.price_lock_guaranteed,
      variancePercent: price.price_lock_variance_cap_pct,
    },
    visit: {
      atHome: logistics.doorstep_supported,
      waitHere: logistics.while_you_wait_acceptable,
      collection: logistics.pickup_drop_supported,
    },
    guarantee: {
      partsMonths: warranty.parts_warranty_months,
      labourMonths: warranty.labour_warranty_months,
      coolingDays: warranty.cooling_performance_warranty_days,
      terms: warranty.warranty_terms_url,
    },
    reviews: {
      stars: slot.ratings.avg_rating,
      count: slot.ratings.review_count,
      solvedPercent: slot.ratings.cooling_complaint_resolution_pct,
    },
    link: slot.partner_reference.deeplink,
  };
}

function booked(made: Written) {
  return {
    id: made.booking_id,
    number: made.partner_booking_reference,
    offerId: made.slot_id,
    from: made.scheduled_start,
    until: made.estimated_completion,
    work: made.service_scope_confirmed.toUpperCase(),
    total: made.total_estimate_inr,
    contact: made.service_advisor_name,
    contactPhone: made.service_advisor_phone,
    pay: made.payment_due_at.toUpperCase(),
    atHome: made.doorstep_arranged,
  };
}

function sameText(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
