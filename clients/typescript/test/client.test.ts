// The client against a gateway with a garage behind it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { join } from "node:path";
import { promisify } from "node:util";

import { clientCredentials, Gateway, GatewayError, NotAnswered, Refused, signReport, type Models } from "@intent-gateway/client";
import { BOOKING, bookingOf, GARAGE, INTENT, Proxy, SEARCH, SIGNING_KEY, World } from "./world.js";

let world: World;

before(async () => {
  world = await World.start();
  const shipped = await world.shipContract();
  assert.ok("live" in shipped && shipped.live, "no second person is asked for here");
});

after(() => world.stop());

/** The best option of a search. */
async function bestOption(gateway: Gateway, user: string): Promise<Models.SearchOption> {
  const { options } = await gateway.orchestrator.search(INTENT, SEARCH, { user });
  assert.ok(options[0], "the garage has something to offer");
  return options[0];
}

async function book(gateway: Gateway, user: string): Promise<Models.ToolAnswer> {
  return gateway.orchestrator.callOnce(INTENT, BOOKING, bookingOf(await bestOption(gateway, user)), { user });
}

function refused(code: string): (error: unknown) => boolean {
  return (error) => error instanceof Refused && error.code === code;
}

test("an utterance is classified, and a search gives typed options", async () => {
  const gateway = world.as("asks");
  const { decision, intent } = await gateway.orchestrator.classify({ utterance: "my car's AC blows warm air" });
  assert.deepEqual([decision, intent], ["intent", INTENT]);
  const answer = await gateway.orchestrator.search(INTENT, SEARCH, { user: "u" });
  const [option] = answer.options;
  assert.equal(option?.partner, GARAGE);
  assert.ok(option.axes.safety > 0 && option.bookable);
  assert.equal(answer.partners[0]?.status, "answered");
});

test("a search shows what it has, and ends", async () => {
  const names = [];
  for await (const event of world.as("watches").orchestrator.streamSearch(INTENT, SEARCH, { user: "u" })) {
    names.push(event.event);
    if (event.event === "snapshot") assert.ok(event.data.complete && event.data.options.length > 0);
    if (event.event === "end") assert.equal(event.data.reason, "complete");
  }
  assert.deepEqual(names, ["snapshot", "end"]);
});

test("a tool books, and its order is read back", async () => {
  const gateway = world.as("books");
  const { order, payload } = await book(gateway, "u");
  assert.ok(order);
  const read = await gateway.orchestrator.showOrder(order.id, { user: "u" });
  assert.equal(read.state, "booked");
  assert.ok(read.identifiers.includes(String(payload["booking_id"])));
  await assert.rejects(gateway.orchestrator.showOrder(order.id, { user: "somebody-else" }), refused("NOT_FOUND"));
});

test("a call whose answer is lost is sent again, and books once", async () => {
  let lost = 0;
  const lossy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes("/tools/") || lost > 0) return response;
    await response.arrayBuffer();
    lost += 1;
    throw new TypeError("the answer is lost");
  };
  const gateway = world.as("loses", { fetch: lossy });
  const { order } = await book(gateway, "u");
  const { orders } = await gateway.orchestrator.listOrders({ user: "u" });
  assert.deepEqual([lost, orders.map((one) => one.id)], [1, [order?.id]]);
  // Nobody knows what a call without a key has done, so it is not sent again.
  lost = 0;
  const call = gateway.orchestrator.callTool(INTENT, BOOKING, bookingOf(await bestOption(gateway, "u")), { user: "u" });
  await assert.rejects(call, NotAnswered);
});

test("an unknown intent is refused by its code", async () => {
  const search = world.as("errs").orchestrator.search("auto.fly", {}, { user: "u" });
  await assert.rejects(search, (error) => {
    assert.ok(error instanceof Refused && error instanceof GatewayError);
    assert.ok(error.is("INVALID_INTENT"));
    assert.equal(error.status, 404);
    assert.match(error.requestId, /^[0-9a-f-]{36}$/);
    return true;
  });
});

test("a request that is not valid is refused with every violation", async () => {
  const request = { ...SEARCH, ac_issue: { ...SEARCH.ac_issue, category: "melting" }, vehicle: { ...SEARCH.vehicle, type: "boat" } };
  await assert.rejects(world.as("errs").orchestrator.search(INTENT, request), (error) => {
    assert.ok(error instanceof Refused && error.is("INVALID_REQUEST") && error.status === 400);
    const found = error.violations.map(({ pointer, code }) => `${pointer} ${code}`);
    assert.deepEqual(found.sort(), ["/ac_issue/category NOT_IN_VOCABULARY", "/vehicle/type NOT_IN_VOCABULARY"]);
    return true;
  });
});

test("a report that is signed is booked once; one that is signed badly is refused", async () => {
  const gateway = world.as("reported");
  const option = await bestOption(gateway, "u");
  const { payload, request_id } = await gateway.orchestrator.callOnce(INTENT, BOOKING, bookingOf(option), { user: "u" });
  const chosen = option.option as { estimated_price: { labour_inr: number }; service_scope: { code: string } };
  const report = {
    intent: INTENT,
    external_id: String(payload["booking_id"]),
    request_id,
    status: "completed",
    amount_inr: chosen.estimated_price.labour_inr,
    gst_inr: 0,
    tips_inr: 0,
    pass_through_inr: 0,
    closed_at: new Date().toISOString(),
    service_scope_performed: chosen.service_scope.code,
    warranty_card_issued: true,
  };
  const { partner } = new Gateway({ url: world.url });
  await assert.rejects(partner.report(GARAGE, "whsec_of_somebody_else", report), refused("SIGNATURE_INVALID"));
  const first = await partner.report(GARAGE, SIGNING_KEY, report);
  const again = await partner.report(GARAGE, SIGNING_KEY, report);
  assert.equal(again.receipt_id, first.receipt_id);
  const entries = [];
  for await (const entry of world.platform.iterateLedgerEntries({ limit: 1 })) entries.push(entry);
  assert.deepEqual(entries.map((entry) => entry.external_id), [report.external_id]);
  await assert.rejects(partner.report(GARAGE, SIGNING_KEY, { ...report, amount_inr: 1 }), refused("IDEMPOTENCY_CONFLICT"));
});

test("signatures are those of the vectors", async () => {
  const key = "whsec_3f9a5c1e8b7d2046a1c3e5f7092b4d6f8193a5b7c9dbedf00112233445566778";
  const body = new TextEncoder().encode('{"external_id":"POL/2026/000042","notes":"नमस्ते ₹ 1,500"}');
  const headers = await signReport(key, body, 1779264000123);
  const signature = "sha256=118746c0ca421fc8f6b1932996c35ff43cdacf46ffcd315b62fc49efa266ef61";
  assert.deepEqual(headers, { "x-platform-timestamp": "1779264000123", "x-platform-signature": signature });
});

test("a list of several pages is one list", async () => {
  let asked = 0;
  const counting: typeof fetch = (input, init) => {
    asked += 1;
    return fetch(input, init);
  };
  const gateway = world.as("lists", { fetch: counting });
  const booked = [await book(gateway, "u"), await book(gateway, "u"), await book(gateway, "u")].map(({ order }) => order?.id);
  asked = 0;
  const listed = [];
  for await (const order of gateway.orchestrator.iterateOrders({ user: "u", limit: 1, intent: INTENT })) listed.push(order.id);
  assert.deepEqual(listed, booked.reverse());
  assert.ok(asked >= 3, "each page was asked for");
});

test("what there is too much of is asked for again when the gateway says", async (context) => {
  const waits: [string, number | undefined, number][] = [];
  const holder = world.as("holds");
  await book(holder, "u");
  const held = holder.orchestrator.streamOrderEvents();
  context.after(() => held.return());
  assert.equal((await held.next()).value?.event, "order");
  const gateway = world.as("waits", {
    onRetry: (error, waitMs) => {
      if (error instanceof Refused) waits.push([error.code, error.retryAfter, waitMs]);
      void held.return();
    },
  });
  const events = [];
  for await (const event of gateway.orchestrator.streamSearch(INTENT, SEARCH)) events.push(event.event);
  assert.equal(events.at(-1), "end");
  assert.deepEqual(waits[0], ["OVERLOADED", 1, 1000]);
  // Whoever is not patient gets the refusal.
  const again = holder.orchestrator.streamOrderEvents();
  context.after(() => again.return());
  await again.next();
  await assert.rejects(world.as("hurries", { retries: 0 }).orchestrator.streamSearch(INTENT, SEARCH).next(), refused("OVERLOADED"));
});

test("a stream that is cut goes on behind its last event", async (context) => {
  const proxy = await Proxy.to(world.url);
  context.after(() => proxy.close());
  const direct = world.as("follows");
  const first = await book(direct, "u");
  const cuts: GatewayError[] = [];
  const events = world.as("follows", { url: proxy.url, onRetry: (error) => cuts.push(error) }).orchestrator.streamOrderEvents();
  context.after(() => events.return());
  let last = "";
  const next = async (stream: typeof events) => {
    const { value } = await stream.next();
    assert.ok(value?.event === "order" && value.id);
    last = value.id;
    return value.data.order;
  };
  assert.equal(await next(events), first.order?.id);
  proxy.cut();
  const second = await book(direct, "u");
  assert.equal(await next(events), second.order?.id);
  assert.ok(cuts[0] instanceof NotAnswered);
  // Another process goes on where this one was.
  await events.return();
  const third = await book(direct, "u");
  const later = direct.orchestrator.streamOrderEvents({}, { lastEventId: last });
  context.after(() => later.return());
  assert.equal(await next(later), third.order?.id);
});

test("a stream that the gateway ends for a while goes on", async () => {
  const seen: (string | null)[] = [];
  const ending = (id: string, reason: string, resume: boolean) =>
    `retry: 1\nid: ${id}\nevent: order\ndata: {"order":\ndata: "ord_${id}"}\n\nevent: end\ndata: ${JSON.stringify({ reason, resume })}\n\n`;
  const scripted: typeof fetch = async (_, init) => {
    seen.push(new Headers(init?.headers).get("last-event-id"));
    return new Response(seen.length === 1 ? ending("1", "shutdown", true) : ending("2", "failed", false));
  };
  const events = [];
  for await (const event of new Gateway({ url: world.url, fetch: scripted }).orchestrator.streamOrderEvents()) {
    events.push(event.event === "order" ? event.data.order : event.data.reason);
  }
  assert.deepEqual([events, seen], [["ord_1", "ord_2", "failed"], [null, "1"]]);
});

test("a business signs up, and hands in what is reviewed", async () => {
  const open = new Gateway({ url: world.url });
  await open.partner.signUp({ email: "asha@coolcar.example", business_name: "CoolCar" });
  const code = await world.mailedCode();
  const { account_id: account, token } = await open.partner.verifyCode({ email: "asha@coolcar.example", code });
  const { client_id, client_secret } = await new Gateway({ url: world.url, token }).partner.issueCredentials(account);
  assert.ok(client_id && client_secret);
  let fetched = 0;
  const counting: typeof fetch = (input, init) => {
    fetched += 1;
    return fetch(input, init);
  };
  const credentials = clientCredentials({ url: world.url, fetch: counting }, client_id, client_secret);
  const { partner } = new Gateway({ url: world.url, token: credentials });
  await Promise.all([partner.showAccount(account), partner.showManifest(account).catch(() => undefined)]);
  assert.equal(fetched, 1, "requests that begin at once share a token");
  const listing = {
    intent: INTENT,
    domain: "auto",
    intent_version: "v1.0.0",
    description: "Car AC diagnosis and repair.",
    pricing: { min: 500, max: 15000, currency: "INR" },
    service_area: ["Bengaluru"],
  };
  await partner.submitManifest(account, { businessName: "CoolCar", intents: [listing], submitForReview: true });
  await assert.rejects(
    partner.submitManifest(account, { businessName: "CoolCar", intents: [{ ...listing, pricing: { ...listing.pricing, min: 50000 } }] }),
    (error) => error instanceof Refused && error.violations[0]?.code === "MIN_ABOVE_MAX",
  );
  const { next } = await partner.showAccount(account);
  assert.ok(next.some((step) => step.code === "CONNECTION"));
  const { orders } = await partner.listOwnOrders(account);
  assert.deepEqual(orders, []);
  const reviews = [];
  for await (const review of world.platform.iterateReviews({ status: "open" })) reviews.push(review.account_id);
  assert.deepEqual(reviews, [account]);
});

test("the example runs", async () => {
  const example = join(import.meta.dirname, "../../../examples/clients/book.mjs");
  const env = { INTENT_GATEWAY_URL: world.url, INTENT_GATEWAY_TOKEN: world.token("orchestrator", "example") };
  const { stdout } = await promisify(execFile)(process.execPath, [example, "my car's AC blows warm air"], { env });
  assert.match(stdout, /^auto\.book_ac_service\n.*best: Torque & Tonic.*\nord_\S+ is booked\n$/s);
});
