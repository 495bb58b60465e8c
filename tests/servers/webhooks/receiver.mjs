// A partner's webhook for tests: verifies each event with `standardwebhooks` of npm and keeps it as a line of JSON. As receiver.py, with
// the same arguments and files.

import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const { values } = parseArgs({ options: { folder: { type: 'string' }, port: { type: 'string', default: '0' } } });

// Why an event is refused; null where one of the secrets has signed it.
function verify(secrets, body, headers) {
  let refused = 'there is no secret';
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(body, headers);
      return null;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      refused = error.message;
    }
  }
  return refused;
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request.setEncoding('utf8')) body += piece;
  const secrets = readFileSync(join(values.folder, 'secrets.txt'), 'utf8').split(/\s+/).filter(Boolean);
  const refused = verify(secrets, body, request.headers);
  const line = { id: request.headers['webhook-id'], refused, body: JSON.parse(body) };
  appendFileSync(join(values.folder, 'events.jsonl'), `${JSON.stringify(line)}\n`);
  response.writeHead(refused === null ? 204 : 401).end();
});

server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
