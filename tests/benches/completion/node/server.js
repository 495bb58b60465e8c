// Takes completion reports as a Node service would: fastify, node:crypto and better-sqlite3, each used as its own
// documentation shows. `--commit each` makes every report durable by itself; `--commit group` lets all reports
// that the event loop has read in one turn share a commit, which is the most that one SQLite connection can do.
//
// Durability is the gateway's: write-ahead log, synchronous FULL, nothing acknowledged before its commit. There is no
// contract, no comparison with what was quoted and no ledger behind it: only what the bench compares.

import { createHash, createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import fastify from "fastify";

const WINDOW_MS = 5 * 60 * 1000;
const REPORT_MAX_BYTES = 64 * 1024;
const COMMISSION_BASIS_POINTS = 1000;
const TEXTS = ["intent", "external_id", "request_id", "closed_at", "status"];
const AMOUNTS = ["amount_inr", "gst_inr", "tips_inr", "pass_through_inr"];

const { values: options } = parseArgs({ options: { database: { type: "string" }, commit: { type: "string" } } });
const text = process.env.WEBHOOK_SIGNING_KEY;
if (!text || !options.database || !["each", "group"].includes(options.commit)) {
  console.error("usage: WEBHOOK_SIGNING_KEY=... node server.js --database FILE --commit each|group");
  process.exit(2);
}
const key = createSecretKey(text, "utf8");

const database = new Database(options.database);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec(`CREATE TABLE IF NOT EXISTS reports (
  receipt INTEGER PRIMARY KEY,
  partner TEXT NOT NULL, intent TEXT NOT NULL, external_id TEXT NOT NULL, request_id TEXT NOT NULL,
  status TEXT NOT NULL, amount INTEGER NOT NULL, commission INTEGER NOT NULL, closed_at TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL, content BLOB NOT NULL,
  UNIQUE (partner, intent, external_id)
)`);
const insert = database.prepare(`INSERT INTO reports
  (partner, intent, external_id, request_id, status, amount, commission, closed_at, received_at_ms, content)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
const find = database.prepare(
  "SELECT receipt, content FROM reports WHERE partner = ? AND intent = ? AND external_id = ?",
);

/** Inserts one report; the answer's status and body. */
function book(partner, report, content) {
  const amount = Math.round(report.amount_inr * 100);
  const charged = report.status === "completed" ? amount : 0;
  const commission = Math.round((charged * COMMISSION_BASIS_POINTS) / 10_000);
  const { intent, external_id, request_id, status, closed_at } = report;
  const inserted = insert.run(
    partner, intent, external_id, request_id, status, amount, commission, closed_at, Date.now(), content,
  );
  let receipt = inserted.lastInsertRowid;
  if (inserted.changes === 0) {
    const kept = find.get(partner, intent, external_id);
    if (!kept.content.equals(content)) return [409, { code: "IDEMPOTENCY_CONFLICT" }];
    receipt = kept.receipt;
  }
  return [200, { receipt_id: `rcpt_${receipt}`, external_id, commission_inr: commission / 100, status }];
}

const bookAll = database.transaction((batch) => batch.map(({ report }) => book(...report)));

let waiting = [];

/** Commits all that waits, then answers it. */
function flush() {
  const batch = waiting;
  waiting = [];
  try {
    const answers = bookAll(batch);
    batch.forEach(({ resolve }, place) => resolve(answers[place]));
  } catch (error) {
    batch.forEach(({ reject }) => reject(error));
  }
}

function bookInGroup(...report) {
  return new Promise((resolve, reject) => {
    waiting.push({ report, resolve, reject });
    // It runs once the event loop has handed out all that could be read in this turn.
    if (waiting.length === 1) setImmediate(flush);
  });
}

function signed(headers, body) {
  const timestamp = headers["x-platform-timestamp"];
  const signature = headers["x-platform-signature"];
  if (!/^\d{1,15}$/.test(timestamp ?? "") || !/^sha256=[0-9a-f]{64}$/i.test(signature ?? "")) return false;
  const mac = createHmac("sha256", key).update(timestamp).update(".").update(body).digest();
  return (
    timingSafeEqual(mac, Buffer.from(signature.slice(7), "hex")) &&
    Math.abs(Date.now() - Number(timestamp)) <= WINDOW_MS
  );
}

function sound(report) {
  return (
    report !== null &&
    typeof report === "object" &&
    TEXTS.every((name) => typeof report[name] === "string" && report[name] !== "") &&
    AMOUNTS.every((name) => Number.isFinite(report[name]) && report[name] >= 0)
  );
}

const app = fastify({ bodyLimit: REPORT_MAX_BYTES });
// The signature is over the body as it came, so nothing parses it before.
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
const take = options.commit === "group" ? bookInGroup : book;
app.post("/api/v1/cpc/mcp_provider/:partner", async (request, reply) => {
  if (!signed(request.headers, request.body)) return reply.code(401).send({ code: "SIGNATURE_INVALID" });
  let report;
  try {
    report = JSON.parse(request.body);
  } catch {
    return reply.code(400).send({ code: "INVALID_REQUEST" });
  }
  if (!sound(report)) return reply.code(400).send({ code: "INVALID_REQUEST" });
  const content = createHash("sha256").update(request.body).digest();
  const [status, answer] = await take(request.params.partner, report, content);
  return reply.code(status).send(answer);
});

process.once("SIGTERM", async () => {
  await app.close();
  // Folds the log into the file.
  database.close();
});

console.log(`listening on ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
