// The identity provider of a platform team, on a free port of this machine: oidc-provider with its own forms for login and consent, in
// which any name and password will do. The name becomes the subject, and the claim `groups` has the part of it before the first dash.
//
//   node team.mjs CLIENT_ID CLIENT_SECRET REDIRECT_URI

import { createServer } from 'node:http';

import { Provider } from 'oidc-provider';

const HOUR = 60 * 60;
const [client_id, client_secret, redirectUri] = process.argv.slice(2);
const server = createServer();
server.listen(0, '127.0.0.1', () => serve(`http://localhost:${server.address().port}`));

function serve(issuer) {
  const provider = new Provider(issuer, {
    claims: { openid: ['sub', 'groups'] },
    clients: [{ client_id, client_secret, redirect_uris: [redirectUri], response_types: ['code'] }],
    // Claims of the scope stand in the ID token itself.
    conformIdTokenClaims: false,
    cookies: { keys: ['a key for the cookies of tests'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, groups: sub.split('-')[0] }) }),
    pkce: { required: () => true },
    ttl: { AuthorizationCode: 60, Grant: HOUR, IdToken: HOUR, Interaction: HOUR, Session: HOUR },
  });
  provider.on('server_error', (_, error) => console.error(error));
  server.on('request', provider.callback());
  console.log(`listening on ${issuer}`);
}
