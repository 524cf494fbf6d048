import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launchChromium } from './chromium.mjs';
import { build, install, ROOT } from './steps.mjs';

/*
 * Takes the pictures of the console that the documentation shows: npm run screenshots [PATTERN...]
 *
 * They go to docs/pictures. Patterns, all of which must match, choose some of them by their names.
 */

const DOCS = join(ROOT, 'docs/pictures');

/** Small enough for a repository and a page. */
const MOST_BYTES = 200_000;

const VIEWPORT = { width: 1180, height: 600 };
const PHONE = { viewport: { width: 390, height: 720 }, hasTouch: true, isMobile: true };

/** Rows drawn when the list fills the viewport; records of several lines leave room for fewer. */
const FILLED_ROWS = 10;

/** A page is still when nothing was added to it, and nothing was requested, for this time. */
const STILL_MS = 700;

/** A page that follows a log is never still: what it shows this long after it has loaded is what it shows. */
const MOVING_MS = 4000;

/** What is still loading after this time is shown as it is: some states have parts that never come. */
const LOADING_MS = 45_000;

/** A hang, even on a machine that does much else. */
const TIMEOUT_MS = 120_000;

/** What a page shows of an answer that is not complete, and how often it is asked again. */
const IN_PART =
  'main :is(.notice:not(.is-note), .cell.hatched, .warning:not(.facet-value, :is(.pattern, .row, .event, .card) *)), .row-gap';
const MOST_ATTEMPTS = 12;

const LOG = 'src=*/lind-broker.log';

const INCIDENT = '/incidents?from=1h&to=now';

/** The pictures of the documentation, and what must be visible before each is taken. */
const PICTURES = [
  { name: 'console-cluster', path: '/', theme: 'light', ready: (page) => settled(page, '.cell') },
  { name: 'console-logs', path: `/logs?${LOG}`, theme: 'dark', ready: (page) => rowsAndChart(page) },
  { name: 'console-config', path: '/config', theme: 'light', ready: (page) => settled(page, '.history') },
  {
    name: 'console-details',
    path: `/logs?${LOG}&level=WARN`,
    theme: 'light',
    async ready(page) {
      await rowsAndChart(page);
      await page.locator('#log-rows').focus();
      await page.keyboard.press('E');
      await page.locator('.row.is-focused').waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('tab', { name: /^Same pattern \d/ }).waitFor();
    },
  },
  { name: 'console-incident', path: INCIDENT, theme: 'light', ready: (page) => settled(page, '.phases') },
  { name: 'console-phone', path: `/logs?${LOG}`, theme: 'dark', size: PHONE, ready: (page) => rowsAndChart(page, 5) },
];

const wanted = process.argv.slice(2).map((pattern) => new RegExp(pattern));
const isWanted = (name) => wanted.every((part) => part.test(name));

await install();
await build();
const dir = mkdtempSync(join(tmpdir(), 'porthole-pictures-'));
const failed = [];
const browser = await launchChromium();
const demo = startDemo();
try {
  const url = await demo.url;
  for (const picture of PICTURES)
    if (isWanted(picture.name)) await attempt(picture.name, () => takePicture(url, picture));
} finally {
  await browser.close();
  demo.child.kill('SIGTERM');
  // It writes until then.
  if (demo.child.exitCode === null && demo.child.signalCode === null) await once(demo.child, 'exit');
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}
if (failed.length > 0) {
  console.error(`${failed.length} pictures could not be taken:\n  ${failed.join('\n  ')}`);
  process.exitCode = 1;
}

/** One picture that fails on a busy machine is tried once more; it does not cost the others. */
async function attempt(name, work) {
  try {
    await work().catch(work);
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    failed.push(name);
  }
}

async function takePicture(url, { name, path, theme, size = { viewport: VIEWPORT }, ready }) {
  const file = join(DOCS, `${name}.png`);
  const settings = { timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce', colorScheme: theme };
  const context = await browser.newContext({ ...settings, ...size });
  try {
    context.setDefaultTimeout(TIMEOUT_MS);
    await context.addInitScript(watchPage, STILL_MS);
    const page = await context.newPage();
    // A page that gets its fonts late does without: they are loaded first.
    await page.goto(url);
    await page.evaluate(() => document.fonts.ready);
    await page.goto(new URL(path, url).href);
    await ready(page);
    // On a busy machine nodes respond too late, and the page says so: that is not what people are to see of it.
    for (let tries = 1; await page.locator(IN_PART).first().isVisible(); tries++) {
      if (tries === MOST_ATTEMPTS) throw new Error('the nodes do not respond in time');
      await page.reload();
      await ready(page);
    }
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  } finally {
    await context.close();
  }
  const bytes = statSync(file).size;
  console.log(`docs/pictures/${name}.png  ${Math.round(bytes / 1000)} kB`);
  if (bytes > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES / 1000} kB`);
}

/** Until nothing more is loaded, or is long enough loading. */
async function still(page) {
  const asked = page.evaluate((bounds) => globalThis.untilStill(bounds), {
    movingMs: MOVING_MS,
    loadingMs: LOADING_MS,
  });
  // A page that hangs does not respond to this either.
  await Promise.race([asked, delay(TIMEOUT_MS).then(() => Promise.reject(new Error('the page hangs')))]);
}

/** Runs in the page: notes when something was added to it, or requested; texts that count the seconds do not matter. */
function watchPage(stillMs) {
  let changedMs = Date.now();
  let requests = 0;
  const touch = () => {
    changedMs = Date.now();
  };
  const { fetch: request } = globalThis;
  globalThis.fetch = async (...args) => {
    requests++;
    touch();
    try {
      return await request(...args);
    } finally {
      requests--;
      touch();
    }
  };
  new MutationObserver(touch).observe(document, { childList: true, subtree: true });
  globalThis.untilStill = async ({ movingMs, loadingMs }) => {
    const isLoading = () =>
      requests > 0 || document.querySelector('main .skeleton, main .loading:not(:empty)') !== null;
    const isMoving = () => isLoading() || Date.now() - changedMs < stillMs;
    for (const [isBusy, mostMs] of [
      [isLoading, loadingMs],
      [isMoving, movingMs],
    ])
      for (const endMs = Date.now() + mostMs; isBusy() && Date.now() < endMs; )
        await new Promise((resolve) => setTimeout(resolve, 50));
    await document.fonts.ready;
  };
}

async function settled(page, selector) {
  await page.locator(selector).first().waitFor();
  await still(page);
}

async function rowsAndChart(page, rows = FILLED_ROWS) {
  await page
    .locator('#log-rows .row')
    .nth(rows - 1)
    .waitFor();
  await page.locator('.chart.is-counting').waitFor({ state: 'detached' });
  await still(page);
}

/** The demo has made-up logs, the same every time except for their timestamps. */
function startDemo() {
  const words = ['packages/cli/bin/porthole.cjs', 'demo', '--http-port', '0', '--grpc-port', '0'];
  const child = spawn(process.execPath, words, { cwd: ROOT, env: { ...process.env, TMPDIR: dir } });
  let output = '';
  const url = new Promise((resolve, reject) => {
    child.stdout.on('data', (part) => {
      output += part;
      const found = /^porthole is ready at (\S+)$/m.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.stderr.on('data', (part) => {
      output += part;
    });
    child.on('exit', (code) => reject(new Error(`porthole demo exited with ${code}:\n${output}`)));
  });
  return { child, url };
}
