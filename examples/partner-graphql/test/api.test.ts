// The API's own promises: its shapes, its error codes, its sign-in. That the mapping in manifest.yaml makes the
// platform's payloads of them is tested where the platform is.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadCatalogue } from '../../partner-typescript/src/catalogue.ts';
import { Desk } from '../../partner-typescript/src/desk.ts';
import { api } from '../src/api.ts';

const SEARCH = {
  car: { controls: 'AUTOMATIC', fuel: 'PETROL', year: 2021 },
  symptom: 'NOT_COOLING',
  homeVisit: true,
  place: { latitude: 12.9716, longitude: 77.5946, withinKm: 25 },
  time: { from: '2026-12-01T09:00:00+05:30', until: '2026-12-01T18:00:00+05:30' },
};
const FIND = 'query ($s: SearchInput!) { findOffers(search: $s) { validUntil offers { id price { total } work { gas } } } }';
const BOOK = 'mutation ($k: ID!, $b: BookInput!) { bookOffer(key: $k, booking: $b) { id total } }';

function client(options = { introspection: true } as { introspection: boolean; token?: string }) {
  const yoga = api(new Desk(loadCatalogue('garage')), options);
  return async (query: string, variables: unknown = {}, headers: Record<string, string> = {}) => {
    const response = await yoga.fetch('http://api.example/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    return { status: response.status, body: (await response.json()) as any };
  };
}

test('an offer can be found, booked once and cancelled', async () => {
  const ask = client();
  const { body } = await ask(FIND, { s: SEARCH });
  const [offer] = body.data.findOffers.offers;
  assert.equal(offer.work.gas, 'R1234YF');
  const booking = { offerId: offer.id, phone: '+919812345678', car: 'car', complaint: 'not_cooling' };
  const first = await ask(BOOK, { k: 'k1', b: booking });
  assert.equal(first.body.data.bookOffer.total, offer.price.total);
  const again = await ask(BOOK, { k: 'k1', b: booking });
  assert.deepEqual(again.body, first.body);
  const reused = await ask(BOOK, { k: 'k1', b: { ...booking, phone: '+919800000000' } });
  assert.equal(reused.body.errors[0].extensions.code, 'KEY_REUSED');
  const off = await ask('mutation ($i: ID!) { cancelBooking(id: $i, reason: "changed_mind") { refund } }', {
    i: first.body.data.bookOffer.id,
  });
  assert.equal(off.body.data.cancelBooking.refund, 0);
});

test('refusals carry the codes of the API', async () => {
  const ask = client();
  const gone = await ask(BOOK, { k: 'k', b: { offerId: 'none', phone: '+919812345678', car: 'car', complaint: 'x' } });
  assert.equal(gone.body.errors[0].extensions.code, 'OFFER_TAKEN');
});

test('mutations demand the token, a search does not', async () => {
  const ask = client({ introspection: true, token: 't0ken' });
  const cancel = 'mutation { cancelBooking(id: "b", reason: "r") { refund } }';
  const refused = await ask(cancel);
  assert.equal(refused.status, 401);
  assert.equal(refused.body.errors[0].extensions.code, 'UNAUTHENTICATED');
  const known = await ask(cancel, {}, { authorization: 'Bearer t0ken' });
  assert.equal(known.body.errors[0].extensions.code, 'NOT_UNDERSTOOD');
  assert.ok((await ask(FIND, { s: SEARCH })).body.data);
});

test('the schema can be kept back', async () => {
  assert.ok((await client()('{ __schema { queryType { name } } }')).body.data);
  const silent = client({ introspection: false });
  assert.ok((await silent('{ __schema { queryType { name } } }')).body.errors);
  assert.ok((await silent('{ __typename }')).body.data);
});
