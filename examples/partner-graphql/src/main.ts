// An example partner: a business that repairs car ACs and has a GraphQL API of its own.
//
// It is no MCP server. The platform wraps it by the mapping in manifest.yaml. It keeps everything in memory, takes no
// money and calls nobody. Start it with `npm start -- --port 8105`.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

import { loadCatalogue } from '../../partner-typescript/src/catalogue.ts';
import { Desk } from '../../partner-typescript/src/desk.ts';
import { api } from './api.ts';

/** How long open answers may take to finish after a stop signal, in milliseconds. */
const SHUTDOWN_GRACE_MS = 5_000;
/** How long a request may take to arrive, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;

const USAGE = `Serves one business over GraphQL.

  --catalogue NAME|FILE  a name from examples/catalogues, or a file (default: garage)
  --port N               0 takes a free one (default: 8105)
  --host ADDRESS         address to listen on (default: 127.0.0.1)
  --token T              demand this bearer token on mutations (or set PARTNER_TOKEN)
  --no-introspection     keep the schema to itself
`;

function main(): void {
  const { values } = parseArgs({
    options: {
      catalogue: { type: 'string', default: 'garage' },
      port: { type: 'string', default: '8105' },
      host: { type: 'string', default: '127.0.0.1' },
      token: { type: 'string', default: process.env.PARTNER_TOKEN },
      'no-introspection': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error('--port takes 0 to 65535');
  const desk = new Desk(loadCatalogue(values.catalogue));
  const server = createServer(api(desk, { token: values.token, introspection: !values['no-introspection'] }));
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const stop = () => {
    server.close();
    server.closeIdleConnections();
    // Unreferenced: the process ends sooner when everything is closed sooner.
    setTimeout(() => server.closeAllConnections(), SHUTDOWN_GRACE_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  server.on('error', fail);
  server.listen(port, values.host, () => {
    const { address, family, port } = server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    process.stdout.write(`listening on http://${host}:${port}/graphql\n`);
  });
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
