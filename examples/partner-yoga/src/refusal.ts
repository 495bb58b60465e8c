// Why this partner says no: one error that carries the intent's code.
//
// The intent has no code of its own for a slot that is gone or full: that is INVALID_REQUEST, with the
// argument at fault.

import { Refusal as AnyRefusal } from '../../partner-typescript/src/refusal.ts';

export type PlatformCode =
  | 'INVALID_REQUEST'
  | 'INVALID_AUTH'
  | 'INTERNAL_ERROR'
  | 'IDEMPOTENCY_CONFLICT'
  | 'PRENATAL_CLASS_REQUIRED';

/** One refused call. */
export class Refusal extends AnyRefusal<PlatformCode> {}
