import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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

/** A page is still when nothing was added to it, and nothing was requested, for this time. */
const STILL_MS = 700;

/** A page that follows a log is never still: what it shows this long after it has loaded is what it shows. */
const MOVING_MS = 4000;

/** What is still loading after this time is shown as it is: some states have parts that never come. */
const LOADING_MS = 45_000;

/** A hang, even on a machine that does much else. */
const TIMEOUT_MS = 120_000;

const MANY = 300;

/** The member of a cluster that is killed. */
const KILLED = 'storage-3';

/** How long the others take to have recorded what it wrote, and to notice that it is gone. */
const RECORDED_MS = 12_000;

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
    // What never responds is never still; the words appear after a moment.
    ready: (page) => page.waitForTimeout(3 * STILL_MS),
    route: (page) => page.route(/\/api\/v1\/(?!cluster\/nodes|nodes|session)/, () => {}),
  },
  partial: { url: 'partial', pages: PAGES },
  error: { pages: PAGES, route: (page) => page.route('**/api/**', (route) => route.abort()) },
  never: { url: 'partial', pages: { node: () => '/nodes/gone' } },
  dead: { url: 'dead', pages: { ...PAGES, node: () => `/nodes/${KILLED}` } },
  many: { pages: { overview: '/', nodes: '/nodes', config: '/config' }, route: (page) => routeMany(page) },
};

const wanted = process.argv.slice(2).map((pattern) => new RegExp(pattern));
const isWanted = (name) => wanted.every((part) => part.test(name));

await install();
await build();
const dir = mkdtempSync(join(tmpdir(), 'porthole-pictures-'));
const children = [];
const failed = [];
const contexts = new Map();
const browser = await launchChromium();
try {
  const demo = await start(['demo'], { TMPDIR: dir });
  const { nodes } = await (await fetch(new URL('/api/v1/cluster/nodes', demo))).json();
  for (const picture of PICTURES)
    if (isWanted(picture.name)) await attempt(picture.name, () => takeForDocs(demo, picture));
  const members = nodes.map(({ id, url }) => `${id}=${url}`);
  const ids = nodes.map(({ id }) => id);
  const servers = {
    demo: () => demo,
    empty: () => serve('empty'),
    partial: () => serve('partial', '--cluster-members', [...members, 'gone=http://127.0.0.1:9'].join(',')),
    dead: () => serveDead(ids),
  };
  await takeAll(servers, ids);
} finally {
  await browser.close();
  for (const child of children) {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit'); // it writes until then
  }
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

/** Every page in every state and width, each in both themes. */
async function takeAll(servers, ids) {
  mkdirSync(ALL, { recursive: true });
  const urls = new Map();
  for (const [state, { pages, route, ready, url = 'demo' }] of Object.entries(STATES))
    for (const [page, path] of Object.entries(pages))
      for (const size of SIZES) {
        const named = ['light', 'dark'].map((theme) => [theme, `${page}-${state}-${size.viewport.width}-${theme}.png`]);
        const chosen = named.filter(([, name]) => isWanted(name));
        if (chosen.length === 0) continue;
        // What nobody wants to see is not started.
        if (!urls.has(url)) urls.set(url, await servers[url]());
        const shown = { url: urls.get(url), path: typeof path === 'function' ? path(ids) : path };
        await attempt(`${page}-${state}-${size.viewport.width}`, () =>
          take({ ...shown, size, route, ready, theme: chosen[0][0] }, async (tab) => {
            for (const [theme, name] of chosen) {
              await tab.emulateMedia({ colorScheme: theme });
              await tab.screenshot({ path: join(ALL, name), animations: 'disabled', caret: 'hide' });
              console.log(`screenshots/${name}`);
            }
          }),
        );
      }
}

async function takeForDocs(url, { name, path, theme, size = { viewport: VIEWPORT }, ready }) {
  const file = join(DOCS, `${name}.png`);
  await take({ url, path, theme, size, ready }, async (page) => {
    // On a busy machine nodes respond too late, and the page says so: that is not what people are to see of it.
    for (let attempt = 1; await page.locator(IN_PART).first().isVisible(); attempt++) {
      if (attempt === MOST_ATTEMPTS) throw new Error('the nodes do not respond in time');
      await page.reload();
      await ready(page);
    }
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  });
  const bytes = statSync(file).size;
  console.log(`docs/pictures/${name}.png  ${Math.round(bytes / 1000)} kB`);
  if (bytes > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES / 1000} kB`);
}

async function take({ url, path, theme, size, route, ready = still }, shoot) {
  const page = await (await contextOf(url, size)).newPage();
  try {
    await page.emulateMedia({ colorScheme: theme });
    await route?.(page);
    await page.goto(new URL(path, url).href);
    await ready(page);
    await shoot(page);
  } finally {
    await page.close();
  }
}

/** Of each size and node one, which has loaded the fonts: a page that gets them late does without. */
async function contextOf(url, size) {
  const key = `${url} ${size.viewport.width}`;
  const known = contexts.get(key);
  if (known) return known;
  const settings = { timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce' };
  const context = await browser.newContext({ ...settings, ...size });
  contexts.set(key, context);
  context.setDefaultTimeout(TIMEOUT_MS);
  await context.addInitScript(watchPage, STILL_MS);
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(() => document.fonts.ready);
  await page.close();
  return context;
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

/** Three hundred nodes, made of those that are there: two of them do not respond. */
async function routeMany(page) {
  const ids = Array.from(
    { length: MANY },
    (_, index) => `lindb-prod-eu-${index % 3 === 0 ? 'broker' : 'storage'}-${index}`,
  );
  const isGone = (index) => index === 17 || index === 140;
  const change = (glob, edit) =>
    page.route(glob, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: edit(await response.json()) });
    });
  await change('**/api/v1/cluster/nodes*', (known) => {
    const nodes = ids.map((id, index) => {
      const own = { ...known.nodes[index % known.nodes.length], id, isSelf: index === 0, labels: {} };
      const [state, lastSeenMs] = isGone(index) ? ['unreachable', Date.now() - 400_000] : ['up', Date.now()];
      return { ...own, role: id.split('-')[3], labels: { zone: `eu-${(index % 3) + 1}` }, state, lastSeenMs };
    });
    return { ...known, nodes };
  });
  await change('**/api/v1/cluster/log/histogram*', (known) => {
    const [first] = known.members;
    const members = ids.map((id, index) => ({
      ...{ ...first, id },
      ...(isGone(index) && { outcome: 'timeout', detail: 'no response within 2 s', count: 0 }),
    }));
    // Each of the errors is one of another node, and some nodes have many.
    const buckets = known.buckets.map((bucket, at) => {
      const count = Object.values(bucket.nodes ?? {}).reduce((sum, own) => sum + own, 0);
      const nodes = {};
      for (let own = 0; own < count; own++) {
        const index = own % 2 === 0 ? 41 + (own % 7) : (at * 31 + own * 17) % MANY;
        if (!isGone(index)) nodes[ids[index]] = (nodes[ids[index]] ?? 0) + 1;
      }
      return { ...bucket, nodes };
    });
    return { ...known, members, buckets };
  });
}

/** A cluster whose third node breaks and is killed, recorded by the others: the address of its first. */
async function serveDead(ids) {
  const [name] = readdirSync(dir).filter((entry) => entry.startsWith('porthole-demo-'));
  const names = ['broker-1', 'storage-2', KILLED];
  const ports = await freePorts(names.length);
  const members = names.map((id, index) => `${id}=http://127.0.0.1:${ports[index]}`);
  const urls = [];
  for (const [index, id] of names.entries()) {
    const own = join(dir, id);
    cpSync(join(dir, name, ids[0], 'log'), join(own, 'log'), { recursive: true });
    cpSync(join(dir, name, ids[0], 'broker.toml'), join(own, 'service.toml'));
    urls.push(
      await start([
        ...['serve', '--log-dir', join(own, 'log'), '--service-config', join(own, 'service.toml')],
        ...['--cluster-node-id', id, '--logging-dir', join(own, 'own'), '--http-port', String(ports[index])],
        ...['--cluster-members', members.filter((_, at) => at !== index).join(',')],
      ]),
    );
  }
  const killed = children.at(-1);
  const write = (level, text) => {
    const time = new Date().toISOString().replace('T', ' ').slice(0, 23);
    const line = `${time}\t${level}\twal/segment.go:211\t[Storage WAL]: ${text}\n`;
    appendFileSync(join(dir, KILLED, 'log', 'lind-broker.log'), line);
  };
  for (let index = 0; index < RECORDED_MS / 50; index++) {
    write('ERROR', `fsync of segment ${118 + (index % 4)} failed: no space left on device`);
    await delay(50);
  }
  write('FATAL', 'the write-ahead log is closed');
  await delay(RECORDED_MS / 4);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await delay(RECORDED_MS);
  return urls[0];
}

/** Ports that are free when they are drawn; the system hands out others first. */
async function freePorts(count) {
  const holders = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(holders.map((holder) => once(holder, 'listening')));
  const ports = holders.map((holder) => holder.address().port);
  for (const holder of holders) holder.close();
  return ports;
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
function start(args, env = {}) {
  const port = args.includes('--http-port') ? [] : ['--http-port', '0'];
  const words = ['packages/cli/bin/porthole.cjs', ...args, ...port, '--grpc-port', '0'];
  const child = spawn(process.execPath, words, { cwd: ROOT, env: { ...process.env, ...env } });
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
