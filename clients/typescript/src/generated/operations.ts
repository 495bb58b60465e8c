// Made by clients/generate. Not edited by hand.

import { segment, type Call, type StreamCall, type Transport } from "../transport.js";
import type * as Models from "./models.js";

/** What an orchestrator may call. */
export class OrchestratorOperations {
  constructor(readonly transport: Transport) {}

  /** Calls a tool of an intent that is not a search: books, follows, cancels. */
  callTool(intent: string, tool: string, body: Models.ToolRequest, args: { user?: string } = {}, call: Call = {}): Promise<Models.ToolAnswer> {
    return this.transport.send({ method: "POST", path: `/api/v1/intents/${segment(intent)}/tools/${segment(tool)}`, args, json: body }, call);
  }

  /** Finds the intent of an utterance. */
  classify(body: Models.ClassifyRequest, call: Call = {}): Promise<Models.Classified> {
    return this.transport.send({ method: "POST", path: `/api/v1/classify`, json: body, repeatable: true }, call);
  }

  /** Erases a user: links are ended, receipts and what was found in them emptied, orders kept without the person. */
  eraseUser(args: { user: string }, call: Call = {}): Promise<Models.UserErased | Models.ApprovalBody> {
    return this.transport.send({ method: "DELETE", path: `/api/v1/user-data`, args }, call);
  }

  /** Shows a page of what the gateway keeps of a user: accounts linked at partners, orders, and searches with what was shown. */
  exportUser(args: { user: string; after?: string }, call: Call = {}): Promise<Models.UserData> {
    return this.transport.send({ method: "GET", path: `/api/v1/user-data`, args, repeatable: true }, call);
  }

  /** Follows an order: the answers of a track tool, as they change, and what the partner tells of its work meanwhile. */
  followTool(intent: string, tool: string, body: Models.ToolRequest, args: { user?: string } = {}, call: StreamCall = {}): AsyncGenerator<Models.FollowEvent, void, undefined> {
    return this.transport.events({ method: "POST", path: `/api/v1/intents/${segment(intent)}/tools/${segment(tool)}/stream`, args, json: body }, true, call);
  }

  /** Lists the live intents. */
  listIntents(call: Call = {}): Promise<Models.IntentList> {
    return this.transport.send({ method: "GET", path: `/api/v1/intents`, repeatable: true }, call);
  }

  /** Lists the accounts that a user has linked at partners. */
  listLinks(args: { user: string }, call: Call = {}): Promise<Models.LinkList> {
    return this.transport.send({ method: "GET", path: `/api/v1/links`, args, repeatable: true }, call);
  }

  /** Lists what a user has ordered, newest first; without `x-user-id`, what was ordered for nobody by name. */
  listOrders(args: { user?: string; before?: string; limit?: number; intent?: string; state?: string; open?: boolean; in_doubt?: boolean } = {}, call: Call = {}): Promise<Models.OrderList> {
    return this.transport.send({ method: "GET", path: `/api/v1/orders`, args, repeatable: true }, call);
  }

  /** Lists what a user has ordered, newest first; without `x-user-id`, what was ordered for nobody by name. One after the other, over all pages. */
  async *iterateOrders(args: { user?: string; before?: string; limit?: number; intent?: string; state?: string; open?: boolean; in_doubt?: boolean } = {}, call: Call = {}): AsyncGenerator<Models.OrderSummary, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listOrders(turn, call);
      yield* page.orders;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Gives out an address where a user links an account at a partner. */
  offerLink(body: Models.LinkRequest, args: { user: string }, call: Call = {}): Promise<Models.LinkOffered> {
    return this.transport.send({ method: "POST", path: `/api/v1/links`, args, json: body }, call);
  }

  /** Tells which orders of the orchestrator's users have changed since a cursor, each once, as it is now; without one, all. */
  orderEvents(args: { after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.OrderChanges> {
    return this.transport.send({ method: "GET", path: `/api/v1/orders/events`, args, repeatable: true }, call);
  }

  /** Tells which orders of the orchestrator's users have changed since a cursor, each once, as it is now; without one, all. As events. */
  streamOrderEvents(args: { after?: string; limit?: number } = {}, call: StreamCall = {}): AsyncGenerator<Models.OrderEvent, void, undefined> {
    return this.transport.events({ method: "GET", path: `/api/v1/orders/events`, args, repeatable: true }, true, call);
  }

  /** Ends a link: the gateway forgets the tokens, and has them revoked where they came from. */
  removeLink(partner: string, args: { user: string }, call: Call = {}): Promise<Models.LinkRemoved> {
    return this.transport.send({ method: "DELETE", path: `/api/v1/links/${segment(partner)}`, args }, call);
  }

  /** Searches: checks the request, asks the partners, ranks what they offer. */
  search(intent: string, body: Record<string, unknown>, args: { user?: string } = {}, call: Call = {}): Promise<Models.SearchAnswer> {
    return this.transport.send({ method: "POST", path: `/api/v1/intents/${segment(intent)}/search`, args, json: body, repeatable: true }, call);
  }

  /** Searches: checks the request, asks the partners, ranks what they offer. As events. */
  streamSearch(intent: string, body: Record<string, unknown>, args: { user?: string } = {}, call: StreamCall = {}): AsyncGenerator<Models.SearchEvent, void, undefined> {
    return this.transport.events({ method: "POST", path: `/api/v1/intents/${segment(intent)}/search`, args, json: body, repeatable: true }, false, call);
  }

  /** Shows everything that the live contract of an intent declares. */
  showIntent(intent: string, call: Call = {}): Promise<Models.IntentDetail> {
    return this.transport.send({ method: "GET", path: `/api/v1/intents/${segment(intent)}`, repeatable: true }, call);
  }

  /** Shows an order whole: what was ordered, how far it is, what happened to it, and what may be done with it now. */
  showOrder(orderId: string, args: { user?: string } = {}, call: Call = {}): Promise<Models.OrderDetail> {
    return this.transport.send({ method: "GET", path: `/api/v1/orders/${segment(orderId)}`, args, repeatable: true }, call);
  }
}

/** What a partner may call, of its own account. */
export class PartnerOperations {
  constructor(readonly transport: Transport) {}

  /** Uploads a document. The same file once more makes no second one. */
  addDocument(accountId: string, body: Uint8Array, mediaType: "application/pdf" | "image/jpeg" | "image/png", args: { kind: string; name?: string }, call: Call = {}): Promise<Models.DocumentBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/documents`, args, bytes: body, mediaType }, call);
  }

  /** Has events sent again after that was stopped, because the webhook had taken none for five days or said that it is gone. What
was not sent meanwhile is sent by a replay of each. */
  enableWebhook(accountId: string, call: Call = {}): Promise<Models.WebhookBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/webhook/enable` }, call);
  }

  /** Ends all sessions of the account: no token that was issued before is accepted any more, this one included. */
  endSessions(accountId: string, call: Call = {}): Promise<void> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/sessions/end` }, call);
  }

  /** Issues the account's credentials. The secret is in this answer and in no other. */
  issueCredentials(accountId: string, call: Call = {}): Promise<Models.CredentialsBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}` }, call);
  }

  /** Takes sandbox credentials, and gives a token of their account. */
  issueToken(body: Models.TokenRequest, call: Call = {}): Promise<Models.IssuedToken> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/token`, json: body }, call);
  }

  /** Lists the documents of an account. */
  listOwnDocuments(accountId: string, call: Call = {}): Promise<Models.DocumentList> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/documents`, repeatable: true }, call);
  }

  /** Lists what the partner was told, the latest first, each with every try to deliver it to the webhook. Events are kept for 30
days. */
  listOwnEvents(accountId: string, args: { before?: string; limit?: number } = {}, call: Call = {}): Promise<Models.EventsBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/events`, args, repeatable: true }, call);
  }

  /** Lists what the partner was told, the latest first, each with every try to deliver it to the webhook. Events are kept for 30
days. One after the other, over all pages. */
  async *iterateOwnEvents(accountId: string, args: { before?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.EventBody, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listOwnEvents(accountId, turn, call);
      yield* page.events;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists what was found in the partner's answers and completion reports: what was dropped and why, with an excerpt of
what was sent; strikes; reports that were refused or are questioned. */
  listOwnFindings(accountId: string, args: { before?: number; limit?: number; severity?: string; source?: string; intent?: string; code?: string } = {}, call: Call = {}): Promise<Models.PartnerFindings> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/findings`, args, repeatable: true }, call);
  }

  /** Lists what was found in the partner's answers and completion reports: what was dropped and why, with an excerpt of
what was sent; strikes; reports that were refused or are questioned. One after the other, over all pages. */
  async *iterateOwnFindings(accountId: string, args: { before?: number; limit?: number; severity?: string; source?: string; intent?: string; code?: string } = {}, call: Call = {}): AsyncGenerator<Models.Finding, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listOwnFindings(accountId, turn, call);
      yield* page.findings;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists the notices that concern the partner, the one that takes effect last first: those about everybody, and those about an
intent that it offers or has asked to offer. */
  listOwnNotices(accountId: string, call: Call = {}): Promise<Models.PartnerNotices> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/notices`, repeatable: true }, call);
  }

  /** Lists what was ordered at the partner, newest first. */
  listOwnOrders(accountId: string, args: { before?: string; limit?: number; intent?: string; state?: string; open?: boolean; in_doubt?: boolean } = {}, call: Call = {}): Promise<Models.OrderList> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/orders`, args, repeatable: true }, call);
  }

  /** Lists what was ordered at the partner, newest first. One after the other, over all pages. */
  async *iterateOwnOrders(accountId: string, args: { before?: string; limit?: number; intent?: string; state?: string; open?: boolean; in_doubt?: boolean } = {}, call: Call = {}): AsyncGenerator<Models.OrderSummary, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listOwnOrders(accountId, turn, call);
      yield* page.orders;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists the partner's orders that wait for its completion report. */
  listOwnOverdue(accountId: string, call: Call = {}): Promise<Models.PartnerOverdue> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/overdue-orders`, repeatable: true }, call);
  }

  /** Lists the months of which there are statements with lines. */
  listOwnStatements(accountId: string, call: Call = {}): Promise<Models.MonthsBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/statements`, repeatable: true }, call);
  }

  /** Lists the completion reports that were taken as tests, because the account was never live. They cost nothing, and are
forgotten after 30 days. */
  listOwnTestReports(accountId: string, call: Call = {}): Promise<Models.TestReportsBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/test-reports`, repeatable: true }, call);
  }

  /** Registers where the partner is called. */
  registerEndpoint(accountId: string, body: Models.EndpointRequest, call: Call = {}): Promise<Models.ConnectionBody> {
    return this.transport.send({ method: "PUT", path: `/api/v1/business/tier1/connection/${segment(accountId)}`, json: body }, call);
  }

  /** Removes a document, as long as no decision hangs on it. */
  removeDocument(accountId: string, document: string, call: Call = {}): Promise<Models.ApprovalBody> {
    return this.transport.send({ method: "DELETE", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/documents/${segment(document)}` }, call);
  }

  /** Puts another file in a document's place, as long as no decision hangs on it. */
  replaceDocument(accountId: string, document: string, body: Uint8Array, mediaType: "application/pdf" | "image/jpeg" | "image/png", args: { kind: string; name?: string }, call: Call = {}): Promise<Models.DocumentBody> {
    return this.transport.send({ method: "PUT", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/documents/${segment(document)}`, args, bytes: body, mediaType }, call);
  }

  /** Has an event sent again, whatever became of it: at once, and with retries over a day. */
  replayOwnEvent(accountId: string, event: string, call: Call = {}): Promise<Models.EventBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/events/${segment(event)}/replay` }, call);
  }

  /** Replaces the secret. The one before works for 24 hours more, or not at all with `at_once`. */
  rotateCredentials(accountId: string, body: Models.RotateRequest | null | undefined, call: Call = {}): Promise<Models.CredentialsBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/rotate`, json: body }, call);
  }

  /** Replaces the secret that events are signed with, or makes the first one. The one before signs as well for 24 hours more, or not
at all with `at_once`, which takes a token that comes of a sign-in by a mailed code within the last 15 minutes. The owner is told
by mail. */
  rotateEventSecret(accountId: string, body: Models.RotateRequest | null | undefined, call: Call = {}): Promise<Models.WebhookBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/webhook/event-secret/rotate`, json: body }, call);
  }

  /** Replaces the webhook's signing key. The one before works for 24 hours more, or not at all with `at_once`. */
  rotateWebhookKey(accountId: string, body: Models.RotateRequest | null | undefined, call: Call = {}): Promise<Models.WebhookBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/webhook/rotate`, json: body }, call);
  }

  /** Keeps what the compliance review looks at: legal entity, tax number, licences, privacy policy. */
  setProfile(accountId: string, body: Models.ProfileBody, call: Call = {}): Promise<Models.OverviewBody> {
    return this.transport.send({ method: "PUT", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/profile`, json: body }, call);
  }

  /** Saves the webhook's address. A new address brings a new signing key, which is in this answer and in no other. */
  setWebhook(accountId: string, body: Models.WebhookRequest, call: Call = {}): Promise<Models.WebhookBody> {
    return this.transport.send({ method: "PUT", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/webhook`, json: body }, call);
  }

  /** Shows where an account stands, and what is next. */
  showAccount(accountId: string, call: Call = {}): Promise<Models.OverviewBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}`, repeatable: true }, call);
  }

  /** Shows the credentials, without a secret. */
  showCredentials(accountId: string, call: Call = {}): Promise<Models.CredentialsBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/credentials/${segment(accountId)}`, repeatable: true }, call);
  }

  /** Shows the latest manifest and the one in force. */
  showManifest(accountId: string, call: Call = {}): Promise<Models.ManifestsBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/manifest/${segment(accountId)}`, repeatable: true }, call);
  }

  /** Shows the connection, with what the last probe and the tests saw. */
  showOwnConnection(accountId: string, call: Call = {}): Promise<Models.ConnectionBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/connection/${segment(accountId)}`, repeatable: true }, call);
  }

  /** Shows one event, with every try to deliver it. */
  showOwnEvent(accountId: string, event: string, call: Call = {}): Promise<Models.EventBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/events/${segment(event)}`, repeatable: true }, call);
  }

  /** Shows an order by its identifier, by any that the partner has given it, or by the request identifier of its search or its
booking; the newest, where several are known by it. */
  showOwnOrder(accountId: string, order: string, call: Call = {}): Promise<Models.PartnerOrder> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/orders/${segment(order)}`, repeatable: true }, call);
  }

  /** Draws up the statement of one month, as JSON, as CSV, or as a page to print. */
  showOwnStatement(accountId: string, month: string, call: Call = {}): Promise<Models.StatementBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/statements/${segment(month)}`, repeatable: true }, call);
  }

  /** Shows how the partner's tools did in the last hour, every ten seconds: calls, failures and times, beside the targets. */
  showOwnTraffic(accountId: string, call: Call = {}): Promise<Models.PartnerTraffic> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/traffic`, repeatable: true }, call);
  }

  /** Shows the webhook, keys redacted, and how events are sent there. */
  showWebhook(accountId: string, call: Call = {}): Promise<Models.WebhookBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/webhook`, repeatable: true }, call);
  }

  /** Sends a code to an account's address, to enter it with. */
  signIn(body: Models.SignInRequest, call: Call = {}): Promise<Models.CodeSent> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/sign-in`, json: body }, call);
  }

  /** Sends a code to a corporate address, to open an account with. */
  signUp(body: Models.SignUpRequest, call: Call = {}): Promise<Models.CodeSent> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/sign-up`, json: body }, call);
  }

  /** Submits a manifest; the one before is replaced. */
  submitManifest(accountId: string, body: Record<string, unknown>, call: Call = {}): Promise<Models.SubmittedBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/manifest/${segment(accountId)}`, json: body }, call);
  }

  /** Counts the partner's findings of the last 30 days by rule and day, and shows its strikes and how long its tools take
beside their targets. */
  summarizeOwnFindings(accountId: string, call: Call = {}): Promise<Models.FindingsSummary> {
    return this.transport.send({ method: "GET", path: `/api/v1/business/tier1/accounts/${segment(accountId)}/findings/summary`, repeatable: true }, call);
  }

  /** Tries a wish: finds its intent and answers with a stub, and a sample of the intent's own. No partner is called. */
  testCall(accountId: string, body: Models.TestCallRequest, call: Call = {}): Promise<Models.TestCallAnswer> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/test-call`, json: body }, call);
  }

  /** Sends an event `webhook.test`, to try the webhook; at most ten in an hour. */
  testWebhook(accountId: string, call: Call = {}): Promise<Models.EventBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/credentials/${segment(accountId)}/webhook/test` }, call);
  }

  /** Tries a mapping on an answer of the API that is pasted: what would be sent, what becomes of the answer, and what the
intent's contract says of each option. */
  tryMapping(accountId: string, body: Models.TrialBody, call: Call = {}): Promise<Models.TrialResult> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier1/manifest/${segment(accountId)}/try`, json: body }, call);
  }

  /** Undoes a change of the account's secrets or addresses, with the code of the mail that told its owner of it. */
  undoChange(body: Models.UndoRequest, call: Call = {}): Promise<Models.UndoneBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/undo`, json: body }, call);
  }

  /** Takes the code of a sign-up or a sign-in, and gives a token of the account. */
  verifyCode(body: Models.VerifyRequest, call: Call = {}): Promise<Models.SignedIn> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/sign-up/verify`, json: body }, call);
  }

  /** Writes the manifest of a business that has no server and is reached by phone, out of a short form. */
  writePhoneManifest(accountId: string, body: Record<string, unknown>, call: Call = {}): Promise<Models.PhoneManifestBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/business/tier2/manifest/${segment(accountId)}`, json: body }, call);
  }
}

/** What the platform team may call. */
export class PlatformOperations {
  constructor(readonly transport: Transport) {}

  /** Takes a live partner's changed tools as they are: approves the review of its drift that is open. */
  acceptDrift(id: string, body: Models.ReasonRequest, call: Call = {}): Promise<Models.ConnectionBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/mcp-admin/${segment(id)}/accept-drift`, json: body }, call);
  }

  /** Pauses a rollout, resumes or aborts it, or goes on without waiting for what a stage lacks. */
  actOnRollout(intent: string, body: Models.RolloutOrder, call: Call = {}): Promise<Models.Rollouts> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/intents/${segment(intent)}/rollout`, json: body }, call);
  }

  /** Makes a loaded version live: a release, or a rollback. */
  activateContract(digest: string, args: { at_once?: boolean } = {}, call: Call = {}): Promise<Models.ActivationOutcome | Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/contracts/${segment(digest)}/activate`, args }, call);
  }

  /** Revokes a key or a component, for good. */
  addRevocation(body: Models.RevocationOrder, call: Call = {}): Promise<Models.RevocationDone> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/contracts/revocations`, json: body }, call);
  }

  /** Approves what waits: it is carried out in the name of whoever asked, and answered as if that request had come now. */
  approveRequest(approval: string, call: Call = {}): Promise<unknown> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/approvals/${segment(approval)}/approve` }, call);
  }

  /** Compares a version of a contract with what was ranked before, without serving anybody by it. */
  compareVersions(body: Uint8Array | undefined, args: { digest?: string; against?: string; since_ms?: number; limit?: number } = {}, call: StreamCall = {}): AsyncGenerator<Models.ComparisonEvent, void, undefined> {
    return this.transport.events({ method: "POST", path: `/api/v1/admin/contracts/compare`, args, bytes: body, mediaType: "application/wasm" }, false, call);
  }

  /** Takes an entry back and books what is right in its place, both or neither. */
  correctLedgerEntry(number: string, body: Models.CorrectionRequest, call: Call = {}): Promise<Models.CorrectedBody | Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/ledger/entries/${segment(number)}/correction`, json: body }, call);
  }

  /** Counts the connections by state. */
  countConnections(call: Call = {}): Promise<Models.ConnectionCounts> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/connections/summary`, repeatable: true }, call);
  }

  /** Decides a review. An approval needs every item of the checklist passed or confirmed; the privacy policy is fetched for it
once more. */
  decideReview(review: string, body: Models.DecisionRequest, call: Call = {}): Promise<Models.ReviewBody | Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/reviews/${segment(review)}/decision`, json: body }, call);
  }

  /** Exports receipts of an intent without the people whose rankings they are, for authors who compare versions elsewhere. */
  exportReceipts(args: { intent: string; since_ms?: number; limit?: number }, call: StreamCall = {}): AsyncGenerator<Models.ExportEvent, void, undefined> {
    return this.transport.events({ method: "POST", path: `/api/v1/admin/receipts/export`, args }, false, call);
  }

  /** Says that the process serves. */
  health(call: Call = {}): Promise<Models.Health> {
    return this.transport.send({ method: "GET", path: `/health`, repeatable: true }, call);
  }

  /** Lifts a suspension: back to the sandbox, through probe, test and approval again. */
  liftSuspension(id: string, body: Models.ReasonRequest, call: Call = {}): Promise<Models.ConnectionBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/mcp-admin/${segment(id)}/lift`, json: body }, call);
  }

  /** Lists the accounts, in order of their identifiers. */
  listAccounts(args: { after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.AccountList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/accounts`, args, repeatable: true }, call);
  }

  /** Lists the accounts, in order of their identifiers. One after the other, over all pages. */
  async *iterateAccounts(args: { after?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.AccountSummary, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listAccounts(turn, call);
      yield* page.accounts;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists orders, newest first; all of them, those at a partner, or those that are known by something. */
  listAllOrders(args: { known_as?: string; partner?: string; before?: string; limit?: number; intent?: string; state?: string; open?: boolean; in_doubt?: boolean } = {}, call: Call = {}): Promise<Models.OrderList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/orders`, args, repeatable: true }, call);
  }

  /** Lists orders, newest first; all of them, those at a partner, or those that are known by something. One after the other, over all pages. */
  async *iterateAllOrders(args: { known_as?: string; partner?: string; before?: string; limit?: number; intent?: string; state?: string; open?: boolean; in_doubt?: boolean } = {}, call: Call = {}): AsyncGenerator<Models.OrderSummary, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listAllOrders(turn, call);
      yield* page.orders;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists what waits for a second person, oldest first. Nothing begins to wait unless `auth.second_person` is set. */
  listApprovals(call: Call = {}): Promise<Models.ApprovalList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/approvals`, repeatable: true }, call);
  }

  /** Reads the audit log, oldest first. */
  listAuditEntries(args: { after?: number; limit?: number; subject?: string } = {}, call: Call = {}): Promise<Models.AuditPage> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/audit`, args, repeatable: true }, call);
  }

  /** Reads the audit log, oldest first. One after the other, over all pages. */
  async *iterateAuditEntries(args: { after?: number; limit?: number; subject?: string } = {}, call: Call = {}): AsyncGenerator<Models.AuditEntryBody, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listAuditEntries(turn, call);
      yield* page.entries;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists the connections, in order of their accounts. */
  listConnections(args: { status?: Models.ConnectionStatus; after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.ConnectionList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/connections`, args, repeatable: true }, call);
  }

  /** Lists the connections, in order of their accounts. One after the other, over all pages. */
  async *iterateConnections(args: { status?: Models.ConnectionStatus; after?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.ConnectionBody, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listConnections(turn, call);
      yield* page.connections;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists every contract version that is ready at this gateway, live or not, and those that it could not make ready. */
  listContracts(call: Call = {}): Promise<Models.LoadedVersions> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/contracts`, repeatable: true }, call);
  }

  /** Shows what was delivered in the last 90 days, out of completion reports, beside the signals that are declared. */
  listDelivered(args: { partner?: string } = {}, call: Call = {}): Promise<Models.DeliveredList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/delivered`, args, repeatable: true }, call);
  }

  /** Lists the latest failures to load or to go on serving. */
  listFailures(call: Call = {}): Promise<Models.LoadFailures> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/contracts/failures`, repeatable: true }, call);
  }

  /** Lists the faults of an intent's contracts, newest first: of each intent the latest 100 are kept, for at most 30 days. */
  listFaults(intent: string, args: { before?: number; limit?: number } = {}, call: Call = {}): Promise<Models.ContractFaults> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/intents/${segment(intent)}/faults`, args, repeatable: true }, call);
  }

  /** Lists the faults of an intent's contracts, newest first: of each intent the latest 100 are kept, for at most 30 days. One after the other, over all pages. */
  async *iterateFaults(intent: string, args: { before?: number; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.ContractFault, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listFaults(intent, turn, call);
      yield* page.faults;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists what was found in a partner's answers and completion reports. */
  listFindings(partner: string, args: { before?: number; limit?: number; severity?: string; source?: string; intent?: string; code?: string } = {}, call: Call = {}): Promise<Models.PartnerFindings> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners/${segment(partner)}/findings`, args, repeatable: true }, call);
  }

  /** Lists what was found in a partner's answers and completion reports. One after the other, over all pages. */
  async *iterateFindings(partner: string, args: { before?: number; limit?: number; severity?: string; source?: string; intent?: string; code?: string } = {}, call: Call = {}): AsyncGenerator<Models.Finding, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listFindings(partner, turn, call);
      yield* page.findings;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists the gateways that share the store and live, and who does the work that one does for all. */
  listGateways(call: Call = {}): Promise<Models.GatewayList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/gateways`, repeatable: true }, call);
  }

  /** Shows how partners fare in service. */
  listHealth(args: { after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.HealthList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/health`, args, repeatable: true }, call);
  }

  /** Shows how partners fare in service. One after the other, over all pages. */
  async *iterateHealth(args: { after?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.HealthBody, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listHealth(turn, call);
      yield* page.partners;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Reads the ledger, in its order. */
  listLedgerEntries(args: { after?: number; limit?: number } = {}, call: Call = {}): Promise<Models.EntryPage> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/ledger/entries`, args, repeatable: true }, call);
  }

  /** Reads the ledger, in its order. One after the other, over all pages. */
  async *iterateLedgerEntries(args: { after?: number; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.EntryBody, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listLedgerEntries(turn, call);
      yield* page.entries;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists the notices, in the order in which they take effect. */
  listNotices(args: { after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.NoticeList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/notices`, args, repeatable: true }, call);
  }

  /** Lists the notices, in the order in which they take effect. One after the other, over all pages. */
  async *iterateNotices(args: { after?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.NoticeBody, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listNotices(turn, call);
      yield* page.notices;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists overdue orders, the one opened first at the head. */
  listOverdue(args: { after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.OverdueList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/overdue-orders`, args, repeatable: true }, call);
  }

  /** Lists overdue orders, the one opened first at the head. One after the other, over all pages. */
  async *iterateOverdue(args: { after?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.OverdueOrder, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listOverdue(turn, call);
      yield* page.orders;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists the partners. */
  listPartners(call: Call = {}): Promise<Models.PartnerList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners`, repeatable: true }, call);
  }

  /** Lists the rankings of an intent, those that were kept last first. */
  listRankings(intent: string, args: { before?: number; partner?: string; since_ms?: number; until_ms?: number } = {}, call: Call = {}): Promise<Models.RankingList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/intents/${segment(intent)}/rankings`, args, repeatable: true }, call);
  }

  /** Lists the rankings of an intent, those that were kept last first. One after the other, over all pages. */
  async *iterateRankings(intent: string, args: { before?: number; partner?: string; since_ms?: number; until_ms?: number } = {}, call: Call = {}): AsyncGenerator<Models.RankingSummary, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listRankings(intent, turn, call);
      yield* page.rankings;
      if (page.next == null) return;
      turn = { ...turn, before: page.next };
    }
  }

  /** Lists the receipts of a request, newest first, at most 100. */
  listReceipts(args: { request_id: string }, call: Call = {}): Promise<Models.RankingReceipts> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/receipts`, args, repeatable: true }, call);
  }

  /** Lists the reviews, in the order in which they were opened. */
  listReviews(args: { status?: Models.ReviewState; after?: string; limit?: number } = {}, call: Call = {}): Promise<Models.ReviewList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/reviews`, args, repeatable: true }, call);
  }

  /** Lists the reviews, in the order in which they were opened. One after the other, over all pages. */
  async *iterateReviews(args: { status?: Models.ReviewState; after?: string; limit?: number } = {}, call: Call = {}): AsyncGenerator<Models.ReviewSummary, void, undefined> {
    for (let turn = args; ; ) {
      const page = await this.listReviews(turn, call);
      yield* page.reviews;
      if (page.next == null) return;
      turn = { ...turn, after: page.next };
    }
  }

  /** Lists what is revoked, in the order in which it was. */
  listRevocations(call: Call = {}): Promise<Models.RevocationList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/contracts/revocations`, repeatable: true }, call);
  }

  /** Lists the settings in force at the gateway that answers, each with where it was given. Gateways of one store may differ. */
  listSettings(call: Call = {}): Promise<Models.SettingList> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/settings`, repeatable: true }, call);
  }

  /** Lists the months of which a partner has statements with lines. */
  listStatements(partner: string, call: Call = {}): Promise<Models.MonthsBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners/${segment(partner)}/statements`, repeatable: true }, call);
  }

  /** Says that the process turns, and nothing else: whoever asks restarts it where no answer comes. */
  live(call: Call = {}): Promise<Models.Liveness> {
    return this.transport.send({ method: "GET", path: `/live`, repeatable: true }, call);
  }

  /** Loads a contract. */
  loadContract(body: Uint8Array, args: { activate?: boolean; allow_removed_values?: boolean } = {}, call: Call = {}): Promise<Models.LoadOutcome> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/contracts`, args, bytes: body, mediaType: "application/wasm" }, call);
  }

  /** Probes a partner: `initialize`, then `tools/list`, and no call. */
  probeConnection(id: string, call: Call = {}): Promise<Models.ProbeAnswer> {
    return this.transport.send({ method: "POST", path: `/api/v1/mcp-admin/${segment(id)}/probe` }, call);
  }

  /** Rolls a loaded version out, stage by stage. */
  promoteContract(digest: string, body: Models.PromotionOrder, call: Call = {}): Promise<Models.Rollout | Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/contracts/${segment(digest)}/promote`, json: body }, call);
  }

  /** Publishes a notice: partners whom it concerns see it, and are told by mail and at their webhooks; again a week before it takes
effect. */
  publishNotice(body: Models.NoticeRequest, call: Call = {}): Promise<Models.NoticeBody | Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/notices`, json: body }, call);
  }

  /** Hands a document over as a file. That it was read, and by whom, is in the audit log first. */
  readDocument(id: string, document: string, call: Call = {}): Promise<Uint8Array> {
    return this.transport.bytes({ method: "GET", path: `/api/v1/admin/accounts/${segment(id)}/documents/${segment(document)}`, repeatable: true }, call);
  }

  /** Says whether the process should get traffic, and what is not as it should be. */
  ready(call: Call = {}): Promise<Models.Readiness> {
    return this.transport.send({ method: "GET", path: `/ready`, repeatable: true }, call);
  }

  /** Records a strike that no answer and no report shows, such as a warranty re-service that was declined. */
  recordStrike(partner: string, body: Models.StrikeRequest, call: Call = {}): Promise<Models.StrikeTaken> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/partners/${segment(partner)}/strikes`, json: body }, call);
  }

  /** Refuses what waits. Whoever asked for it may take it back so. */
  refuseRequest(approval: string, call: Call = {}): Promise<Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/approvals/${segment(approval)}/refuse` }, call);
  }

  /** Ranks anew what a receipt holds, by the very component that ranked it, and compares the outcomes. Nobody is asked
and nothing is kept. */
  replayReceipt(receipt: string, args: { revoked_because?: string; under?: string } = {}, call: Call = {}): Promise<Models.RankingReplay> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/receipts/${segment(receipt)}/replay`, args }, call);
  }

  /** Takes an entry back, and books nothing in its place. */
  reverseLedgerEntry(number: string, body: Models.ReasonRequest, call: Call = {}): Promise<Models.EntryBody | Models.ApprovalBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/ledger/entries/${segment(number)}/reversal`, json: body }, call);
  }

  /** Says what new versions of an intent do that are found in a gateway's contract folder: go live, or wait for somebody. */
  setPolicy(intent: string, body: Models.PolicyOrder, call: Call = {}): Promise<void> {
    return this.transport.send({ method: "PUT", path: `/api/v1/admin/intents/${segment(intent)}/policy`, json: body }, call);
  }

  /** Shows a request that waits with all that it says, to whoever has the scope that it names. */
  showApproval(approval: string, call: Call = {}): Promise<Models.ApprovalDetail> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/approvals/${segment(approval)}`, repeatable: true }, call);
  }

  /** Shows a partner's connection. */
  showConnection(id: string, call: Call = {}): Promise<Models.ConnectionBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/mcp-admin/${segment(id)}`, repeatable: true }, call);
  }

  /** This document. */
  showDocument(call: Call = {}): Promise<unknown> {
    return this.transport.send({ method: "GET", path: `/openapi.json`, repeatable: true }, call);
  }

  /** Shows a fault with the call that led to it. That it was read, and by whom, is in the audit log first. */
  showFault(intent: string, number: string, call: Call = {}): Promise<Models.ContractFaultFile> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/intents/${segment(intent)}/faults/${segment(number)}`, repeatable: true }, call);
  }

  /** Shows how one partner fares in service. */
  showHealth(partner: string, call: Call = {}): Promise<Models.HealthBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners/${segment(partner)}/health`, repeatable: true }, call);
  }

  /** Shows an entry, and whether it was taken back. */
  showLedgerEntry(number: string, call: Call = {}): Promise<Models.EntryDetail> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/ledger/entries/${segment(number)}`, repeatable: true }, call);
  }

  /** Shows all metrics, in Prometheus' text format. */
  showMetrics(call: Call = {}): Promise<Uint8Array> {
    return this.transport.bytes({ method: "GET", path: `/api/v1/admin/metrics`, repeatable: true }, call);
  }

  /** Shows a notice, and how far partners have been told. */
  showNotice(notice: string, call: Call = {}): Promise<Models.NoticeBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/notices/${segment(notice)}`, repeatable: true }, call);
  }

  /** Shows an order whole: what was ordered, how far it is and what happened to it, its receipts, and the findings about it. */
  showOrderRecord(orderId: string, call: Call = {}): Promise<Models.OrderRecord> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/orders/${segment(orderId)}`, repeatable: true }, call);
  }

  /** Shows how the tools of a partner did in the last hour, every ten seconds: calls, failures and times, beside the targets. */
  showPartnerTraffic(partner: string, call: Call = {}): Promise<Models.PartnerTraffic> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners/${segment(partner)}/traffic`, repeatable: true }, call);
  }

  /** Shows a receipt whole: the request's arguments, every partner's options, and their outcomes. */
  showReceipt(receipt: string, call: Call = {}): Promise<Models.ShownReceipt> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/receipts/${segment(receipt)}`, repeatable: true }, call);
  }

  /** Shows a review with its checklist. While it is open, the privacy policy is fetched anew. */
  showReview(review: string, args: { wait_ms?: number } = {}, call: Call = {}): Promise<Models.ReviewBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/reviews/${segment(review)}`, args, repeatable: true }, call);
  }

  /** Shows the rollout of an intent that is under way, with what was seen of it, and how the last one ended. */
  showRollout(intent: string, args: { course?: boolean } = {}, call: Call = {}): Promise<Models.Rollouts> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/intents/${segment(intent)}/rollout`, args, repeatable: true }, call);
  }

  /** Draws up a partner's statement of one month, as JSON, as CSV, or as a page to print. */
  showStatement(partner: string, month: string, call: Call = {}): Promise<Models.StatementBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners/${segment(partner)}/statements/${segment(month)}`, repeatable: true }, call);
  }

  /** Shows what is to serve each intent, and what each gateway that shares the store has ready and serves. */
  showStatuses(args: { intent?: string } = {}, call: Call = {}): Promise<Models.IntentStatuses> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/contracts/status`, args, repeatable: true }, call);
  }

  /** Shows what went on at intents in the last hour, every ten seconds: searches by outcome and, of one intent, how long each stage took. */
  showTraffic(args: { intent?: string } = {}, call: Call = {}): Promise<Models.TrafficBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/traffic`, args, repeatable: true }, call);
  }

  /** Shows the balances of all accounts, as of one moment. */
  showTrialBalance(call: Call = {}): Promise<Models.TrialBalanceBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/ledger/trial-balance`, repeatable: true }, call);
  }

  /** Counts a partner's findings of the last 30 days by rule and day, and shows its strikes and how long its tools take
beside their targets. */
  summarizeFindings(partner: string, call: Call = {}): Promise<Models.FindingsSummary> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/partners/${segment(partner)}/findings/summary`, repeatable: true }, call);
  }

  /** Shows what is overdue partner by partner: how many orders, for how long, and the commission at stake. */
  summarizeOverdue(call: Call = {}): Promise<Models.OverdueSummary> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/overdue-orders/summary`, repeatable: true }, call);
  }

  /** Takes a live connection out; the partner is told the reason by e-mail. */
  suspendConnection(id: string, body: Models.ReasonRequest, call: Call = {}): Promise<Models.ConnectionBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/mcp-admin/${segment(id)}/suspend`, json: body }, call);
  }

  /** Switches a connection on: from then on, users' requests are routed to it. */
  switchOnConnection(id: string, call: Call = {}): Promise<Models.SwitchedOn> {
    return this.transport.send({ method: "POST", path: `/api/v1/mcp-admin/${segment(id)}/switch-on` }, call);
  }

  /** Runs an intent's go-live requirements against a partner and records the report. */
  testConnection(id: string, body: Models.TestRequest, call: Call = {}): Promise<Models.TestReport> {
    return this.transport.send({ method: "POST", path: `/api/v1/mcp-admin/${segment(id)}/test`, json: body }, call);
  }

  /** Takes an intent out of service. Its versions stay loaded and can be activated again. */
  unloadIntent(intent: string, call: Call = {}): Promise<Models.ApprovalBody> {
    return this.transport.send({ method: "DELETE", path: `/api/v1/admin/intents/${segment(intent)}` }, call);
  }

  /** Follows the audit log from its first entry to its last, and compares it with its anchors. */
  verifyAudit(call: Call = {}): Promise<Models.AuditVerified> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/audit/verify`, repeatable: true }, call);
  }

  /** Verifies the ledger: every invariant, from the stored entries, and whether they are what was anchored. */
  verifyLedger(args: { expect_head?: string } = {}, call: Call = {}): Promise<Models.VerifiedBody> {
    return this.transport.send({ method: "GET", path: `/api/v1/admin/ledger/verify`, args, repeatable: true }, call);
  }

  /** No longer wants the version that an intent waits for. What serves goes on. */
  withdrawComing(intent: string, call: Call = {}): Promise<void> {
    return this.transport.send({ method: "DELETE", path: `/api/v1/admin/intents/${segment(intent)}/coming` }, call);
  }

  /** Withdraws a notice that has not taken effect. Whoever was told of it is told so. */
  withdrawNotice(notice: string, body: Models.WithdrawNoticeRequest, call: Call = {}): Promise<Models.NoticeBody> {
    return this.transport.send({ method: "POST", path: `/api/v1/admin/notices/${segment(notice)}/withdraw`, json: body }, call);
  }
}
