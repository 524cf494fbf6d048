import { linkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchChromium } from '../../scripts/chromium.mjs';
import type { BenchContext } from '../context.ts';
import { FOLLOWED_FILE } from '../follow-run.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import { ensureFile, writeLines } from '../input-files.ts';
import { startWriter } from '../line-writer.ts';
import { FIRST_TIME_MS, MS_PER_LINE } from '../log-lines.ts';
import { startPorthole } from '../porthole.ts';
import { fastest, quantile, showAll, showNumber } from '../rounds.ts';
import { ensureSeekFolder, type SeekFile } from '../seek-files.ts';

/** The page in a browser: how soon it shows lines, and what it takes while they come. */
export const consoleGroup: Group = {
  name: 'console',
  needs: ['chromium'],
  run: async (context) => [
    ...(await consoleOpenRows(context)),
    ...(await consoleFollowRows(context)),
    ...(await consolePaintRows(context)),
  ],
};

const MOST_GROWTH = 1.5;
const MOST_DOWNLOAD_KB = 250;

const KB = 1000;

/** About what a line takes: from this and the size follow the times in the file, but for the very last. */
const LINE_BYTES = 170;
const LAST_FRACTION = 0.95;

/** A large log is opened, and gone to other times in. */
async function consoleOpenRows(context: BenchContext): Promise<Row[]> {
  const folder = await ensureConsoleFolder(context);
  const flags = ['--node-time-zone', 'UTC', '--cluster-node-id', 'n1'];
  const { url, stop } = await startPorthole(context, folder.dir, flags);
  const browser = await openBrowser(context);
  const addressFor = (file: string) => `${url}/logs?src=n1/=${file}`;
  const rows = [
    ...(await firstLineRows(context, { browser, folder, addressFor })),
    await jumpRow(context, { browser, folder, addressFor }),
  ];
  await browser.close();
  await stop();
  return rows;
}

interface PageDeps {
  browser: Browser;
  folder: ConsoleFolder;
  addressFor(file: string): string;
}

async function firstLineRows(context: BenchContext, { browser, folder, addressFor }: PageDeps): Promise<Row[]> {
  const { small, large } = folder;
  context.log(`  first line of ${large.size} and of 10 MiB`);
  const times = { small: [] as number[], large: [] as number[] };
  const downloads: number[] = [];
  const open = async (file: string, isSmall: boolean, isCounted: boolean) => {
    const page = await ConsolePage.open(browser, addressFor(file), pace(context));
    const [ms, bytes] = [await page.read<number>('probe.firstRowMs'), page.receivedBytes];
    await page.close();
    if (!isCounted) return;
    times[isSmall ? 'small' : 'large'].push(ms);
    downloads.push(bytes / KB);
  };
  for (let round = -warmUps(context); round < context.effort.navigations; round++) {
    for (const isSmall of round % 2 === 0 ? [true, false] : [false, true])
      await open(isSmall ? small : large.name, isSmall, round >= 0);
  }
  const p95 = quantile(times.large, 0.95);
  const ratio = fastest(times.large) / fastest(times.small);
  const download = Math.max(...downloads);
  const figure = `from navigation to the first line of ${large.size} painted`;
  return [
    {
      figure: `${figure}, p95 of ${times.large.length}, ms`,
      porthole: showNumber(p95),
      rounds: showAll(times.large),
    },
    {
      figure: `${figure}, fastest, ms`,
      porthole: showNumber(fastest(times.large)),
      against: `of 10 MiB ${showNumber(fastest(times.small))}`,
      ratio,
      target: atMost(ratio, MOST_GROWTH),
      rounds: showAll(times.small),
    },
    {
      figure: 'over the network until the first line, nothing cached, kB',
      porthole: showNumber(download),
      target: atMost(download, MOST_DOWNLOAD_KB),
    },
  ];
}

async function jumpRow(context: BenchContext, { browser, folder, addressFor }: PageDeps): Promise<Row> {
  const { large } = folder;
  context.log(`  to a time in ${large.size}`);
  const page = await ConsolePage.open(browser, addressFor(large.name), pace(context));
  const times: number[] = [];
  for (let round = -warmUps(context); round < context.effort.navigations; round++) {
    // A different position every time.
    const fraction = ((round + 2) * 0.618 + 0.3) % 1;
    const line = Math.floor((large.sizeBytes * fraction * LAST_FRACTION) / LINE_BYTES);
    const tookMs = await jump(page, new Date(FIRST_TIME_MS + line * MS_PER_LINE).toISOString());
    if (round >= 0) times.push(tookMs);
  }
  await page.close();
  const p95 = quantile(times, 0.95);
  return {
    figure: `from Enter to the lines of a time in ${large.size} painted, p95 of ${times.length}, ms`,
    porthole: showNumber(p95),
    rounds: showAll(times),
  };
}

async function jump(opened: ConsolePage, time: string): Promise<number> {
  const { page } = opened;
  await page.locator('#log-rows').focus();
  await page.keyboard.press('t');
  await page.getByLabel('Time', { exact: true }).fill(time);
  await opened.read(`probe.expectJump(${JSON.stringify(time)})`);
  await page.keyboard.press('Enter');
  return opened.read<number>('probe.jumpMs');
}

const PAGES = ['', 'logs', 'incidents', 'config', 'nodes'];
const SLOWDOWN = 4;

/** A page of text, without a script. */
const PLAIN_PAGE = 'health/live';

/** Each page is opened by a browser that is given a part of the processor. */
async function consolePaintRows(context: BenchContext): Promise<Row[]> {
  const dir = context.tempDir();
  writeFileSync(join(dir, FOLLOWED_FILE), 'the first line has no time\n');
  const { url, stop } = await startPorthole(context, dir, ['--node-time-zone', 'UTC', '--cluster-node-id', 'n1']);
  const browser = await openBrowser(context);
  const paint = async (name: string) => {
    const times: number[] = [];
    // Of six pages: half as often as others are opened.
    for (let round = -warmUps(context); round < context.effort.navigations / 2; round++) {
      const page = await ConsolePage.open(browser, `${url}/${name}`, { ...pace(context), slowdown: SLOWDOWN });
      if (round >= 0) times.push(await page.read<number>('probe.firstPaintMs'));
      await page.close();
    }
    return times;
  };
  context.log('  first paint of each page');
  const plain = await paint(PLAIN_PAGE);
  const rows: Row[] = [];
  for (const name of PAGES) {
    const times = await paint(name);
    rows.push({
      figure: `from navigation to the first paint of /${name}, processor slowed ${SLOWDOWN} times, fastest of ${times.length}, ms`,
      porthole: showNumber(fastest(times)),
      against: `of plain text ${showNumber(fastest(plain))}`,
      ratio: fastest(times) / fastest(plain),
      rounds: `${showAll(times)} against ${showAll(plain)}`,
    });
  }
  await browser.close();
  await stop();
  return rows;
}

const FAST_LINES = 1000;
const LONG_LINES = 500;
const MOST_ROWS = 120;
const MOST_ELEMENTS = 2500;
const MOST_HEAP_MB = 150;

/** Flat: what a look can differ from another without anything being kept. */
const MOST_GROWTH_MB = 10;

/** Until as many lines are loaded as are kept. */
const FILLING_MS = 10_000;
const SAMPLE_EVERY_MS = 10_000;

/** Two frames at 60 a second: one was left out. */
const LATE_FRAME_MS = 34;

const WHEEL_PX = 240;
const MB = 1_000_000;

/** A log is followed while it is written, and scrolled through. */
async function consoleFollowRows(context: BenchContext): Promise<Row[]> {
  const dir = context.tempDir();
  const path = join(dir, FOLLOWED_FILE);
  writeFileSync(path, 'the first line has no time\n');
  const flags = ['--node-time-zone', 'UTC', '--cluster-node-id', 'n1'];
  const { url, stop } = await startPorthole(context, dir, flags);
  const browser = await openBrowser(context);
  const deps = { browser, path, address: `${url}/logs?src=n1/${FOLLOWED_FILE}` };
  const rows = [...(await paintRows(context, deps)), ...(await heapRows(context, deps))];
  await browser.close();
  await stop();
  return rows;
}

interface FollowDeps {
  browser: Browser;
  path: string;
  address: string;
}

async function paintRows(context: BenchContext, { browser, path, address }: FollowDeps): Promise<Row[]> {
  const { followSeconds: seconds } = context.effort;
  context.log(`  ${FAST_LINES} lines/s for ${seconds} s, then scrolling`);
  const page = await ConsolePage.open(browser, address, pace(context));
  const writer = startWriter(path, { linesPerSecond: FAST_LINES });
  context.cleanup.add(() => writer.stop());
  await sleep(1000 * Math.min(2, seconds));
  await page.longTasks();
  await page.read('probe.frames.splice(0)');
  await page.read('probe.isNoting = true');
  await sleep(seconds * 1000);
  // Before what was painted is read: to hand out thousands of lines is a long task itself.
  const following = { longest: Math.max(0, ...(await page.longTasks())), size: await page.size() };
  const frames = await page.read<number[]>('probe.frames.splice(0)');
  const painted = await page.read<Painted[]>('probe.painted.splice(0)');
  writer.stop();
  const scrolling = await scroll(page, seconds);
  await page.close();
  const latencies = paintLatencies(painted);
  const p95 = quantile(latencies, 0.95);
  const longest = Math.max(following.longest, scrolling.longest);
  const [rows, elements] = [scrolling, following].reduce(
    ([most, all], { size }) => [Math.max(most, size.rows), Math.max(all, size.elements)],
    [0, 0],
  );
  return [
    {
      figure: `${FAST_LINES} lines/s for ${seconds} s, from the write to the paint, p95 in ms`,
      porthole: showNumber(p95),
      rounds: `p50 ${showNumber(quantile(latencies, 0.5))}, highest ${showNumber(quantile(latencies, 1))} of ${latencies.length} lines, ${painted.length} of them drawn`,
    },
    {
      figure: `${FAST_LINES} lines/s for ${seconds} s, frames that came more than a frame late, of 1,000`,
      porthole: showNumber((1000 * frames.filter((ms) => ms > LATE_FRAME_MS).length) / frames.length),
      rounds: `longest ${showNumber(Math.max(...frames))} ms of ${frames.length} frames`,
    },
    {
      figure: 'rows in the document, following and scrolling',
      porthole: String(rows),
      target: atMost(rows ?? 0, MOST_ROWS),
    },
    {
      figure: 'elements in the document, following and scrolling',
      porthole: String(elements),
      target: atMost(elements ?? 0, MOST_ELEMENTS),
    },
    {
      figure: 'longest task of the main thread, ms; 0 is none of 50 or more',
      porthole: showNumber(longest),
      rounds: `following ${showNumber(following.longest)}, scrolling ${showNumber(scrolling.longest)}`,
    },
  ];
}

/** Number, when it was written in ns of the steady clock, when it was painted in ms since 1970. */
type Painted = [number: number, writtenNs: string, paintedMs: number];

/** Lines that were never drawn, because later ones were there by the next frame, count as painted with those. */
function paintLatencies(painted: readonly Painted[]): number[] {
  const steadyMs = performance.timeOrigin + performance.now() - Number(process.hrtime.bigint()) / 1e6;
  const latencies: number[] = [];
  let before: { number: number; writtenMs: number } | undefined;
  for (const [number, writtenNs, paintedMs] of painted) {
    const writtenMs = steadyMs + Number(writtenNs) / 1e6;
    const first = before ? before.number + 1 : number;
    for (let each = first; each <= number; each++) {
      const share = before ? (each - before.number) / (number - before.number) : 1;
      latencies.push(paintedMs - ((before?.writtenMs ?? writtenMs) * (1 - share) + writtenMs * share));
    }
    before = { number, writtenMs };
  }
  return latencies;
}

/** By the wheel, through what is loaded and beyond. */
async function scroll(page: ConsolePage, seconds: number) {
  await page.longTasks();
  await page.page.locator('#log-rows').hover();
  let size = await page.size();
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    await page.page.mouse.wheel(0, -WHEEL_PX);
    const now = await page.size();
    size = { rows: Math.max(size.rows, now.rows), elements: Math.max(size.elements, now.elements) };
  }
  return { size, longest: Math.max(0, ...(await page.longTasks())) };
}

async function heapRows(context: BenchContext, { browser, path, address }: FollowDeps): Promise<Row[]> {
  const { longFollowSeconds: seconds } = context.effort;
  context.log(`  ${LONG_LINES} lines/s for ${seconds} s`);
  const page = await ConsolePage.open(browser, address, pace(context));
  const writer = startWriter(path, { linesPerSecond: LONG_LINES });
  context.cleanup.add(() => writer.stop());
  await sleep(Math.min(FILLING_MS, seconds * 1000));
  const samples: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    samples.push((await page.heapBytes()) / MB);
    await sleep(Math.min(SAMPLE_EVERY_MS, Math.max(0, end - performance.now())));
  }
  samples.push((await page.heapBytes()) / MB);
  writer.stop();
  await page.close();
  const growth = (samples.at(-1) ?? 0) - (samples[0] ?? 0);
  const figure = `memory of scripts while ${LONG_LINES} lines/s are followed for ${seconds} s`;
  return [
    {
      figure: `${figure}, highest look, MB`,
      porthole: showNumber(Math.max(...samples)),
      target: atMost(Math.max(...samples), MOST_HEAP_MB, 'MB'),
      rounds: showAll(samples),
    },
    { figure: `${figure}, growth, MB`, porthole: showNumber(growth), target: atMost(growth, MOST_GROWTH_MB, 'MB') },
  ];
}

const PROBE = join(import.meta.dirname, '..', 'console-probe.js');

/** Until a new window has come to rest: what its browser does for it, in other processes, is not ours to measure. */
const SETTLE_MS = 1000;

interface OpenOptions {
  settleMs: number;
  /** How many times slower the processor is made. */
  slowdown?: number;
}

function pace({ effort }: BenchContext): OpenOptions {
  return { settleMs: effort.waitsForRest ? SETTLE_MS : 0 };
}

/** Not counted. */
function warmUps({ effort }: BenchContext): number {
  return effort.waitsForRest ? 2 : 0;
}

/** As a notebook shows it. */
const VIEWPORT = { width: 1440, height: 900 };

/** The browser; closed with the next cleanup. */
async function openBrowser({ cleanup }: BenchContext): Promise<Browser> {
  const browser = await launchChromium();
  cleanup.add(() => browser.close());
  return browser;
}

/** A page of the console with what notes when something is painted. What runs in it is given as text: it knows nothing of here. */
class ConsolePage {
  readonly page: Page;
  readonly #session: CDPSession;
  #receivedBytes = 0;

  private constructor(page: Page, session: CDPSession) {
    this.page = page;
    this.#session = session;
  }

  /** In a context of its own, so that nothing is known from before. Resolves when the first record is painted. */
  static async open(browser: Browser, address: string, { settleMs, slowdown = 1 }: OpenOptions): Promise<ConsolePage> {
    const context = await browser.newContext({ viewport: VIEWPORT, timezoneId: 'UTC' });
    const page = await context.newPage();
    await page.addInitScript({ path: PROBE });
    const session = await context.newCDPSession(page);
    const opened = new ConsolePage(page, session);
    session.on('Network.dataReceived', ({ encodedDataLength }) => {
      opened.#receivedBytes += encodedDataLength;
    });
    session.on('Network.responseReceived', ({ response }) => {
      opened.#receivedBytes += response.encodedDataLength; // so far: the headers
    });
    await session.send('Network.enable');
    await sleep(settleMs);
    if (slowdown > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await page.goto(address);
    await opened.read(slowdown > 1 ? 'probe.firstPaintMs' : 'probe.firstRowMs');
    return opened;
  }

  /** As they came over the network, headers included. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** What an expression, or its promise, comes to. By the protocol itself: the page's policy lets nothing else evaluate text. */
  async read<T>(expression: string): Promise<T> {
    const navigation = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', navigation);
    if (exceptionDetails) throw new Error(`in the page: ${exceptionDetails.exception?.description ?? expression}`);
    return result.value as T;
  }

  /** Durations of tasks of 50 ms and more since this was asked last. */
  longTasks(): Promise<number[]> {
    return this.read('probe.longTasks.splice(0)');
  }

  size(): Promise<{ rows: number; elements: number }> {
    return this.read(`({
      rows: document.querySelectorAll('#log-rows .row').length,
      elements: document.querySelectorAll('*').length,
    })`);
  }

  /** What is in use after everything unused was given back. */
  async heapBytes(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage');
    return (await this.#session.send('Runtime.getHeapUsage')).usedSize;
  }
}

const SMALL_BYTES = 10 * 1024 ** 2;

interface ConsoleFolder {
  dir: string;
  small: string;
  large: SeekFile;
}

/** A folder with a log of 10 MiB and the large one of the seek group, which is not made a second time. */
async function ensureConsoleFolder(context: BenchContext): Promise<ConsoleFolder> {
  const { large } = await ensureSeekFolder(context);
  const dir = context.dataDir('console');
  const small = '10-mib.log';
  await ensureFile(context, join(dir, small), SMALL_BYTES, (handle) => writeLines(handle, SMALL_BYTES));
  const path = join(dir, large.name);
  if (statSync(path, { throwIfNoEntry: false })?.ino !== statSync(large.path).ino) {
    rmSync(path, { force: true });
    linkSync(large.path, path);
  }
  return { dir, small, large: { ...large, path } };
}
