import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from 'playwright-core';
import { launchChromium } from './chromium.mjs';
import { build, install, ROOT } from './steps.mjs';

/* Takes the pictures of the console that the documentation shows: npm run screenshots */

const FOLDER = join(ROOT, 'docs/pictures');

/** Small enough for a repository and a page. */
const MOST_BYTES = 200_000;

const VIEWPORT = { width: 1180, height: 600 };

/** Rows drawn when the list fills the viewport; records of several lines leave room for fewer. */
const FILLED_ROWS = 10;

/** Slow enough that the view does not change while the picture is taken. */
const RECORDS_PER_SECOND = 4;

const LOG = 'src=*/lind-broker.log';

/** Each picture, and what must be visible before it is taken. */
const PICTURES = [
  {
    name: 'console-cluster',
    path: '/',
    theme: 'light',
    ready: async (page) => {
      await page.locator('.cell').first().waitFor();
      await page.getByText('broker.slow-sql').first().waitFor();
      await page.waitForLoadState('networkidle');
      await allRespond(page);
    },
  },
  {
    name: 'console-logs',
    path: `/logs?${LOG}`,
    theme: 'dark',
    ready: (page) => rowsAndChart(page),
  },
  {
    name: 'console-config',
    path: '/config',
    theme: 'light',
    ready: async (page) => {
      await page.getByText('storage.wal.volume').first().waitFor();
      await page.waitForLoadState('networkidle');
    },
  },
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
  {
    name: 'console-incident',
    path: '/incidents?last=6h',
    theme: 'light',
    ready: async (page) => {
      await page.getByRole('heading', { name: 'Before, during, after' }).waitFor();
      await page.waitForLoadState('networkidle');
    },
  },
  {
    name: 'console-phone',
    path: `/logs?${LOG}`,
    theme: 'dark',
    viewport: { width: 390, height: 720 },
    ready: (page) => rowsAndChart(page, 5),
  },
];

await install();
await build();
const demo = await startDemo();
const browser = await launchChromium();
try {
  for (const picture of PICTURES) await take(picture);
} finally {
  await browser.close();
  demo.stop();
}

async function take({ name, path, theme, viewport = VIEWPORT, ready }) {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    timezoneId: 'UTC',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await page.goto(new URL(path, demo.url).href);
  await ready(page);
  await page.evaluate(() => scrollTo(0, 0));
  const file = join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  await context.close();
  const { size } = statSync(file);
  console.log(`docs/pictures/${name}.png  ${Math.round(size / 1000)} kB`);
  if (size > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES / 1000} kB`);
}

/** On a busy machine a node may miss its deadline at first. */
async function allRespond(page) {
  const retry = page.locator('.notice').getByRole('button', { name: 'retry' });
  for (let tries = 0; tries < 20 && (await retry.count()) > 0; tries++) {
    await retry.first().click();
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(1000);
  }
}

async function rowsAndChart(page, rows = FILLED_ROWS) {
  await page
    .locator('#log-rows .row')
    .nth(rows - 1)
    .waitFor();
  await page.getByRole('slider', { name: 'Records over time' }).waitFor();
  await page.locator('.chart.is-counting').waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(onlyTimeout);
}

/** What is followed is never idle. */
function onlyTimeout(error) {
  if (!(error instanceof errors.TimeoutError)) throw error;
}

/** Three nodes with made-up logs, which are the same every time except for their timestamps. */
function startDemo() {
  const args = ['packages/cli/bin/porthole.cjs', 'demo', '--http-port', '0', '--grpc-port', '0'];
  const child = spawn(process.execPath, [...args, '--rate', String(RECORDS_PER_SECOND)], { cwd: ROOT });
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (part) => {
      output += part;
      const url = /^porthole is ready at (\S+)$/m.exec(output)?.[1];
      if (url) resolve({ url, stop: () => child.kill('SIGTERM') });
    });
    child.stderr.on('data', (part) => {
      output += part;
    });
    child.on('exit', (code) => reject(new Error(`the demo exited with ${code}:\n${output}`)));
  });
}
