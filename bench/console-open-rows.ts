import type { Browser } from 'playwright-core';
import { type ConsoleFolder, ensureConsoleFolder } from './console-files.ts';
import { ConsolePage, openBrowser } from './console-page.ts';
import type { BenchContext } from './context.ts';
import { FIRST_TIME_MS, MS_PER_LINE } from './log-lines.ts';
import { startPorthole } from './porthole.ts';
import { quantile } from './quantile.ts';
import { median, showNumber } from './rounds.ts';
import { atMost, below, type Row } from './row.ts';

const MOST_FIRST_LINE_MS = 300;
const MOST_GROWTH = 1.2;
const MOST_DOWNLOAD_KB = 250;
const MOST_JUMP_MS = 250;

const WARM_UPS = 2;
const KB = 1000;

/** About what a line takes: from this and the size follow the times in the file, but for the very last. */
const LINE_BYTES = 170;
const LAST_FRACTION = 0.95;

/** A large log is opened, and gone to other times in. */
export async function consoleOpenRows(context: BenchContext): Promise<Row[]> {
  const folder = await ensureConsoleFolder(context);
  const flags = ['--node-time-zone', 'UTC', '--cluster-node-id', 'n1'];
  const { url, stop } = await startPorthole(context, folder.dir, flags);
  const browser = await openBrowser(context);
  const addressFor = (file: string) => `${url}/logs?src=n1/=${file}`;
  const rows = [
    ...(await firstLineRows(context, { browser, folder, addressFor: addressFor })),
    await jumpRow(context, { browser, folder, addressFor: addressFor }),
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

async function firstLineRows(
  context: BenchContext,
  { browser, folder, addressFor: addressOf }: PageDeps,
): Promise<Row[]> {
  const { small, large } = folder;
  context.log(`  first line of ${large.size} and of 10 MiB`);
  const times = { small: [] as number[], large: [] as number[] };
  const downloads: number[] = [];
  const open = async (file: string, isSmall: boolean, isCounted: boolean) => {
    const page = await ConsolePage.open(browser, addressOf(file));
    const [ms, bytes] = [await page.read<number>('probe.firstRowMs'), page.receivedBytes];
    await page.close();
    if (!isCounted) return;
    times[isSmall ? 'small' : 'large'].push(ms);
    downloads.push(bytes / KB);
  };
  for (let round = -WARM_UPS; round < context.effort.navigations; round++) {
    for (const isSmall of round % 2 === 0 ? [true, false] : [false, true])
      await open(isSmall ? small : large.name, isSmall, round >= 0);
  }
  const p95 = quantile(times.large, 0.95);
  const ratio = median(times.large) / median(times.small);
  const download = Math.max(...downloads);
  const figure = `console: from navigation to the first line of ${large.size} painted`;
  return [
    {
      figure: `${figure}, p95 of ${times.large.length}, ms`,
      porthole: showNumber(p95),
      bar: atMost(p95, MOST_FIRST_LINE_MS),
      rounds: times.large.map(showNumber).join(', '),
    },
    {
      figure: `${figure}, median, ms`,
      porthole: showNumber(median(times.large)),
      against: `of 10 MiB ${showNumber(median(times.small))}`,
      ratio,
      bar: atMost(ratio, MOST_GROWTH),
      rounds: times.small.map(showNumber).join(', '),
    },
    {
      figure: 'console: over the network until the first line, nothing cached, kB',
      porthole: showNumber(download),
      bar: below(download, MOST_DOWNLOAD_KB),
    },
  ];
}

async function jumpRow(context: BenchContext, { browser, folder, addressFor: addressOf }: PageDeps): Promise<Row> {
  const { large } = folder;
  context.log(`  to a time in ${large.size}`);
  const page = await ConsolePage.open(browser, addressOf(large.name));
  const times: number[] = [];
  for (let round = -WARM_UPS; round < context.effort.navigations; round++) {
    // A different place every time.
    const fraction = ((round + WARM_UPS) * 0.618 + 0.3) % 1;
    const line = Math.floor((large.sizeBytes * fraction * LAST_FRACTION) / LINE_BYTES);
    const tookMs = await jump(page, new Date(FIRST_TIME_MS + line * MS_PER_LINE).toISOString());
    if (round >= 0) times.push(tookMs);
  }
  await page.close();
  const p95 = quantile(times, 0.95);
  return {
    figure: `console: from Enter to the lines of a time in ${large.size} painted, p95 of ${times.length}, ms`,
    porthole: showNumber(p95),
    bar: atMost(p95, MOST_JUMP_MS),
    rounds: times.map(showNumber).join(', '),
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
