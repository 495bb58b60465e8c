// What a partner does of its own: the way to a token, the manifest, and reports of what was delivered.

import { PartnerOperations } from "./generated/operations.js";
import type { CompletionReport, ReportAcknowledgement } from "./generated/models.js";
import { signReport } from "./signing.js";
import { segment, Transport, type Call, type Settings } from "./transport.js";

export class Partner extends PartnerOperations {
  /**
   * Sends a completion report, signed anew for each try. It is booked once, however often it is sent. Members that the intent's contract
   * adds stand beside the common ones.
   */
  report(
    partnerId: string,
    signingKey: string,
    report: CompletionReport & Record<string, unknown>,
    call: Call = {},
  ): Promise<ReportAcknowledgement> {
    // What is signed are these bytes, so these are sent.
    const bytes = new TextEncoder().encode(JSON.stringify(report));
    const path = `/api/v1/cpc/mcp_provider/${segment(partnerId)}`;
    const headers = () => signReport(signingKey, bytes, Date.now());
    return this.transport.send({ method: "POST", path, bytes, headers, repeatable: true }, call);
  }
}

/** How long before its end a token is replaced, milliseconds. */
const RENEWED_BEFORE_MS = 60_000;

/** A token source of a program of a partner's: gets tokens by its credentials, and a new one before each ends. */
export function clientCredentials(settings: Settings, clientId: string, clientSecret: string): () => Promise<string> {
  const { token: _, ...open } = settings;
  const partner = new Partner(new Transport(open));
  let current: Promise<{ token: string; until: number }> | undefined;
  const fetchToken = async () => {
    const issued = await partner.issueToken({ client_id: clientId, client_secret: clientSecret });
    return { token: issued.token, until: Date.parse(issued.expires_at) - RENEWED_BEFORE_MS };
  };
  return async () => {
    const before = current;
    const held = await before?.catch(() => undefined);
    // Requests that begin at once share one token: whoever comes first here fetches it.
    if (current === before && (held === undefined || held.until <= Date.now())) current = fetchToken();
    return (await current!).token;
  };
}
