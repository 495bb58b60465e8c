// The way in: one gateway, as each of its callers sees it.

import { PlatformOperations } from "./generated/operations.js";
import { Orchestrator } from "./orchestrator.js";
import { Partner } from "./partner.js";
import { Transport, type Settings } from "./transport.js";

/** A gateway. Which of its parts answer, the token decides; an admin's opens all of them, as far as its scopes go. */
export class Gateway {
  readonly orchestrator: Orchestrator;
  readonly partner: Partner;
  readonly platform: PlatformOperations;

  constructor(settings: Settings) {
    const transport = new Transport(settings);
    this.orchestrator = new Orchestrator(transport);
    this.partner = new Partner(transport);
    this.platform = new PlatformOperations(transport);
  }
}
