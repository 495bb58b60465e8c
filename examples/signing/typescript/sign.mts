// Signs a completion report: `node sign.mts REPORT [TIMESTAMP]` prints its two headers. Node's own modules alone.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

/** The signature of a body sent at a time, in milliseconds since 1970; the key is its text, `whsec_` included. */
export function sign(key: string, timestamp: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex")}`;
}

const key = process.env["INTENT_GATEWAY_WEBHOOK_KEY"];
const [report, timestamp = String(Date.now()), ...more] = process.argv.slice(2);
if (!key || report === undefined || more.length > 0) {
  console.error("usage: INTENT_GATEWAY_WEBHOOK_KEY=... node sign.mts REPORT [TIMESTAMP]");
  process.exit(1);
}
// As bytes: these, and no others, are sent.
const body = readFileSync(report);
console.log(`X-PLATFORM-Timestamp: ${timestamp}`);
console.log(`X-PLATFORM-Signature: ${sign(key, timestamp, body)}`);
