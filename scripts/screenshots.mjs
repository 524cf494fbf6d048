import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors } from 'playwright-core';
import { launchChromium } from './chromium.mjs';
import { build, install, ROOT } from './steps.mjs';

/*
 * Takes pictures of the console: npm run screenshots [PATTERN...]
 *
 * Those that the documentation shows go to docs/pictures; every page in every state, in both themes and three widths,
 * goes to screenshots/, which is not committed: to be looked at. Patterns, all of which must match, choose some of
 * them: logs, "(empty|error)-390".
 */

const DOCS = join(ROOT, 'docs/pictures');
const ALL = join(ROOT, 'screenshots');

/** Small enough for a repository and a page. */
const MOST_BYTES = 200_000;

const VIEWPORT = { width: 1180, height: 600 };
const PHONE = { viewport: { width: 390, height: 720 }, hasTouch: true, isMobile: true };

/** A desk, a tablet and a phone. */
const SIZES = [
  { viewport: { width: 1440, height: 900 } },
  { viewport: { width: 820, height: 1100 }, hasTouch: true },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
];

/** Rows drawn when the list fills the viewport; records of several lines leave room for fewer. */
const FILLED_ROWS = 10;

/** Slow enough that the view does not change while the picture is taken. */
const RECORDS_PER_SECOND = 4;

/** What a page shows after this time is what it shows. */
const SETTLED_MS = 2500;

const LOG = 'src=*/lind-broker.log';

const INCIDENT = '/incidents?from=6h&to=now';

/** The pictures of the documentation, and what must be visible before each is taken. */
const PICTURES = [
  { name: 'console-cluster', path: '/', theme: 'light', ready: (page) => settled(page, '.cell') },
  { name: 'console-logs', path: `/logs?${LOG}`, theme: 'dark', ready: (page) => rowsAndChart(page) },
  { name: 'console-config', path: '/config', theme: 'light', ready: (page) => settled(page, 'table') },
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

const PAGES = {
  overview: '/',
  logs: '/logs?last=1h&live=0',
  incidents: '/incidents?last=24h',
  incident: INCIDENT,
  config: '/config',
  nodes: '/nodes',
};

/** What each state does to the requests of a page, or which pages show it. */
const STATES = {
  usual: { pages: { ...PAGES, node: (nodes) => `/nodes/${nodes[0]}`, files: (nodes) => `/nodes/${nodes[0]}/logs` } },
  empty: { url: 'empty', pages: PAGES },
  loading: {
    pages: PAGES,
    ready: (page) => page.waitForTimeout(SETTLED_MS),
    route: (page) => page.route(/\/api\/v1\/(?!cluster\/nodes|nodes|session)/, () => {}),
  },
  partial: { url: 'partial', pages: PAGES },
  error: { pages: PAGES, route: (page) => page.route('**/api/**', (route) => route.abort()) },
  dead: { url: 'partial', pages: { node: () => '/nodes/gone', nodes: '/nodes' } },
  many: { pages: { overview: '/', nodes: '/nodes', config: '/config' }, route: (page) => routeMany(page) },
};

const wanted = process.argv.slice(2).map((pattern) => new RegExp(pattern));
const isWanted = (name) => wanted.every((part) => part.test(name));

await install();
await build();
const dir = mkdtempSync(join(tmpdir(), 'porthole-pictures-'));
const children = [];
const browser = await launchChromium();
try {
  const demo = await start(['demo', '--rate', String(RECORDS_PER_SECOND)]);
  const { nodes } = await (await fetch(new URL('/api/v1/cluster/nodes', demo))).json();
  for (const picture of PICTURES) if (isWanted(picture.name)) await takeForDocs(demo, picture);
  const members = nodes.map(({ id, url }) => `${id}=${url}`);
  const urls = {
    demo,
    empty: await serve('empty'),
    partial: await serve('partial', '--cluster-members', [...members, 'gone=http://127.0.0.1:9'].join(',')),
  };
  await takeAll(urls, nodes);
} finally {
  await browser.close();
  for (const child of children) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit'); // it writes until then
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

/** Every page in every state and width, each in both themes. */
async function takeAll(urls, nodes) {
  mkdirSync(ALL, { recursive: true });
  const ids = nodes.map(({ id }) => id);
  for (const [state, { pages, route, ready, url = 'demo' }] of Object.entries(STATES))
    for (const [page, path] of Object.entries(pages))
      for (const size of SIZES) {
        const named = ['light', 'dark'].map((theme) => [theme, `${page}-${state}-${size.viewport.width}-${theme}.png`]);
        const chosen = named.filter(([, name]) => isWanted(name));
        if (chosen.length === 0) continue;
        const own = { url: urls[url], path: typeof path === 'function' ? path(ids) : path, size, route, ready };
        await take({ ...own, theme: chosen[0][0] }, async (shown) => {
          for (const [theme, name] of chosen) {
            await shown.emulateMedia({ colorScheme: theme });
            await shown.screenshot({ path: join(ALL, name), animations: 'disabled', caret: 'hide' });
            console.log(`screenshots/${name}`);
          }
        });
      }
}

async function takeForDocs(url, { name, path, theme, size = { viewport: VIEWPORT }, ready }) {
  const file = join(DOCS, `${name}.png`);
  await take({ url, path, theme, size, ready }, async (page) => {
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  });
  const bytes = statSync(file).size;
  console.log(`docs/pictures/${name}.png  ${Math.round(bytes / 1000)} kB`);
  if (bytes > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES / 1000} kB`);
}

async function take({ url, path, theme, size, route, ready = idle }, shoot) {
  const settings = { colorScheme: theme, timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce' };
  const context = await browser.newContext({ ...settings, ...size });
  try {
    const page = await context.newPage();
    await route?.(page);
    await page.goto(new URL(path, url).href);
    await ready(page);
    await shoot(page);
  } finally {
    await context.close();
  }
}

/** Until nothing more is loaded, or is long enough loading. */
async function idle(page) {
  await page
    .locator('main .skeleton, main .loading:not(:empty)')
    .first()
    .waitFor({ state: 'detached' })
    .catch(onlyTimeout);
  await page.waitForLoadState('networkidle', { timeout: 8000 }).catch(onlyTimeout);
  await page.waitForTimeout(SETTLED_MS);
}

async function settled(page, selector) {
  await page.locator(selector).first().waitFor();
  await idle(page);
}

async function rowsAndChart(page, rows = FILLED_ROWS) {
  await page
    .locator('#log-rows .row')
    .nth(rows - 1)
    .waitFor();
  await page.locator('.chart.is-counting').waitFor({ state: 'detached' });
  await idle(page);
}

/** What is followed is never idle. */
function onlyTimeout(error) {
  if (!(error instanceof errors.TimeoutError)) throw error;
}

/** Three hundred nodes, made of those that are there: two of them do not respond. */
async function routeMany(page) {
  await page.route('**/api/v1/cluster/nodes*', async (route) => {
    const response = await route.fetch();
    const known = await response.json();
    const nodes = Array.from({ length: 300 }, (_, index) => {
      const role = index % 3 === 0 ? 'broker' : 'storage';
      const own = { ...known.nodes[index % known.nodes.length], isSelf: index === 0, role };
      const isGone = index === 17 || index === 140;
      const [state, lastSeenMs] = isGone ? ['unreachable', Date.now() - 400_000] : ['up', Date.now()];
      return {
        ...own,
        id: `lindb-prod-eu-${role}-${index}`,
        labels: { zone: `eu-${(index % 3) + 1}` },
        state,
        lastSeenMs,
      };
    });
    await route.fulfill({ response, json: { ...known, nodes } });
  });
}

/** A node of its own, with no logs. */
function serve(name, ...flags) {
  const logs = join(dir, name, 'log');
  mkdirSync(logs, { recursive: true });
  return start([
    'serve',
    '--log-dir',
    logs,
    '--cluster-node-id',
    name,
    '--logging-dir',
    join(dir, name, 'own'),
    ...flags,
  ]);
}

/** The address of a node that has started; the demo has made-up logs, the same every time except for their timestamps. */
function start(args) {
  const words = ['packages/cli/bin/porthole.cjs', ...args, '--http-port', '0', '--grpc-port', '0'];
  const child = spawn(process.execPath, words, { cwd: ROOT });
  children.push(child);
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (part) => {
      output += part;
      const url = /^porthole is ready at (\S+)$/m.exec(output)?.[1];
      if (url) resolve(url);
    });
    child.stderr.on('data', (part) => {
      output += part;
    });
    child.on('exit', (code) => reject(new Error(`porthole ${args[0]} exited with ${code}:\n${output}`)));
  });
}
