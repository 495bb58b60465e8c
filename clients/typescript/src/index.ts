export { GatewayError, NotAnswered, NotUnderstood, Refused } from "./errors.js";
export { Gateway } from "./gateway.js";
export { ERROR_CODES, type ErrorCode } from "./generated/codes.js";
export type * as Models from "./generated/models.js";
export { PlatformOperations as Platform } from "./generated/operations.js";
export { Orchestrator } from "./orchestrator.js";
export { clientCredentials, Partner } from "./partner.js";
export { signReport } from "./signing.js";
export type { Call, Settings, StreamCall, Token } from "./transport.js";
