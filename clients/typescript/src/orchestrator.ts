// What an assistant does: finds the intent of an utterance, searches, books, follows.

import { OrchestratorOperations } from "./generated/operations.js";
import type { ToolAnswer, ToolRequest } from "./generated/models.js";
import { GatewayError } from "./errors.js";
import { segment, type Call } from "./transport.js";

/** The key that a caller makes up. Any other one names something that there is already. */
const REQUEST_ID = "request_id";

export class Orchestrator extends OrchestratorOperations {
  /**
   * Calls a tool under a key, so that what it makes is made once, however often the call is sent: it is sent again where its answer was
   * lost. Where the key is `request_id`, and the arguments have none, a new one is made; an identifier of the order is for the gateway
   * to fill in.
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
    const made = name === REQUEST_ID ? { [name]: crypto.randomUUID() } : {};
    const json = { ...body, arguments: { ...made, ...body.arguments } };
    const path = `/api/v1/intents/${segment(intent)}/tools/${segment(tool)}`;
    return this.transport.send({ method: "POST", path, args, json, repeatable: true }, call);
  }
}
