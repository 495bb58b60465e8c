// The business behind the server, read from a catalogue file, and the tools that it lists.
//
// The format is described in examples/catalogues/README.md. A catalogue holds no state: what is sold
// lives in `desk`.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Ajv, type ValidateFunction } from 'ajv';

import { Refusal } from './refusal.ts';

/** The largest catalogue file that is read, in bytes. */
const MAX_CATALOGUE_BYTES = 1024 * 1024;

/** Folder of the example catalogues. */
export const CATALOGUES = fileURLToPath(new URL('../../catalogues/', import.meta.url));

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Place {
  lat: number;
  lng: number;
}

export interface Provider extends Place {
  provider_id: string;
  name: string;
  address: string;
  provider_type: 'oem_authorised' | 'multi_brand_garage' | 'ac_specialist' | 'doorstep_mobile';
  serves_within_km: number;
  refrigerant_handling_certified: boolean;
  refrigerants: string[];
  ratings: JsonObject;
}

export interface Service {
  scope: string;
  label: string;
  includes: string[];
  issues: string[];
  duration_minutes: number;
  same_day_completion_likely: boolean;
  /** Whole INR before tax. */
  price: {
    diagnostic_fee_inr: number;
    diagnostic_fee_waived_if_repair: boolean;
    labour_inr: number;
    parts_estimate_inr: number;
    refrigerant_inr: { r134a: number; r1234yf: number };
    price_lock_guaranteed: boolean;
    price_lock_variance_cap_pct: number;
  };
  logistics: { doorstep_supported: boolean } & JsonObject;
  warranty: JsonObject;
}

export interface SlotTemplate {
  ref: string;
  provider: string;
  service: string;
  offset_minutes: number;
  stock: number;
  /** JSON merge patch on the finished slot: how a dishonest business bends the truth. */
  merge?: JsonObject;
}

export interface Catalogue {
  business: {
    name: string;
    source: string;
    website: string;
    utc_offset_minutes: number;
    /** Local time, HH:MM. */
    opens: string;
    closes: string;
    quote_valid_minutes: number;
    centre: Place;
    advisor: { name: string; phone: string };
    payment_due_at: string;
  };
  platform: JsonObject;
  vehicles: { ac_system_types: string[]; fuel_types: string[] };
  providers: Provider[];
  services: Record<string, Service>;
  slots: SlotTemplate[];
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

const TOOLS = JSON.parse(readFileSync(`${CATALOGUES}contract/tools.json`, 'utf8')) as ToolFile;

const ajv = new Ajv({ strict: false });
const VALIDATORS = new Map<string, ValidateFunction>(
  TOOLS.tools.map((tool) => [tool.name, ajv.compile(tool.inputSchema)]),
);

/** Reads one of examples/catalogues by its bare name, or else a file by path. */
export function loadCatalogue(nameOrPath: string): Catalogue {
  const shipped = `${CATALOGUES}${nameOrPath}.json`;
  const path = !nameOrPath.includes('/') && existsSync(shipped) ? shipped : nameOrPath;
  if (statSync(path).size > MAX_CATALOGUE_BYTES) {
    throw new Error(`${path} is larger than ${MAX_CATALOGUE_BYTES} bytes`);
  }
  const catalogue = JSON.parse(readFileSync(path, 'utf8')) as Catalogue;
  for (const key of ['business', 'platform', 'vehicles', 'providers', 'services', 'slots'] as const) {
    if (catalogue[key] === undefined) throw new Error(`${path} lacks ${key}`);
  }
  const providers = new Set(catalogue.providers.map((provider) => provider.provider_id));
  for (const slot of catalogue.slots) {
    if (!providers.has(slot.provider) || !(slot.service in catalogue.services)) {
      throw new Error(`slot ${slot.ref} in ${path} names an unknown provider or service`);
    }
  }
  return catalogue;
}

/** The intent's tools with this business's terms in `_meta.platform` (spec 1). */
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
