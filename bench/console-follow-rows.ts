import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { ConsolePage, openBrowser } from './console-page.ts';
import type { BenchContext } from './context.ts';
import { FOLLOWED_FILE } from './follow-run.ts';
import { startWriter } from './line-writer.ts';
import { startPorthole } from './porthole.ts';
import { quantile } from './quantile.ts';
import { showNumber } from './rounds.ts';
import { atMost, below, type Row } from './row.ts';

const FAST_LINES = 1000;
const LONG_LINES = 500;
const MOST_P95_MS = 250;
const MOST_ROWS = 120;
const MOST_ELEMENTS = 2500;
const MOST_TASK_MS = 50;
const MOST_HEAP_MB = 150;

/** Flat: what a look can differ from another without anything being kept. */
const MOST_GROWTH_MB = 5;

/** Until as many lines are loaded as are kept. */
const FILLING_MS = 10_000;
const SAMPLE_EVERY_MS = 10_000;

const WHEEL_PX = 240;
const MB = 1_000_000;

/** A log is followed while it is written, and scrolled through. */
export async function consoleFollowRows(context: BenchContext): Promise<Row[]> {
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

interface PageDeps {
  browser: Browser;
  path: string;
  address: string;
}

async function paintRows(context: BenchContext, { browser, path, address }: PageDeps): Promise<Row[]> {
  const { followSeconds: seconds } = context.effort;
  context.log(`  ${FAST_LINES} lines/s for ${seconds} s, then scrolling`);
  const page = await ConsolePage.open(browser, address);
  const writer = startWriter(path, { linesPerSecond: FAST_LINES });
  context.cleanup.add(() => writer.stop());
  await sleep(1000 * Math.min(2, seconds));
  await page.longTasks();
  await page.read('probe.isNoting = true');
  await sleep(seconds * 1000);
  // Before what was painted is read: to hand out thousands of lines is a long task itself.
  const following = { longest: Math.max(0, ...(await page.longTasks())), size: await page.size() };
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
      figure: `console: ${FAST_LINES} lines/s for ${seconds} s, from the write to the paint, p95 in ms`,
      porthole: showNumber(p95),
      bar: atMost(p95, MOST_P95_MS),
      rounds: `p50 ${showNumber(quantile(latencies, 0.5))}, highest ${showNumber(quantile(latencies, 1))} of ${latencies.length} lines, ${painted.length} of them drawn`,
    },
    {
      figure: 'console: rows in the document, following and scrolling',
      porthole: String(rows),
      bar: atMost(rows ?? 0, MOST_ROWS),
    },
    {
      figure: 'console: elements in the document, following and scrolling',
      porthole: String(elements),
      bar: atMost(elements ?? 0, MOST_ELEMENTS),
    },
    {
      figure: 'console: longest task of the main thread, ms; 0 is none of 50 or more',
      porthole: showNumber(longest),
      bar: atMost(longest, MOST_TASK_MS),
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

async function heapRows(context: BenchContext, { browser, path, address }: PageDeps): Promise<Row[]> {
  const { longFollowSeconds: seconds } = context.effort;
  context.log(`  ${LONG_LINES} lines/s for ${seconds} s`);
  const page = await ConsolePage.open(browser, address);
  const writer = startWriter(path, { linesPerSecond: LONG_LINES });
  context.cleanup.add(() => writer.stop());
  await sleep(FILLING_MS);
  const samples: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    samples.push((await page.heapBytes()) / MB);
    await sleep(Math.min(SAMPLE_EVERY_MS, Math.max(0, end - performance.now())));
  }
  samples.push((await page.heapBytes()) / MB);
  writer.stop();
  await page.close();
  const growth = (samples.at(-1) ?? 0) - (samples[0] ?? 0);
  const figure = `console: memory of scripts while ${LONG_LINES} lines/s are followed for ${seconds} s`;
  return [
    {
      figure: `${figure}, highest look, MB`,
      porthole: showNumber(Math.max(...samples)),
      bar: below(Math.max(...samples), MOST_HEAP_MB, 'MB'),
      rounds: samples.map(showNumber).join(', '),
    },
    { figure: `${figure}, growth, MB`, porthole: showNumber(growth), bar: below(growth, MOST_GROWTH_MB, 'MB') },
  ];
}
