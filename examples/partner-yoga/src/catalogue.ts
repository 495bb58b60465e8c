// The business behind the server, read from a catalogue file, and the tools that it lists.
//
// Most of the file is in the contract's own words and goes into an answer as it stands. A catalogue holds
// no state: what is booked lives in `desk`.

import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Ajv, type ValidateFunction } from 'ajv';

import { Refusal } from './refusal.ts';

/** The largest catalogue file that is read, in bytes. */
const MAX_CATALOGUE_BYTES = 1024 * 1024;

/** The business that is served unless another file is named. */
export const CATALOGUE = fileURLToPath(new URL('../catalogue.json', import.meta.url));

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Place {
  lat: number;
  lng: number;
}

/** What is paid for one visit. Private sessions and workshops have a price of their own. */
export type PassName = 'group' | 'private' | 'workshop';

export interface Pass {
  /** Whole INR, tax included. */
  inr: number;
  includes: string[];
  validity_days: number;
}

/** When a class takes place, week after week. */
export interface TimetableEntry {
  instructor_id: string;
  days: string[];
  /** Local time, HH:MM. */
  start: string;
  /** Places that are kept for the platform's users. */
  places: number;
}

/** YogaClassItem of the contract, and what the business keeps to itself. */
export interface YogaClass {
  class_id: string;
  yoga_style: string;
  class_name: string;
  class_kind: string;
  difficulty_level: string;
  duration_minutes: number;
  class_size_max: number;
  class_size_typical: number;
  temperature_kind: string;
  props_provided: string[];
  prenatal_friendly: boolean;
  postpartum_friendly: boolean;
  back_pain_friendly: boolean;
  photo_url: string;
  photo_ai_generated: false;
  description: string;
  /** The one gender that the class is for. */
  only_for?: string;
  timetable: TimetableEntry[];
}

/** YogaInstructorProfile of the contract, without the price of a private session: it is the studio's. */
export interface Instructor {
  instructor_id: string;
  display_name: string;
  experience_years: number;
  certifications: string[];
  certifying_authorities: string[];
  specializations: string[];
  ratings: { rating_avg: number } & JsonObject;
  [key: string]: Json;
}

/** Opening hours of one day, local time, HH:MM. */
export interface DayHours {
  day: string;
  open: string;
  close: string;
}

/** One studio: `yoga_studio` of the contract, with its classes and people. */
export interface Studio {
  identity: { id: string; name: string; studio_kind: string } & JsonObject;
  /** Since when the studio belongs to the business. */
  account_since: string;
  address: Place & { city: string } & JsonObject;
  ratings: JsonObject;
  hours: DayHours[];
  amenities: {
    air_conditioning: boolean;
    fan_only: boolean;
    parking_available: boolean;
    showers_count: number;
    lockers_count: number;
  } & JsonObject;
  trust: JsonObject;
  photos: JsonObject;
  passes: { group: Pass; private: Pass; workshop?: Pass };
  instructors: Instructor[];
  classes: YogaClass[];
}

export interface Catalogue {
  business: {
    name: string;
    source: string;
    website: string;
    utc_offset_minutes: number;
    /** Where distances are measured from when the user does not say where. */
    centre: Place;
    gst_percent: number;
    quote_valid_minutes: number;
    bookable_days_ahead: number;
    terms: {
      free_until_hours_before_start: number;
      /** What is kept of the price afterwards. */
      late_fee_percent: number;
      refund_eta_days: number;
    };
  };
  platform: JsonObject;
  studios: Studio[];
}

/** A tool as `tools/list` shows it. */
export interface Descriptor {
  name: string;
  description: string;
  inputSchema: { type: 'object' } & JsonObject;
  _meta: { platform: JsonObject };
}

interface ToolFile {
  intent: string;
  domain: string;
  intent_version: string;
  widget_type: string;
  tools: { name: string; description: string; tool_role: string; inputSchema: Descriptor['inputSchema'] }[];
}

const TOOLS = JSON.parse(readFileSync(new URL('../tools.json', import.meta.url), 'utf8')) as ToolFile;

const ajv = new Ajv({ strict: false });
const VALIDATORS = new Map<string, ValidateFunction>(
  TOOLS.tools.map((tool) => [tool.name, ajv.compile(tool.inputSchema)]),
);

export function loadCatalogue(path: string = CATALOGUE): Catalogue {
  if (statSync(path).size > MAX_CATALOGUE_BYTES) {
    throw new Error(`${path} is larger than ${MAX_CATALOGUE_BYTES} bytes`);
  }
  const catalogue = JSON.parse(readFileSync(path, 'utf8')) as Catalogue;
  for (const key of ['business', 'platform', 'studios'] as const) {
    if (catalogue[key] === undefined) throw new Error(`${path} lacks ${key}`);
  }
  for (const studio of catalogue.studios) {
    const taught = studio.classes.flatMap((one) => one.timetable.map((entry) => entry.instructor_id));
    const unknown = taught.find((id) => !studio.instructors.some((instructor) => instructor.instructor_id === id));
    if (unknown !== undefined) throw new Error(`${studio.identity.id} in ${path} has no instructor ${unknown}`);
    const unpriced = studio.classes.find((one) => studio.passes[passName(one)] === undefined);
    if (unpriced !== undefined) throw new Error(`${unpriced.class_id} in ${path} has no price`);
  }
  return catalogue;
}

/** Which price of the studio a class has. */
export function passName(yogaClass: YogaClass): PassName {
  if (yogaClass.class_kind === 'private_session') return 'private';
  return yogaClass.class_kind === 'group_themed_workshop' ? 'workshop' : 'group';
}

/** The pass for one visit of a class. */
export function passOf(studio: Studio, yogaClass: YogaClass): Pass {
  const pass = studio.passes[passName(yogaClass)];
  if (pass === undefined) throw new Error(`${yogaClass.class_id} has no price`);
  return pass;
}

/** A price apart from the tax in it, to the paisa. */
export function splitTax(totalInr: number, gstPercent: number): { netInr: number; gstInr: number } {
  const totalPaise = Math.round(totalInr * 100);
  const netPaise = Math.round((totalPaise * 100) / (100 + gstPercent));
  return { netInr: netPaise / 100, gstInr: (totalPaise - netPaise) / 100 };
}

/** The intent's tools with this business's terms in `_meta.platform`. */
export function descriptors(platform: JsonObject): Descriptor[] {
  const { intent, domain, intent_version, widget_type } = TOOLS;
  return TOOLS.tools.map(({ name, description, tool_role, inputSchema }) => ({
    name,
    description,
    inputSchema,
    _meta: { platform: { ...platform, intent, domain, intent_version, widget_type, tool_role } },
  }));
}

/** Refuses an unknown tool, and arguments that break the tool's input schema. */
export function checkArguments(tool: string, args: unknown): void {
  const validate = VALIDATORS.get(tool);
  if (validate === undefined) {
    throw new Refusal('INVALID_REQUEST', 'this partner has no such tool', 'name');
  }
  if (validate(args)) return;
  const [error] = validate.errors ?? [];
  const path = (error?.instancePath ?? '').split('/').slice(1);
  // The path ends at the object around a missing key.
  if (error?.keyword === 'required') path.push(String(error.params.missingProperty));
  throw new Refusal('INVALID_REQUEST', error?.message ?? 'breaks the input schema', path.join('.'));
}
