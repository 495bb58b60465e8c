// The command line of a partner's server: options, the ready line, the stop.

import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

import { httpServer, type Served } from './endpoint.ts';

/** How long open answers may take to finish after a stop signal, in milliseconds. */
const SHUTDOWN_GRACE_MS = 5_000;
/** The longest artificial delay, in milliseconds: twice what the platform waits for a tool call. */
const MAX_DELAY_MS = 60_000;

/** What differs from partner to partner. */
export interface Partner {
  /** The port where none is named. */
  port: number;
  /** What is served where no catalogue is named, and what the help says of it. */
  catalogue: { default: string; form: string; help: string };
  /** Opens the business of a catalogue; `callback` replaces its completion URL. */
  open(catalogue: string, callback: string | undefined): Served;
}

const usage = ({ port, catalogue }: Partner) => `Serves one business to the platform.

  ${`--catalogue ${catalogue.form}`.padEnd(25)}  ${catalogue.help}
  --port N                   0 takes a free one (default: ${port})
  --host ADDRESS             address to listen on (default: 127.0.0.1)
  --delay-ms N               wait this long before each tool call is answered (default: 0)
  --json-response, --json    answer in plain JSON instead of an event stream
  --sessions                 keep a session per client (Mcp-Session-Id)
  --token T                  demand this bearer token on tool calls (or set PARTNER_TOKEN)
  --completion-callback URL  the platform's completion URL, in place of the catalogue's
`;

/** Reads the command line and serves until told to stop. */
export function serve(partner: Partner): void {
  try {
    listen(partner);
  } catch (error) {
    fail(error);
  }
}

function listen(partner: Partner): void {
  const { values } = parseArgs({
    options: {
      catalogue: { type: 'string', default: partner.catalogue.default },
      port: { type: 'string', default: String(partner.port) },
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
    process.stdout.write(usage(partner));
    return;
  }
  const { server, closeSessions } = httpServer(partner.open(values.catalogue, values['completion-callback']), {
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
