// A search to start from: the contract's own sample, with members changed by JSON merge patch.

import { readFileSync } from 'node:fs';

import type { Json, JsonObject } from '../src/catalogue.ts';

const SAMPLES = new URL('../../../plugins/lifestyle-book-yoga-class/samples/', import.meta.url);

export function readSample(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(name, SAMPLES), 'utf8')) as JsonObject;
}

/** The sample as a user would send it who takes any class in the coming days, and then `patch`. */
export function searchRequest(patch: JsonObject = {}): JsonObject {
  const wide: JsonObject = {
    scheduled_for_iso: null,
    duration_minutes: null,
    search_area: { max_radius_km: null },
    yoga_intent: {
      yoga_styles_acceptable: ['hatha', 'vinyasa', 'iyengar', 'ashtanga', 'yin', 'power_yoga', 'hot_yoga', 'prenatal'],
      class_kind_acceptable: ['group_drop_in', 'silent_class', 'beginners_only', 'advanced_only'],
      temperature_kind_acceptable: ['room_temp', 'cool_studio', 'warm_studio'],
      max_class_size: 40,
      min_instructor_skill: 1,
      props_required: [],
    },
    preferences: {
      studio_kind_acceptable: ['dedicated_yoga_studio', 'wellness_center', 'ashram_or_traditional'],
      instructor_min_experience_years: null,
      instructor_certifications_required: false,
      shower_required: false,
      ac_or_fan_required: false,
      budget_max_inr_total: null,
    },
  };
  return mergePatch(mergePatch(readSample('request.json'), wide), patch) as JsonObject;
}

/** JSON merge patch (RFC 7396): null removes a key, objects merge, anything else replaces. */
function mergePatch(target: Json | undefined, patch: Json): Json {
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
