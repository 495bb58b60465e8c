// Sessions over real HTTP, by the SDK's client and by hand, and the completion report.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { loadCatalogue, type JsonObject } from '../src/catalogue.ts';
import { completionReport, type Closed } from '../src/report.ts';
import { readSample, searchRequest } from './sample.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = [
  'search_providers',
  'get_provider_detail',
  'get_available_slots',
  'book_slot',
  'cancel_booking',
  'modify_booking',
];

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

/** A session of the SDK's client, and how it calls a tool. */
async function connect(t: TestContext, url: string) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  t.after(() => client.close());
  const call = async (name: string, args: JsonObject): Promise<any> => {
    const { content, structuredContent, isError } = (await client.callTool({ name, arguments: args })) as any;
    return isError ? { refused: structuredContent } : JSON.parse(content[0].text);
  };
  return { client, transport, call };
}

async function post(url: string, method: string, params: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const type = response.headers.get('content-type')?.split(';')[0];
  let text = await response.text();
  if (type === 'text/event-stream') text = text.split('\n').find((part) => part.startsWith('data: {'))?.slice(6) ?? '';
  return { status: response.status, type, message: text === '' ? undefined : (JSON.parse(text) as any) };
}

const SEARCH = { name: 'search_providers', arguments: searchRequest() };

test('the tools are listed with what the platform reads', async (t) => {
  const callback = 'https://gateway.example/api/v1/cpc/mcp_provider/p1';
  const { client } = await connect(t, await start(t, '--sessions', '--completion-callback', callback));
  assert.equal(client.getServerVersion()?.name, 'Banyan Yoga');
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    TOOLS,
  );
  for (const { name, description, _meta } of tools) {
    assert.ok(description !== undefined && description.length <= 140, name);
    const platform = _meta?.platform as JsonObject;
    assert.equal(platform.intent, 'lifestyle.book_yoga_class');
    assert.equal(platform.domain, 'lifestyle');
    assert.equal(platform.widget_type, 'yoga_class_options');
    assert.equal(platform.completion_callback, callback);
    assert.deepEqual(platform.service_area, ['Bengaluru']);
  }
});

for (const mode of [['--sessions'], []]) {
  test(`a booking goes from search to cancellation ${mode.join('') || 'without sessions'}`, async (t) => {
    const { call, transport } = await connect(t, await start(t, ...mode));
    assert.equal(transport.sessionId !== undefined, mode.length > 0);
    // A week ahead, so that moving and cancelling are free whenever the test runs.
    const asked = new Date(Date.now() + 7 * 24 * 3_600_000).toISOString();
    const request = searchRequest({ request_id: 'search-1', scheduled_for_iso: asked });
    const found = await call('search_providers', request);
    assert.equal(found.result_token && Date.parse(found.expires_at) > Date.now(), true);
    const [option] = found.options;
    const studio = option.yoga_studio.identity.id;
    const about = { request_id: 'search-1', yoga_studio_id: studio };
    const detail = await call('get_provider_detail', about);
    assert.equal(detail.yoga_studio.identity.id, studio);
    const hatha = { class_id: 'indiranagar-morning-hatha', instructor_id: 'asha-rao' };
    const { slots } = await call('get_available_slots', { ...about, ...hatha });
    assert.equal(slots.length >= 5 && slots.every((slot: any) => slot.class_id === hatha.class_id), true);

    const body = { ...about, request_id: 'book-1', ...hatha, scheduled_for_iso: slots[0].start_iso };
    const booked = await call('book_slot', body);
    assert.deepEqual(await call('book_slot', body), booked);
    const other = await call('book_slot', { ...body, scheduled_for_iso: slots[1].start_iso });
    assert.equal(other.refused.platform_error_code, 'IDEMPOTENCY_CONFLICT');

    const to = { request_id: 'search-1', booking_ref: booked.booking_ref, scheduled_for_iso: slots[1].start_iso };
    const moved = await call('modify_booking', to);
    assert.equal(moved.booking_ref, booked.booking_ref);
    assert.equal(moved.start_iso, slots[1].start_iso);
    const beside = { ...body, scheduled_for_iso: slots[1].start_iso };
    for (let n = 2; n <= 6; n++) await call('book_slot', { ...beside, request_id: `book-${n}` });
    const full = await call('book_slot', { ...beside, request_id: 'book-7' });
    assert.deepEqual(full.refused, {
      platform_error_code: 'INVALID_REQUEST',
      platform_field: 'scheduled_for_iso',
      message: 'that slot is full',
    });

    const cancelled = await call('cancel_booking', { request_id: 'search-1', booking_ref: moved.booking_ref });
    assert.equal(cancelled.refund_amount_inr, 650);
    const after = await call('book_slot', { ...beside, request_id: 'book-7' });
    assert.equal(after.status, 'confirmed');
    assert.equal((await call('book_slot', body)).status, 'cancelled');
  });
}

test('answers are a stream, or JSON if asked, and may be delayed', async (t) => {
  const [plain, json] = await Promise.all([start(t), start(t, '--json', '--delay-ms', '300')]);
  assert.equal((await post(plain, 'tools/call', SEARCH)).type, 'text/event-stream');
  const before = performance.now();
  const { type, message } = await post(json, 'tools/call', SEARCH);
  assert.equal(type, 'application/json');
  assert.equal(performance.now() - before >= 299, true);
  assert.equal(JSON.parse(message.result.content[0].text).options.length, 4);
  const bad = (await post(json, 'tools/call', { ...SEARCH, arguments: {} })).message.result;
  assert.equal(bad.isError, true);
  assert.equal(bad.structuredContent.platform_error_code, 'INVALID_REQUEST');
});

test('with a token only the probe is open', async (t) => {
  const url = await start(t, '--token', 's3cret');
  assert.equal((await post(url, 'tools/list', {})).message.result.tools.length, TOOLS.length);
  for (const headers of [{}, { Authorization: 'Bearer wrong' }] as Record<string, string>[]) {
    const { status, message } = await post(url, 'tools/call', SEARCH, headers);
    assert.equal(status, 401);
    assert.equal(message.error.data.platform_error_code, 'INVALID_AUTH');
  }
  const signedIn = await post(url, 'tools/call', SEARCH, { Authorization: 'Bearer s3cret' });
  assert.equal(signedIn.message.result.content.length, 1);
});

test('with --sessions a call needs its session, and a body has its bound', async (t) => {
  const url = await start(t, '--sessions');
  assert.equal((await post(url, 'tools/call', SEARCH)).status, 400);
  assert.equal((await post(url, 'tools/call', SEARCH, { 'Mcp-Session-Id': 'other' })).status, 404);
  assert.equal((await post(url, 'tools/list', { padding: 'x'.repeat(70_000) })).status, 413);
});

const CLOSED: Closed = {
  bookingRef: 'bk_1',
  requestId: 'search-1',
  studioId: 'banyan-jayanagar',
  classId: 'jayanagar-iyengar-general',
  instructorId: 'geeta-bhat',
  status: 'completed',
  startedMs: Date.parse('2026-12-01T06:30:00+05:30'),
  tipInr: 50,
  lateMinutes: 5,
  propsUsed: ['mat', 'wall_ropes'],
  notes: '',
};

function report(more: Partial<Closed> = {}): any {
  return completionReport(loadCatalogue(), { ...CLOSED, ...more });
}

test('a report has the members of the contract, and the price without its tax as the amount', () => {
  const body = report();
  const kinds = (value: JsonObject) => Object.entries(value).map(([key, one]) => `${key} ${typeof one}`).sort();
  assert.deepEqual(kinds(body), kinds(readSample('report.json')));
  assert.equal(body.external_id, 'bk_1');
  assert.equal(body.request_id, 'search-1');
  assert.deepEqual([body.amount_inr, body.gst_inr, body.fare_breakdown_total_inr], [508.47, 91.53, 600]);
  assert.deepEqual([body.tips_inr, body.rider_tip_inr, body.pass_through_inr], [50, 50, 0]);
  assert.equal(body.started_at, '2026-12-01T06:30:00+05:30');
  assert.equal(body.ended_at, '2026-12-01T08:00:00+05:30');
  assert.equal(body.closed_at, body.ended_at);
  assert.equal(body.duration_actual_minutes, 90);
  assert.equal(body.user_arrived_late_minutes, 5);
  assert.deepEqual(body.props_used, ['mat', 'wall_ropes']);
});

test('a report tells what was cut short, and of a class that was not taken nothing but what was kept', () => {
  const endedMs = CLOSED.startedMs + 40 * 60_000;
  const early = report({ status: 'partial_completion_user_left_early', endedMs, closedMs: endedMs + 60_000 });
  assert.deepEqual([early.duration_actual_minutes, early.closed_at], [40, '2026-12-01T07:11:00+05:30']);
  const cancelled = report({ status: 'cancelled_by_user', propsUsed: [], tipInr: 0 });
  assert.deepEqual([cancelled.amount_inr, cancelled.duration_actual_minutes, cancelled.ratings_pending], [0, 0, false]);
  assert.equal(report({ status: 'no_show', chargedInr: 300 }).amount_inr, 254.24);
});

test('a report of what cannot be is refused', () => {
  const cases: Partial<Closed>[] = [
    { studioId: 'none' },
    { classId: 'koramangala-hot' },
    { instructorId: 'asha-rao' },
    { status: 'done' },
    { propsUsed: ['wheel'] },
    { endedMs: CLOSED.startedMs },
    { status: 'no_show', endedMs: CLOSED.startedMs - 1 },
  ];
  for (const more of cases) assert.throws(() => report(more), JSON.stringify(more));
});

test('the command prints the report, or what is wrong', async () => {
  const run = (...options: string[]) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', 'src/print-report.ts', ...options], { cwd: ROOT });
  const order = ['--booking', 'bk_1', '--request-id', 'search-1', '--studio', CLOSED.studioId];
  const lesson = ['--class', CLOSED.classId, '--instructor', CLOSED.instructorId];
  const extras = ['--tip-inr', '50', '--late-minutes', '5', '--prop', 'mat', '--prop', 'wall_ropes'];
  const all = [...order, ...lesson, ...extras, '--started-at'];
  const { stdout } = await run(...all, '2026-12-01T06:30:00+05:30');
  assert.deepEqual(JSON.parse(stdout), report());
  const fails = { code: 1, stdout: '' };
  await assert.rejects(run(...all, '2026-12-01T06:30:00'), { ...fails, stderr: /^error: --started-at takes a time/ });
  await assert.rejects(run(...order), { ...fails, stderr: /^error: --class is missing/ });
  await assert.rejects(run(...all, '2026-12-01T06:30:00+05:30', '--tip-inr', '1.5'), { ...fails, stderr: /--tip-inr/ });
});
