// Signs completion reports: docs/completion-reports.md says how, and has vectors.

/** The headers of a report that is sent at a time, milliseconds since 1970. The key is its text, `whsec_` included. */
export async function signReport(key: string, body: Uint8Array, at: number): Promise<Record<string, string>> {
  const utf8 = new TextEncoder();
  const prefix = utf8.encode(`${at}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", utf8.encode(key), algorithm, false, ["sign"]);
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", secret, signed));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { "x-platform-timestamp": String(at), "x-platform-signature": `sha256=${hex}` };
}
