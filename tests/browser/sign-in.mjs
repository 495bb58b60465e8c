// Signs people of a platform team in at an identity provider, in a real Chromium.
//
// Given by the environment: CONSOLE (address of the pages) and CHROMIUM (the program). It writes `DONE <what>` for what it has seen.

import { chromium } from 'playwright-core';

const { CONSOLE, CHROMIUM } = process.env;
const say = (line) => process.stdout.write(`${line}\n`);

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

// At the provider's own forms, after the console has led there.
async function signInAs(context, name) {
  const page = await context.newPage();
  await page.goto(`${CONSOLE}/console/intents`);
  await page.getByRole('link', { name: 'Sign in at localhost' }).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]').click();
  await page.waitForURL(`${CONSOLE}/**`);
  return page;
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
try {
  const team = await browser.newContext();
  const page = await signInAs(team, 'team-asha');
  expect(page.url() === `${CONSOLE}/console/intents`, `back where one wanted to go, not ${page.url()}`);
  expect((await page.locator('.who').innerText()).endsWith('#team-asha'), 'the issuer and its subject are named');
  const cookies = (await team.cookies()).map((cookie) => cookie.name);
  expect(cookies.includes('__Host-console') && !cookies.includes('__Host-console-sign-in'), `the cookies are ${cookies}`);
  say('DONE team');

  const guest = await browser.newContext();
  const refused = await signInAs(guest, 'guest-ravi');
  expect((await refused.locator('[role=alert]').innerText()).includes('FORBIDDEN'), 'a guest has no role here');
  expect(!(await guest.cookies()).some((cookie) => cookie.name === '__Host-console'), 'a guest has no session');
  say('DONE guest');

  // What comes back to another browser, or twice, signs nobody in.
  const stranger = await (await browser.newContext()).newPage();
  const answer = await stranger.goto(`${CONSOLE}/console/sign-in/callback?code=a&state=b`);
  expect(answer.status() === 400, `the status is ${answer.status()}`);
  expect((await stranger.locator('[role=alert]').innerText()).includes('SIGN_IN_NOT_UNDER_WAY'), 'no sign-in is under way');
  say('DONE stranger');
} finally {
  await browser.close();
}
process.exit(0);
