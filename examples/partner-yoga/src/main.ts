// An example partner: a business with yoga studios, as an MCP server for lifestyle.book_yoga_class.
//
// A template for partners who write their own server. It keeps everything in memory, takes no money
// and calls nobody. Start it with `npm start -- --port 8106`.

import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

import { CATALOGUE, loadCatalogue } from './catalogue.ts';
import { Desk } from './desk.ts';
import { httpServer } from '../../partner-typescript/src/endpoint.ts';

/** How long open answers may take to finish after a stop signal, in milliseconds. */
const SHUTDOWN_GRACE_MS = 5_000;
/** The longest artificial delay, in milliseconds: twice what the platform waits for a tool call. */
const MAX_DELAY_MS = 60_000;

const USAGE = `Serves one business to the platform.

  --catalogue FILE           the business (default: catalogue.json of this folder)
  --port N                   0 takes a free one (default: 8106)
  --host ADDRESS             address to listen on (default: 127.0.0.1)
  --delay-ms N               wait this long before each tool call is answered (default: 0)
  --json-response, --json    answer in plain JSON instead of an event stream
  --sessions                 keep a session per client (Mcp-Session-Id)
  --token T                  demand this bearer token on tool calls (or set PARTNER_TOKEN)
  --completion-callback URL  the platform's completion URL, in place of the catalogue's
`;

function main(): void {
  const { values } = parseArgs({
    options: {
      catalogue: { type: 'string', default: CATALOGUE },
      port: { type: 'string', default: '8106' },
      host: { type: 'string', default: '127.0.0.1' },
      'delay-ms': { type: 'string', default: '0' },
      'json-response': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      sessions: { type: 'boolean', default: false },
      token: { type: 'string', default: process.env.PARTNER_TOKEN },
      'completion-callback': { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const catalogue = loadCatalogue(values.catalogue);
  const callback = values['completion-callback'];
  if (callback !== undefined) catalogue.platform.completion_callback = callback;
  const { server, closeSessions } = httpServer(new Desk(catalogue), {
    host: values.host,
    delayMs: number('delay-ms', values['delay-ms'], MAX_DELAY_MS),
    jsonResponse: values['json-response'] || values.json,
    sessions: values.sessions,
    token: values.token,
  });
  const stop = () => {
    server.close();
    server.closeIdleConnections();
    closeSessions();
    // Unreferenced: the process ends sooner when everything is closed sooner.
    setTimeout(() => server.closeAllConnections(), SHUTDOWN_GRACE_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  server.on('error', fail);
  server.listen(number('port', values.port, 65_535), values.host, () => {
    const { address, family, port } = server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    process.stdout.write(`listening on http://${host}:${port}/mcp\n`);
  });
}

function number(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new Error(`--${name} takes 0 to ${max}`);
  return value;
}

function fail(error: unknown): void {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

try {
  main();
} catch (error) {
  fail(error);
}
