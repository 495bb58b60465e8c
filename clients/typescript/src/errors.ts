// What can go wrong, by type.

import type { ErrorCode } from "./generated/codes.js";
import type { ErrorDetail, Violation } from "./generated/models.js";

/** Whatever the client throws of itself. */
export class GatewayError extends Error {
  override name = "GatewayError";
}

/** The gateway has refused a request, and says why. */
export class Refused extends GatewayError {
  override name = "Refused";
  /** What to branch on: a code of the gateway, or one of the intent's error table. */
  readonly code: ErrorCode | (string & {});
  /** Identifier of the request, for the platform team. */
  readonly requestId: string;
  /** What is wrong at which place of the request; empty where nothing can be pointed at. */
  readonly violations: readonly Violation[];
  /** Where the user links the account at the partner, where that is what is missing. */
  readonly linkUrl: string | undefined;
  /** The code that the page there shows, to tell the user beforehand. */
  readonly linkCode: string | undefined;

  constructor(
    readonly detail: ErrorDetail,
    /** None where the refusal is an event of a stream. */
    readonly status?: number,
    /** Seconds after which it is worth asking again. */
    readonly retryAfter?: number,
  ) {
    super(`${detail.code}: ${detail.message} (request ${detail.request_id})`);
    this.code = detail.code;
    this.requestId = detail.request_id;
    this.violations = detail.violations ?? [];
    this.linkUrl = detail.link_url ?? undefined;
    this.linkCode = detail.link_code ?? undefined;
  }

  /** Whether it is this code of the gateway's. */
  is(code: ErrorCode): boolean {
    return this.code === code;
  }
}

/** No answer came, or it broke off: there is no connection, or the time was over. */
export class NotAnswered extends GatewayError {
  override name = "NotAnswered";
}

/** The answer is none of the gateway's, as that of a proxy in front of it may be. */
export class NotUnderstood extends GatewayError {
  override name = "NotUnderstood";

  constructor(
    readonly status: number,
    /** How it begins. */
    readonly beginning: string,
    readonly retryAfter?: number,
  ) {
    super(`an answer with status ${status} is not the gateway's`);
  }
}
