// Walks the pages in a real Chromium: the journeys of people by clicks, then every page that one leads to, light and dark, on a desk and
// on a phone. Fails where a page writes to the browser's console, asks another host, breaks its own policy, has a fault that axe finds
// (WCAG 2.2 AA), or cannot be reached by keyboard.
//
// The journeys and one walk of each face go without JavaScript, the others with it.
//
// Given by the environment: GATEWAY (its address), ADMIN_TOKEN, CHROMIUM (the program), ORDER_REQUEST (of a search from which something was
// booked), COMPONENT (a file with another version of its contract), OTHER_VERSION (its number), LIVE_VERSION (the one that serves). It writes `CODE <address>` where it needs the code
// that was mailed to an address, and reads it from its input; `REVIEW` where
// a review is to come in; and `DONE <what>` for what it has seen. With PICTURES it leaves screenshots there.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const { GATEWAY, ADMIN_TOKEN, CHROMIUM, PICTURES, ORDER_REQUEST, COMPONENT, OTHER_VERSION, LIVE_VERSION } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
// Colours do not depend on the width, nor the layout on the colours: two looks have all of both.
const LOOKS = {
  'light desk': { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  'dark phone': { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  'plain desk': { javaScriptEnabled: false, viewport: { width: 1280, height: 800 } },
};
// What a page may take on its way, compressed.
const PAGE_MAX_BYTES = 60 * 1024;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const faults = [];

const say = (line) => process.stdout.write(`${line}\n`);

async function mailedCode(address) {
  say(`CODE ${address}`);
  return (await lines.next()).value;
}

// A browser of its own, whose every word and request is watched. Cookies for TLS are kept for this machine's own name alone.
async function open(browser, options) {
  const context = await browser.newContext(options);
  await context.addInitScript(watchPolicy);
  const page = await context.newPage();
  page.on('console', (message) => faults.push(`${page.url()} wrote to the console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`${page.url()} failed: ${error}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(GATEWAY)) faults.push(`${page.url()} asks ${request.url()}`);
  });
  return { context, page };
}

async function heading(page, expected) {
  const found = await page.locator('h1').innerText();
  if (found !== expected) throw new Error(`${page.url()}: expected "${expected}", found "${found}": ${await page.locator('main').innerText()}`);
}

async function signUp(page, address) {
  await page.goto(`${GATEWAY}/dashboard`);
  await page.getByRole('link', { name: 'Sign up' }).click();
  await page.getByLabel('E-mail address').fill(address);
  await page.getByLabel('Name of the business').fill('CoolCar <b>& Sons</b>');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await page.getByLabel('Code').fill(await mailedCode(address));
  await page.getByRole('button', { name: 'Enter' }).click();
  await heading(page, 'CoolCar <b>& Sons</b>');
  say('DONE sign-up');
}

// Somebody whose business is live already: there is more to see.
async function signInAsPartner(page, address) {
  await page.goto(`${GATEWAY}/dashboard/orders`);
  await page.getByLabel('E-mail address').fill(address);
  await page.getByRole('button', { name: 'Send the code' }).click();
  await page.getByLabel('Code').fill(await mailedCode(address));
  await page.getByRole('button', { name: 'Enter' }).click();
  await heading(page, 'Orders');
  say('DONE sign-in of a partner');
}

async function signIn(page) {
  await page.goto(`${GATEWAY}/console/reviews`);
  await page.getByLabel('Token').fill(ADMIN_TOKEN);
  await page.locator('form', { has: page.getByLabel('Token') }).getByRole('button').click();
  // Back where one wanted to go.
  await heading(page, 'Reviews');
  say('DONE sign-in');
}

// What the policy of a page refuses is told to the page: nothing may be.
const watchPolicy = () => {
  window.refusedByPolicy = [];
  document.addEventListener('securitypolicyviolation', (event) => window.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI}`));
};

// From what a customer has said to the ranking that explains it, in three clicks after the one that opens the list.
async function explainComplaint(page) {
  await page.goto(`${GATEWAY}/console`);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Orders' }).click();
  await page.getByLabel(/An order, booking, request or reference/).fill(ORDER_REQUEST);
  await page.getByRole('button', { name: 'Find' }).click();
  await page.locator('a[href^="/console/orders/ord_"]').first().click();
  await page.getByRole('link', { name: 'Why it was shown there' }).click();
  await heading(page, 'Ranking');
  await page.getByRole('heading', { name: 'Why this one stood above that one' }).waitFor();
  say('DONE complaint');
}

// On the page of a ranking: what another version makes of it.
async function rankByAnother(page) {
  await page.locator('select[name=under]').selectOption({ label: OTHER_VERSION });
  await page.getByRole('button', { name: 'Rank by it' }).click();
  await page.getByRole('heading', { name: `As version ${OTHER_VERSION} ranks it` }).waitFor();
  const told = await page.locator('section[aria-labelledby=under] strong').innerText();
  if (!/first|in its place/.test(told)) throw new Error(`nothing is said of who is first: ${told}`);
  say('DONE other version');
}

// Waits until an intent's page says which version serves. Without scripts it is opened again for that.
async function seeServing(page, version) {
  const told = page.locator('.lead', { hasText: `Version ${version} serves at every gateway` });
  const giveUp = Date.now() + 30_000;
  for (;;) {
    const isThere = await told.waitFor({ timeout: 1_000 }).then(() => true, () => false);
    if (isThere) return;
    if (Date.now() > giveUp) throw new Error(`${version} does not serve: ${await page.locator('.lead').innerText()}`);
    await page.goto(page.url());
  }
}

// On an intent's page: the row of a version.
const rowOf = (page, version) => page.locator('section[aria-labelledby=versions] > .scroll tbody tr')
  .filter({ has: page.locator('th', { hasText: new RegExp(`^${version.replaceAll('.', '\\.')}$`) }) });

async function rollOut(page) {
  await rowOf(page, OTHER_VERSION).getByRole('link', { name: 'Roll out' }).click();
  await page.getByLabel('Why, for the audit log').fill('Safety counts for more.');
  await page.getByRole('button', { name: 'Begin the rollout' }).click();
  await page.getByText('The rollout was changed.').waitFor();
}

// A rollout that has begun is plotted as soon as there is a sample of it, which is a second later at most.
async function seeCourse(page) {
  const drawn = page.locator('section[aria-labelledby=course] .drawn canvas').first();
  for (let look = 0; look < 20; look += 1) {
    const isThere = await drawn.waitFor({ timeout: 1_000 }).then(() => true, () => false);
    if (isThere) {
      if (PICTURES) await page.locator('section[aria-labelledby=course]').screenshot({ path: `${PICTURES}/journey-course.png` });
      return;
    }
    await page.goto(page.url());
  }
  throw new Error('the rollout is not plotted');
}

// A version goes its whole way: it is loaded, compared with what was ranked, rolled out, made live, and taken back.
async function shipVersion(page, isScripted) {
  await page.goto(`${GATEWAY}/console/intents`);
  await page.getByRole('link', { name: 'Load a component' }).click();
  await page.locator('input[name=file]').setInputFiles(COMPONENT);
  await page.getByRole('button', { name: 'Load it' }).click();
  await page.getByText(isScripted ? 'was loaded before. It stays as it was.' : 'is loaded. It serves nobody yet.').waitFor();
  await leavePicture(page, 'loaded');
  await page.getByRole('link', { name: 'Compare it' }).click();
  const address = page.url();
  if (isScripted) await page.evaluate(() => { window.isThisPage = true; });
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.locator('#report').waitFor();
  const told = await page.locator('#report').innerText();
  if (!/^1\.0\.1 differs from 1\.0\.0 in /.test(told)) throw new Error(`the report does not say what differs: ${told}`);
  if (isScripted) {
    // It came as a stream, on the page as it was.
    if (!await page.evaluate(() => window.isThisPage) || page.url() !== address) faults.push('the comparison has loaded its page anew');
    await page.getByRole('button', { name: 'Compare', exact: true }).isEnabled();
    await judge(page, 'the report of a comparison');
    await leavePicture(page, 'compared');
  }
  await page.getByRole('link', { name: 'To the intent' }).click();
  await rollOut(page);
  await page.getByRole('link', { name: 'Finish' }).click();
  await page.getByLabel('Why, for the audit log').fill('Enough was seen.');
  await page.getByRole('button', { name: 'Make it live' }).click();
  await seeServing(page, OTHER_VERSION);
  // What is in the list of versions is of when the page was opened.
  await page.goto(page.url());
  await rowOf(page, LIVE_VERSION).getByRole('link', { name: 'Activate' }).click();
  await page.getByRole('button', { name: 'Activate it' }).click();
  await seeServing(page, LIVE_VERSION);
  say(`DONE version ${isScripted ? 'with' : 'without'} scripts`);
}

const leavePicture = async (page, name) => {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/journey-${name}.png`, fullPage: true });
};

// A paper of the business, through the form.
async function uploadPaper(page) {
  await page.goto(`${GATEWAY}/dashboard/go-live/profile`);
  await page.getByLabel('What it is').selectOption('shop');
  await page.getByLabel('File').setInputFiles({ name: 'shop.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 the shop licence') });
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('cell', { name: 'shop.pdf' }).waitFor();
  say('DONE upload');
}

async function judge(page, where) {
  const refused = await page.evaluate(() => window.refusedByPolicy ?? []);
  for (const what of refused) faults.push(`${where}: the policy refuses ${what}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate((values) => window.axe.run(document, { runOnly: { type: 'tag', values } }), RULES);
  for (const { id, nodes } of violations) {
    for (const node of nodes) faults.push(`${where}: ${id}: ${node.html.slice(0, 160)}: ${node.failureSummary.split('\n').slice(1, 3).join(';')}`);
  }
}

// Tab alone reaches everything that can be acted on.
async function reachAll(page) {
  const wanted = await page.evaluate(() => {
    const able = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')];
    const visible = able.filter((one) => one.checkVisibility() && !one.disabled);
    // Of radio buttons of one name, the keyboard stops at one.
    const groups = new Set();
    const stops = visible.filter((one) => one.type !== 'radio' || (!groups.has(one.name) && groups.add(one.name)));
    stops.forEach((one, place) => { one.dataset.place = place; });
    return stops.length;
  });
  const reached = new Set();
  for (let step = 0; step < wanted + 20 && reached.size < wanted; step += 1) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate(() => {
      const one = document.activeElement;
      if (one?.type === 'radio') return document.querySelector(`input[name="${one.name}"][data-place]`)?.dataset.place;
      return one?.dataset.place;
    });
    if (place !== undefined) reached.add(place);
  }
  if (reached.size < wanted) faults.push(`${page.url()}: the keyboard reaches ${reached.size} of ${wanted}`);
}

// A change is announced to all partners, in words that a page must not run.
async function announce(page) {
  await page.goto(`${GATEWAY}/console/notices`);
  await page.locator('select[name=kind]').selectOption('manifest_schema');
  await page.getByLabel('Title').fill('Holidays in manifests <script>alert(1)</script>');
  await page.locator('textarea[name=text]').fill('Add the member.\nIt may be left out.');
  await page.getByLabel('New version').fill('0.2.0');
  const inAMonth = `${new Date(Date.now() + 31 * 86_400_000).toISOString().slice(0, 19)}Z`;
  await page.getByLabel('Takes effect').fill(inAMonth);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('One change is announced.').waitFor();
  say('DONE announcement');
}

async function walk(page, face, name) {
  const seen = new Set();
  const left = [face];
  // A list leads to many pages of one sort: one of each is looked at.
  const sort = (path) => path.replace(/[0-9a-z_-]*[0-9][0-9a-z_.-]*/gi, '*');
  while (left.length > 0) {
    const path = left.pop();
    if (seen.has(sort(path))) continue;
    seen.add(sort(path));
    const answer = await page.goto(`${GATEWAY}${path}`);
    if (answer.status() !== 200) faults.push(`${name}: ${path} is ${answer.status()}`);
    const { responseBodySize } = await answer.request().sizes();
    if (responseBodySize > PAGE_MAX_BYTES) faults.push(`${name}: ${path} has ${responseBodySize} bytes, compressed`);
    const isPlain = name.endsWith('plain desk');
    // A page with something that moves says so as soon as it is live.
    if (!isPlain && await page.locator('.moves').count() > 0) await page.locator('.live.good').waitFor();
    if (!isPlain && await page.locator('[data-plot]').count() > 0) await page.locator('[data-plot] .drawn canvas').first().waitFor();
    // Without scripts nothing says that it moves, and what only they can do is not shown.
    if (isPlain && await page.locator('.live:visible, .copy:visible').count() > 0) faults.push(`${name}: ${path} shows what only scripts do`);
    if (!isPlain) await judge(page, `${name} ${path}`);
    if (name.endsWith('light desk')) await reachAll(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (width > 0) faults.push(`${name}: ${path} is ${width} px wider than the screen`);
    if (PICTURES) await page.evaluate(() => window.scrollTo(0, 0));
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${`${name}${path}`.replace(/[^a-z0-9]+/gi, '-')}.png` });
    const links = await page.evaluate(() => [...document.links].map((link) => new URL(link.href)).map((url) => url.pathname + url.search));
    left.push(...links.filter((link) => link.startsWith(face) && !link.includes('/assets/')));
  }
  say(`DONE walk ${name} ${seen.size}`);
}

// A page that is open shows a review that comes in, says since when it is live, and when it is not.
async function seeReview(page) {
  await page.goto(`${GATEWAY}/console`);
  await page.locator('.live.good').waitFor();
  const before = await page.locator('#waits ~ .scroll tbody tr').count();
  await page.evaluate(() => { window.isThisPage = true; });
  say('REVIEW');
  await page.waitForFunction((count) => document.querySelectorAll('#waits ~ .scroll tbody tr').length === count + 1, before);
  if (!await page.evaluate(() => window.isThisPage)) faults.push('the page was loaded anew');
  say('DONE review by itself');
}

// The button beside an identifier that is cut copies the whole of it.
async function seeCopy(page, context) {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${GATEWAY}/console/reviews?status=all`);
  const button = page.locator('.copy').first();
  const whole = await button.getAttribute('data-copy');
  await button.click();
  await page.locator('.copy.done').first().waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  if (copied !== whole) faults.push(`"${copied}" was copied, not "${whole}"`);
  say('DONE copy');
}

// Signed out elsewhere, a page that is open says that it is not live. Its browser notes what was refused.
async function seeEnd(browser, storageState) {
  const context = await browser.newContext({ storageState });
  const [open, other] = [await context.newPage(), await context.newPage()];
  await open.goto(`${GATEWAY}/console/approvals`);
  await open.locator('.live.good').waitFor();
  await other.goto(`${GATEWAY}/console/approvals`);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await open.locator('.live.care').filter({ hasText: 'you are signed out' }).waitFor();
  await context.close();
  say('DONE end of a session');
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
try {
  // The journeys go without JavaScript: every page works so.
  const plain = { javaScriptEnabled: false };
  const partner = await open(browser, plain);
  await signUp(partner.page, 'ravi@newcar.example');
  await uploadPaper(partner.page);
  const live = await open(browser, plain);
  await signInAsPartner(live.page, 'asha@coolcar.example');
  const team = await open(browser, plain);
  await signIn(team.page);
  await shipVersion(team.page, false);
  await explainComplaint(team.page);
  await rankByAnother(team.page);
  await announce(team.page);
  // The same where scripts run.
  const scripted = await open(browser, { storageState: await team.context.storageState() });
  await shipVersion(scripted.page, true);
  // What is on its way is there to be looked at.
  await scripted.page.goto(scripted.page.url());
  await rollOut(scripted.page);
  await seeCourse(scripted.page);
  await explainComplaint(scripted.page);
  await rankByAnother(scripted.page);
  await scripted.context.close();
  const states = { '/dashboard': await live.context.storageState(), '/console': await team.context.storageState() };
  for (const [face, storageState] of Object.entries(states)) {
    for (const [name, look] of Object.entries(LOOKS)) {
      const { context, page } = await open(browser, { storageState, ...look });
      await walk(page, face, `${face.slice(1)} ${name}`);
      await context.close();
    }
  }
  const { context, page } = await open(browser, { storageState: states['/console'] });
  await seeReview(page);
  await seeCopy(page, context);
  await context.close();
  await seeEnd(browser, states['/console']);
} finally {
  await browser.close();
}
if (faults.length > 0) {
  process.stderr.write(`${[...new Set(faults)].join('\n')}\n`);
  process.exit(1);
}
say('DONE all');
process.exit(0);
