// An authorization server as a partner might run it, on a free port of this machine: oidc-provider with its own forms for
// login and consent, in which any name and password will do and the name becomes the subject.
//
//   node server.mjs ACCESS_TOKEN_SECONDS [--documents]
//
// Tokens are opaque and looked at by introspection, for which the client `partner` is known. Refresh tokens rotate, and one
// that comes twice ends its grant. With --documents it takes client ID metadata documents.
//
// For tests: POST /test/gateway says where https://gateway.example really is, POST /test/forget ends one access token and
// nothing else, GET /test/counts tells what was asked for how often, and GET /test/secrets every token and code ever issued.

import { createServer } from 'node:http';

import { Provider } from 'oidc-provider';

/** Where documents of clients are said to be; no name server knows it. */
const GATEWAY = 'https://gateway.example';
/** The largest body of a request for tests, in bytes. */
const MAX_BODY_BYTES = 4 * 1024;
/** What is good for how long, in seconds. */
const HOUR = 60 * 60;

const [seconds, ...flags] = process.argv.slice(2);
const accessTokenSeconds = Number(seconds);
if (!Number.isInteger(accessTokenSeconds) || accessTokenSeconds < 1) throw new Error('the first argument is a number');

let gateway = GATEWAY;
const counts = { tokens: 0, refreshes: 0, revocations: 0, registrations: 0, documents: 0 };
const secrets = [];
const server = createServer();
server.listen(0, '127.0.0.1', () => serve(`http://127.0.0.1:${server.address().port}`));

function serve(issuer) {
  const provider = new Provider(issuer, configuration());
  provider.on('grant.success', ({ oidc }) => {
    counts.tokens += 1;
    if (oidc.params.grant_type === 'refresh_token') counts.refreshes += 1;
  });
  provider.on('registration_create.success', () => void (counts.registrations += 1));
  provider.on('server_error', (_, error) => console.error(error));
  for (const kind of ['access_token', 'refresh_token', 'authorization_code']) {
    provider.on(`${kind}.saved`, ({ jti }) => void secrets.push(jti));
  }
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url.startsWith('/test/')) return void test(provider, request, response);
    if (request.url.startsWith('/token/revocation')) counts.revocations += 1;
    answer(request, response);
  });
  console.log(`listening on ${issuer}`);
}

function configuration() {
  return {
    clients: [
      {
        client_id: 'partner',
        client_secret: 'the-secret-of-the-partner-itself',
        grant_types: [],
        redirect_uris: [],
        response_types: [],
      },
    ],
    cookies: { keys: ['a key for the cookies of tests'] },
    // A browser of tests has no TLS before this server.
    features: {
      clientIdMetadataDocument: { enabled: flags.includes('--documents'), ack: 'draft-02' },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === 'partner' },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'book',
          accessTokenFormat: 'opaque',
          accessTokenTTL: accessTokenSeconds,
        }),
        useGrantedResource: () => true,
      },
      revocation: { enabled: true },
    },
    fetch: (url, options) => {
      counts.documents += 1;
      // Its guard against addresses of this machine is not what is tried here.
      return fetch(String(url).replace(GATEWAY, gateway), { ...options, dispatcher: undefined });
    },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'book'],
    ttl: { AuthorizationCode: 60, Grant: HOUR, Interaction: HOUR, RefreshToken: HOUR, Session: HOUR },
  };
}

async function test(provider, request, response) {
  let body = '';
  for await (const chunk of request) {
    body += chunk;
    if (body.length > MAX_BODY_BYTES) return void response.writeHead(413).end();
  }
  switch (request.url) {
    case '/test/gateway':
      gateway = body;
      break;
    case '/test/forget':
      await (await provider.AccessToken.find(body)).destroy();
      break;
    case '/test/counts':
      return void response.end(JSON.stringify(counts));
    case '/test/secrets':
      return void response.end(JSON.stringify(secrets));
    default:
      return void response.writeHead(404).end();
  }
  response.end();
}
