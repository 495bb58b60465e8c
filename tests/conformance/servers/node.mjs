// Servers of the Node SDKs, as a partner might run them: one tool, `echo`, on a free port of this machine.
//
//   node node.mjs v1 [--sessions] [--json]     the SDK's first generation
//   node node.mjs v2 [--modern-only] [--json]  its second, which speaks revision 2026-07-28
//   node node.mjs v2 --sessions [--json]       its second, with the sessions of the revisions before
//   node node.mjs everything                   the SDK's own example of everything

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** The largest request body, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;
/** How often a server that says nothing is looked at, in milliseconds, and how often at most. */
const POLL_MS = 20;
const MAX_POLLS = 1_000;

const [kind, ...flags] = process.argv.slice(2);
const sessions = flags.includes('--sessions');
const json = flags.includes('--json');
const INFO = { name: `echo-${kind}`, version: '1.0.0' };
const MESSAGE_ONLY = { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] };

const serve = { v1: serveV1, v2: serveV2, everything: serveEverything }[kind];
if (serve === undefined) throw new Error('the first argument is v1, v2 or everything');
await serve();

/** Transports of sessions by their identifier; without sessions each request has a server of its own. */
async function serveV1() {
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { CallToolRequestSchema, ListToolsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const open = new Map();
  const transport = async () => {
    const server = new Server(INFO, { capabilities: { tools: { listChanged: true } } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'echo', description: 'Says it again.', inputSchema: MESSAGE_ONLY }],
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => echo(params.arguments));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: sessions ? randomUUID : undefined,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void open.set(id, transport),
    });
    await server.connect(transport);
    return transport;
  };
  listen(async (request, response) => {
    const named = request.headers['mcp-session-id'];
    if (named !== undefined && !open.has(named)) return void response.writeHead(404).end();
    const serving = open.get(named) ?? (await transport());
    await serving.handleRequest(request, response);
  });
}

async function serveV2() {
  const { createMcpHandler, fromJsonSchema, McpServer, WebStandardStreamableHTTPServerTransport } =
    await import('@modelcontextprotocol/server');
  const server = () => {
    const server = new McpServer(INFO, { capabilities: { tools: { listChanged: true } } });
    const definition = { description: 'Says it again.', inputSchema: fromJsonSchema(MESSAGE_ONLY) };
    server.registerTool('echo', definition, echo);
    return server;
  };
  const legacy = flags.includes('--modern-only') ? 'reject' : 'stateless';
  const handler = createMcpHandler(server, { legacy, responseMode: json ? 'json' : 'sse' });
  const open = new Map();
  const inSession = async (request) => {
    const named = request.headers.get('mcp-session-id');
    if (named !== null && !open.has(named)) return new Response(null, { status: 404 });
    let transport = open.get(named);
    if (transport === undefined) {
      transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: json,
        onsessioninitialized: (id) => void open.set(id, transport),
      });
      await server().connect(transport);
    }
    return transport.handleRequest(request);
  };
  listen(async (request, response) => {
    const answer = await (sessions ? inSession : handler.fetch)(await asFetched(request));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body), response);
  });
}

/** It takes its port from the environment and does not say when it listens. */
async function serveEverything() {
  const port = await freePort();
  process.env.PORT = String(port);
  process.argv[2] = 'streamableHttp';
  await import('@modelcontextprotocol/server-everything/dist/index.js');
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    if (await answers(port)) return announce(port);
    await sleep(POLL_MS);
  }
  throw new Error('the server does not listen');
}

function echo({ message }) {
  return { content: [{ type: 'text', text: JSON.stringify({ echo: message }) }] };
}

function listen(handle) {
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => announce(server.address().port));
}

function announce(port) {
  process.stdout.write(`listening on http://127.0.0.1:${port}/mcp\n`);
}

/** Node's request as the fetch API has it. */
async function asFetched(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  const headers = new Headers(Object.entries(request.headers));
  const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
  return new Request(`http://${request.headers.host}${request.url}`, { method: request.method, headers, body });
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
