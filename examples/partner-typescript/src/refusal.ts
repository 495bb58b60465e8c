// Why this partner says no: one error that carries the intent's code (spec 2, Errors).

export type PlatformCode =
  | 'INVALID_REQUEST'
  | 'INVALID_AUTH'
  | 'INTERNAL_ERROR'
  | 'IDEMPOTENCY_VIOLATION'
  | 'SLOT_GONE'
  | 'COMPRESSOR_WORK_REQUIRES_WORKSHOP'
  | 'DOORSTEP_UNAVAILABLE_AT_LOCATION'
  | 'REFRIGERANT_UNAVAILABLE'
  | 'VEHICLE_AC_INCOMPATIBLE';

/** JSON-RPC number of INVALID_AUTH, the only code that this server sends as a JSON-RPC error. */
export const INVALID_AUTH_NUMBER = -32000;

/** One refused call, under a code of an intent. */
export class Refusal<Code extends string = PlatformCode> extends Error {
  readonly code: Code;
  /** The argument at fault, as a dotted path. */
  readonly field: string | undefined;

  constructor(code: Code, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }

  /** What the platform reads. */
  data(): Record<string, string> {
    const data: Record<string, string> = { platform_error_code: this.code };
    if (this.field !== undefined) data.platform_field = this.field;
    return data;
  }
}
