// The MCP side and the HTTP around it: `/mcp`, a body limit, the bearer check when a token is set.
//
// Nothing is decided here but how an answer is wrapped. A refusal becomes an error result whose
// structured content holds the code: that form survives the SDK's high-level server as well.

import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

import type { Descriptor } from './catalogue.ts';
import { INVALID_AUTH_NUMBER, Refusal } from './refusal.ts';

const VERSION = '0.1.0';
/** The largest request body, in bytes. A search is about 3 KB at most. */
const MAX_BODY_BYTES = 64 * 1024;
/** Connections at a time; more wait in the system's queue. */
const MAX_CONNECTIONS = 500;
/** Time for a whole request to come in, and for its head alone, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Sessions that may be open at a time, and how long one may be idle, in milliseconds. */
const MAX_SESSIONS = 1_000;
const SESSION_IDLE_MS = 5 * 60_000;
/** Methods that need no sign-in even when a token is set: the platform's probe uses them. */
const OPEN_METHODS = new Set(['initialize', 'ping', 'server/discover', 'tools/list']);
/** Notifications carry nothing worth guarding, and a client sends one before its first call. */
const OPEN_METHOD_PREFIX = 'notifications/';
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1', '[::1]']);

/** A business with its tools, whatever its intent. */
export interface Served {
  /** The company's name, for the platform's logs. */
  readonly name: string;
  readonly tools: Descriptor[];
  /** Answers one tool call, or throws a Refusal. */
  answer(tool: string, args: unknown, nowMs: number): unknown;
}

/** How the endpoint answers. */
export interface Options {
  host: string;
  /** Waited before each tool call is answered, in milliseconds. */
  delayMs: number;
  /** Plain JSON answers instead of an event stream. */
  jsonResponse: boolean;
  /** Hand out an `Mcp-Session-Id` on initialize and demand it afterwards. */
  sessions: boolean;
  token: string | undefined;
}

interface Session {
  transport: StreamableHTTPServerTransport;
  usedMs: number;
}

/** The partner's HTTP server, not yet listening. `closeSessions` ends what keeps it from stopping. */
export function httpServer(served: Served, options: Options): { server: HttpServer; closeSessions: () => void } {
  const sessions = new Map<string, Session>();
  const server = createServer((request, response) => {
    serve(served, options, sessions, request, response).catch(() => {
      // What went wrong is the transport's: the caller learns no more than that.
      if (!response.headersSent) answerError(response, 500, null, -32603, 'internal error');
      else response.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  const closeSessions = () => {
    for (const { transport } of sessions.values()) void transport.close();
  };
  return { server, closeSessions };
}

async function serve(
  served: Served,
  options: Options,
  sessions: Map<string, Session>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!hostAllowed(request, options.host)) return answerError(response, 403, null, -32000, 'host not allowed');
  if (request.url?.split('?')[0] !== '/mcp') return answerError(response, 404, null, -32600, 'not found');
  if (request.method !== 'POST') return serveStream(options, sessions, request, response);
  const body = await readBody(request);
  if (body === undefined) return answerError(response, 413, null, -32600, 'body too large');
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return answerError(response, 400, null, -32700, 'not JSON');
  }
  if (options.token !== undefined && !isOpen(message) && !bears(request, options.token)) {
    const refusal = new Refusal('INVALID_AUTH', 'a valid bearer token is required');
    response.setHeader('WWW-Authenticate', 'Bearer');
    return answerError(response, 401, idOf(message), INVALID_AUTH_NUMBER, refusal.message, refusal.data());
  }
  if (!options.sessions) return serveOnce(served, options, request, response, message);
  const open = sessionOf(sessions, request);
  if (open !== undefined) return open.transport.handleRequest(request, response, message);
  if (!isInitializeRequest(message)) return noSession(request, response, idOf(message));
  await openSession(served, options, sessions, request, response, message);
}

/** Stateless: a server and a transport for this one request. */
async function serveOnce(
  served: Served,
  options: Options,
  request: IncomingMessage,
  response: ServerResponse,
  message: unknown,
): Promise<void> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: options.jsonResponse,
  });
  const server = mcpServer(served, options.delayMs);
  response.on('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, message);
}

async function openSession(
  served: Served,
  options: Options,
  sessions: Map<string, Session>,
  request: IncomingMessage,
  response: ServerResponse,
  message: unknown,
): Promise<void> {
  const idleSinceMs = Date.now() - SESSION_IDLE_MS;
  for (const { transport, usedMs } of [...sessions.values()]) {
    if (usedMs < idleSinceMs) await transport.close();
  }
  if (sessions.size >= MAX_SESSIONS) return answerError(response, 503, idOf(message), -32000, 'too many sessions');
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: options.jsonResponse,
    onsessioninitialized: (id) => void sessions.set(id, { transport, usedMs: Date.now() }),
  });
  const server = mcpServer(served, options.delayMs);
  server.onclose = () => {
    if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
  };
  await server.connect(transport);
  await transport.handleRequest(request, response, message);
}

/** GET opens a session's event stream, DELETE ends the session; without sessions there is neither. */
async function serveStream(
  options: Options,
  sessions: Map<string, Session>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!options.sessions || (request.method !== 'GET' && request.method !== 'DELETE')) {
    response.setHeader('Allow', options.sessions ? 'DELETE, GET, POST' : 'POST');
    return answerError(response, 405, null, -32000, 'method not allowed');
  }
  const open = sessionOf(sessions, request);
  if (open === undefined) return noSession(request, response, null);
  await open.transport.handleRequest(request, response);
}

function sessionOf(sessions: Map<string, Session>, request: IncomingMessage): Session | undefined {
  const id = request.headers['mcp-session-id'];
  const session = typeof id === 'string' ? sessions.get(id) : undefined;
  if (session !== undefined) session.usedMs = Date.now();
  return session;
}

/** A client whose session is unknown starts a new one on 404; one that never had any is in error. */
function noSession(request: IncomingMessage, response: ServerResponse, id: string | number | null): void {
  const named = request.headers['mcp-session-id'] !== undefined;
  answerError(response, named ? 404 : 400, id, -32600, named ? 'no such session' : 'initialize first');
}

/** The tools of one business. */
function mcpServer(served: Served, delayMs: number): Server {
  const { name, tools } = served;
  const server = new Server({ name, version: VERSION }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    await sleep(delayMs);
    try {
      const payload = served.answer(params.name, params.arguments ?? {}, Date.now());
      return { content: [{ type: 'text', text: JSON.stringify(payload) }] };
    } catch (error) {
      const refusal = error instanceof Refusal ? error : internal(params.name, error);
      return {
        content: [{ type: 'text', text: refusal.message }],
        structuredContent: { ...refusal.data(), message: refusal.message },
        isError: true,
      };
    }
  });
  return server;
}

/** A fault of this program: the detail goes to the log, the caller gets the code alone. */
function internal(tool: string, error: unknown): Refusal<string> {
  process.stderr.write(`${tool} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  return new Refusal('INTERNAL_ERROR', 'internal error');
}

/** On the user's own machine, a web page must not reach the server under a name of its own. */
function hostAllowed(request: IncomingMessage, host: string): boolean {
  if (!LOOPBACK.has(host)) return true;
  const name = (request.headers.host ?? '').replace(/:\d+$/, '');
  return LOOPBACK.has(name);
}

/** The whole body, or undefined when it is larger than MAX_BODY_BYTES. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether the message may pass without a bearer. What is not one plain message may not. */
function isOpen(message: unknown): boolean {
  const method = (message as { method?: unknown } | null)?.method;
  return typeof method === 'string' && (OPEN_METHODS.has(method) || method.startsWith(OPEN_METHOD_PREFIX));
}

function idOf(message: unknown): string | number | null {
  const id = (message as { id?: unknown } | null)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Takes the same time for every guess: digests of equal length are compared. */
function bears(request: IncomingMessage, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${token}`));
}

function answerError(
  response: ServerResponse,
  status: number,
  id: string | number | null,
  code: number,
  message: string,
  data?: Record<string, string>,
): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } });
  // An unread body would be taken for the next request.
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' }).end(body);
}
