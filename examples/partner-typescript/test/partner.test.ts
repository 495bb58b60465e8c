// The business against the shared vectors, the desk's rules, and sessions over real HTTP.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CATALOGUES, loadCatalogue, type Json, type JsonObject } from '../src/catalogue.ts';
import { Desk } from '../src/desk.ts';
import { mergePatch, quotes, type SearchRequest } from '../src/quote.ts';
import { Refusal } from '../src/refusal.ts';

interface Vector {
  name: string;
  catalogue: string;
  now: string;
  merge: JsonObject;
  expect: Json;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SAMPLE = read('search-request.json') as JsonObject;
const NOW_MS = Date.parse('2026-11-30T06:00:00Z');
const TOPUP = 'chill-chamber.c08.20261201T0915.y';
const COMPRESSOR = 'chill-chamber.c04.20261201T0915.y';

function read(name: string): Json {
  return JSON.parse(readFileSync(`${CATALOGUES}contract/${name}`, 'utf8')) as Json;
}

/** What a vector states of one slot. */
function row(payload: any): Json {
  return [
    payload.slot_id,
    payload.provider.distance_from_user_km,
    payload.service_scope.refrigerant_type,
    payload.estimated_price.total_estimate_inr,
  ];
}

function booking(requestId: string, slotId: string, more: JsonObject = {}): JsonObject {
  return {
    request_id: requestId,
    slot_id: slotId,
    vehicle: { type: 'car' },
    ac_issue: { category: 'not_cooling' },
    contact_phone: '+919812345678',
    ...more,
  };
}

function search(desk: Desk, patch: JsonObject = {}): string[] {
  const answer = desk.answer('search_ac_service_slots', mergePatch(SAMPLE, patch), NOW_MS) as any;
  return answer.slots.map((slot: any) => slot.slot_id);
}

function create(desk: Desk, args: JsonObject, nowMs = NOW_MS): any {
  return desk.answer('create_ac_service_booking', args, nowMs);
}

function cancel(desk: Desk, bookingId: string, nowMs = NOW_MS): any {
  const args = { request_id: 'c1', booking_id: bookingId, reason_code: 'changed_plans' };
  return desk.answer('cancel_ac_service_booking', args, nowMs);
}

function quotedDesk(): Desk {
  const desk = new Desk(loadCatalogue('specialist'));
  search(desk);
  return desk;
}

const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

test('answers match the vectors that all example partners share', () => {
  for (const vector of read('vectors.json') as unknown as Vector[]) {
    const request = mergePatch(SAMPLE, vector.merge) as unknown as SearchRequest;
    const catalogue = loadCatalogue(vector.catalogue);
    let answer: Json;
    try {
      const found = quotes(catalogue, request, Date.parse(vector.now), () => true);
      answer = { slots: found.map((quote) => row(quote.payload)) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = { refusal: error.code };
    }
    assert.deepEqual(answer, vector.expect, vector.name);
  }
});

test('the same key and body get the same booking, another body is refused', () => {
  const desk = quotedDesk();
  const first = create(desk, booking('r1', TOPUP));
  assert.deepEqual(create(desk, booking('r1', TOPUP)), first);
  assert.equal(Object.keys(first).length, 11);
  assert.throws(() => create(desk, booking('r1', COMPRESSOR)), refused('IDEMPOTENCY_VIOLATION'));
});

test('a sold slot disappears and comes back when cancelled', () => {
  const desk = quotedDesk();
  const booked = create(desk, booking('r1', COMPRESSOR));
  assert.ok(!search(desk).includes(COMPRESSOR));
  assert.throws(() => create(desk, booking('r2', COMPRESSOR)), refused('SLOT_GONE'));
  assert.equal(cancel(desk, booked.booking_id).cancellation_fee_inr, 0);
  assert.ok(search(desk).includes(COMPRESSOR));
});

test('a slot never quoted or expired is gone', () => {
  const desk = quotedDesk();
  const never = 'chill-chamber.c08.20261202T0915.y';
  assert.throws(() => create(desk, booking('r1', never)), refused('SLOT_GONE'));
  const expiredMs = NOW_MS + 15 * 60_000;
  assert.throws(() => create(desk, booking('r1', TOPUP), expiredMs), refused('SLOT_GONE'));
});

test('nobody mends a compressor on the doorstep', () => {
  const desk = quotedDesk();
  const address = { doorstep_address: '12 Some Street' };
  assert.throws(
    () => create(desk, booking('r1', COMPRESSOR, address)),
    refused('COMPRESSOR_WORK_REQUIRES_WORKSHOP'),
  );
  assert.throws(
    () => create(desk, booking('r1', TOPUP, address)),
    refused('DOORSTEP_UNAVAILABLE_AT_LOCATION'),
  );
});

test('a late cancellation costs a tenth once', () => {
  const desk = quotedDesk();
  const booked = create(desk, booking('r1', TOPUP));
  const lateMs = Date.parse('2026-12-01T01:45:01Z');
  const result = cancel(desk, booked.booking_id, lateMs);
  assert.equal(result.cancellation_fee_inr, Math.floor((booked.total_estimate_inr + 5) / 10));
  assert.deepEqual(cancel(desk, booked.booking_id, lateMs + 600_000), result);
});

test('bad arguments are named', () => {
  const desk = quotedDesk();
  const cases: [JsonObject, string][] = [
    [{ ac_issue: { category: null } }, 'ac_issue.category'],
    [{ ac_issue: { user_description: 'x'.repeat(501) } }, 'ac_issue.user_description'],
    [{ vehicle: { type: 'two_wheeler' } }, 'vehicle.type'],
    [
      { service_preferences: { preferred_window: { end: '2026-12-01T08:00:00+05:30' } } },
      'service_preferences.preferred_window',
    ],
  ];
  for (const [patch, field] of cases) {
    assert.throws(
      () => search(desk, patch),
      (error: unknown) => refused('INVALID_REQUEST')(error) && (error as Refusal).field === field,
      field,
    );
  }
});

/** Starts the server on a free port; ends it with SIGTERM and expects a clean exit. */
async function start(t: TestContext, ...options: string[]): Promise<string> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', '--port', '0', ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  assert.match(line, /^listening on http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  return line.slice('listening on '.length);
}

async function post(url: string, method: string, params: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  let text = await response.text();
  const stream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (stream) text = text.split('\n').find((part) => part.startsWith('data: {'))?.slice(6) ?? '';
  const message = text === '' ? undefined : (JSON.parse(text) as any);
  return { status: response.status, stream, session: response.headers.get('mcp-session-id'), message };
}

const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

for (const [options, streams] of [[[], true], [['--json'], false]] as const) {
  test(`a stateless client gets from probe to slots ${options.join(' ')}`, async (t) => {
    const url = await start(t, ...options);
    const hello = await post(url, 'initialize', HELLO);
    assert.equal(hello.stream, streams);
    assert.equal(hello.session, null);
    assert.equal(hello.message.result.serverInfo.name, 'Chill Chamber AC Specialists');
    const { tools } = (await post(url, 'tools/list', {})).message.result;
    assert.deepEqual(
      tools.map((tool: any) => tool._meta.platform.tool_role),
      ['search', 'create', 'cancel'],
    );
    const call = { name: 'search_ac_service_slots', arguments: SAMPLE };
    const { result } = (await post(url, 'tools/call', call)).message;
    assert.ok(JSON.parse(result.content[0].text).slots.length > 0);
    const bad = (await post(url, 'tools/call', { ...call, arguments: {} })).message.result;
    assert.equal(bad.isError, true);
    assert.equal(bad.structuredContent.platform_error_code, 'INVALID_REQUEST');
  });
}

test('with --sessions a call needs its session', async (t) => {
  const url = await start(t, '--sessions');
  const { session } = await post(url, 'initialize', HELLO);
  assert.ok(session);
  const call = { name: 'search_ac_service_slots', arguments: SAMPLE };
  assert.ok((await post(url, 'tools/call', call, { 'Mcp-Session-Id': session })).message.result.content);
  assert.equal((await post(url, 'tools/call', call)).status, 400);
  assert.equal((await post(url, 'tools/call', call, { 'Mcp-Session-Id': 'other' })).status, 404);
});

test('with a token only the probe is open', async (t) => {
  const url = await start(t, '--token', 's3cret');
  assert.ok((await post(url, 'tools/list', {})).message.result.tools);
  const call = { name: 'search_ac_service_slots', arguments: SAMPLE };
  for (const headers of [{}, { Authorization: 'Bearer wrong' }] as Record<string, string>[]) {
    const { status, message } = await post(url, 'tools/call', call, headers);
    assert.equal(status, 401);
    assert.equal(message.error.data.platform_error_code, 'INVALID_AUTH');
  }
  const signedIn = await post(url, 'tools/call', call, { Authorization: 'Bearer s3cret' });
  assert.ok(signedIn.message.result.content);
});

test('an oversize body is refused', async (t) => {
  const url = await start(t);
  const { status } = await post(url, 'tools/list', { padding: 'x'.repeat(70_000) });
  assert.equal(status, 413);
});
