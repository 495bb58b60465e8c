/**
 * What the intent's rules say of an option on each axis. No document states weights for this intent, so they are
 * decided here. Every signal is monotone and lies in 0..=1.
 */

import { lowerIsBetter, blend, weighted } from "./kit/ranking.js";
import { instantMs } from "./kit/formats.js";
import { CALIBRATION_MAX_DAYS, calibrationAgeDays } from "./rules.js";
import { DURATION_MINUTES, MAX_DISTANCE_KM } from "./shapes.js";

/** Weights of the axes. */
export const WEIGHTS = weighted({ time: 0.3, taste: 0.1, budget: 0.25, safety: 0.35 });

/** Signals of each axis and their shares in it. */
export const SIGNALS = {
  time: weighted({ distance: 0.35, window_fit: 0.4, duration: 0.25 }),
  taste: weighted({ place: 0.5, rating: 0.5 }),
  budget: weighted({ total: 0.8, no_convenience_fee: 0.2 }),
  safety: weighted({ register_upload: 0.5, calibration: 0.3, same_visit_certificate: 0.2 }),
};

/** What a band does to the weight of its axis: who is in a hurry cares more for time, and so on. */
export const BAND_FACTORS = {
  time: { fast: 1.5, balanced: 1, flexible: 0.7 },
  taste: { balanced: 1 },
  budget: { ok: 1.5, good: 1, great: 0.8 },
  safety: { fast: 0.7, balanced: 1, flexible: 1, good: 1.3 },
};

/** Value of a signal of which nothing is known. */
const NEUTRAL = 0.5;
/** A rating counts as if so many reviews of the middle rating came on top: few reviews say little. */
const PRIOR_REVIEWS = 10;
const PRIOR_RATING = 3;
const MAX_RATING = 5;

/** A function from an option to its score per axis, on the scale of the surviving options. */
export function scorer(request, centres) {
  const cheap = lowerIsBetter(centres.map(({ price }) => price.total_inr));
  return (centre) => ({
    time: blend(SIGNALS.time, time(request, centre)),
    taste: blend(SIGNALS.taste, taste(request, centre)),
    budget: blend(SIGNALS.budget, {
      total: cheap(centre.price.total_inr),
      no_convenience_fee: Number(centre.price.convenience_fee_inr === 0),
    }),
    safety: blend(SIGNALS.safety, {
      register_upload: Number(centre.test.uploads_to_vahan),
      calibration: freshness(calibrationAgeDays(centre)),
      same_visit_certificate: Number(centre.certificate.issued_same_visit),
    }),
  });
}

function time(request, { provider, slot_window }) {
  const scaleKm = request.user_location.max_radius_km || MAX_DISTANCE_KM;
  const { min, max } = DURATION_MINUTES;
  return {
    distance: 1 - provider.distance_from_user_km / scaleKm,
    window_fit: windowFit(request, slot_window),
    duration: 1 - (slot_window.typical_duration_minutes - min) / (max - min),
  };
}

/** 1 at the centre of the window asked for, 0 at its ends. Band `flexible` takes any slot in the window. */
function windowFit({ service_preferences, ttbs_user_band }, slot) {
  const asked = service_preferences.preferred_window;
  if (asked === undefined) return NEUTRAL;
  if (ttbs_user_band?.time === "flexible") return 1;
  const startMs = instantMs(asked.start);
  const halfMs = (instantMs(asked.end) - startMs) / 2;
  return 1 - Math.abs(instantMs(slot.start) - startMs - halfMs) / halfMs;
}

function taste(request, { provider, logistics, ratings }) {
  const wanted = request.service_preferences.doorstep_acceptable;
  const { avg_rating, review_count } = ratings;
  const rating = (avg_rating * review_count + PRIOR_RATING * PRIOR_REVIEWS) / (review_count + PRIOR_REVIEWS);
  return {
    // A mobile unit has no other place, so it does not serve who wants nobody at the door.
    place: wanted ? (logistics.doorstep_supported ? 1 : NEUTRAL) : Number(provider.provider_type !== "mobile_unit"),
    rating: rating / MAX_RATING,
  };
}

/** 1 for equipment calibrated on the day, 0 when it is due again, or dated after the test. */
const freshness = (days) => (days < 0 ? 0 : 1 - days / CALIBRATION_MAX_DAYS);
