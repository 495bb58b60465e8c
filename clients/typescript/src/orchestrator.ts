// What an assistant does: finds the intent of an utterance, searches, books, follows.

import { OrchestratorOperations } from "./generated/operations.js";
import type { ToolAnswer, ToolRequest } from "./generated/models.js";
import { GatewayError } from "./errors.js";
import { segment, type Call } from "./transport.js";

export class Orchestrator extends OrchestratorOperations {
  /**
   * Calls a tool under a key, so that what it makes is made once, however often the call is sent: it is sent again where its answer was
   * lost. Without a key of the caller's own in the arguments, a new one is made.
   */
  async callOnce(
    intent: string,
    tool: string,
    body: ToolRequest,
    args: { user?: string } = {},
    call: Call = {},
  ): Promise<ToolAnswer> {
    // Which argument is the key, the intent's contract says.
    const { tools } = await this.showIntent(intent, call);
    const name = tools.find((one) => one.name === tool)?.idempotency_key;
    if (typeof name !== "string") throw new GatewayError(`the tool ${tool} of ${intent} takes no key`);
    const json = { ...body, arguments: { [name]: crypto.randomUUID(), ...body.arguments } };
    const path = `/api/v1/intents/${segment(intent)}/tools/${segment(tool)}`;
    return this.transport.send({ method: "POST", path, args, json, repeatable: true }, call);
  }
}
