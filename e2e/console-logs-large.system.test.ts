import { appendFileSync, closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { PATIENT } from './testing/console-cluster.ts';
import { LogPage } from './testing/console-log-page.ts';
import { logLine } from './testing/log-writer.ts';

const FIRST_MS = Date.UTC(2026, 0, 1);
const LINE_BYTES = 500;
const MB = 1_000_000;

/** Between parts with something to read there is so much of nothing: whoever looks for a time reads no more than that. */
const HOLE_BYTES = 2 * MB;

/** Real lines at the start and at the end; in the middle so many that a pixel of a scroll bar is not too coarse. */
const END_BYTES = MB;
const MIDDLE_SHARE = 0.004;

/** Where a bisection towards the end probes: finding nothing there, it reads all that follows. */
const PROBED_BYTES = 100 * LINE_BYTES;

/** When the line at an offset was written: what stands later was written later. */
function sparseTimeMs(offset: number): number {
  return FIRST_MS + Math.floor(offset / 100);
}

/** A log that takes far less disk than its size says. What is in its holes reads as very long lines without a word. */
function writeSparseLog(path: string, sizeBytes: number): void {
  const descriptor = openSync(path, 'w');
  ftruncateSync(descriptor, sizeBytes);
  const write = (start: number, bytes: number) => {
    const stretch = linesAt(start, bytes);
    writeSync(descriptor, stretch, start);
  };
  for (let start = HOLE_BYTES; start < sizeBytes - END_BYTES; start += HOLE_BYTES) write(start, 2 * LINE_BYTES);
  for (let rest = sizeBytes / 2; rest > HOLE_BYTES; rest /= 2) {
    const probed = Math.floor((sizeBytes - rest) / LINE_BYTES) * LINE_BYTES;
    write(probed - LINE_BYTES, PROBED_BYTES);
  }
  write(0, END_BYTES);
  const middleBytes = sizeBytes * MIDDLE_SHARE;
  write((sizeBytes - middleBytes) / 2, middleBytes);
  write(sizeBytes - END_BYTES, END_BYTES);
  closeSync(descriptor);
}

/** Lines that contain their offset, exactly this many bytes in all. The first ends the line before it. */
function linesAt(start: number, bytes: number): string {
  const lines: string[] = [];
  for (let offset = start; offset < start + bytes; offset += LINE_BYTES) {
    const line = logLine(`at ${offset}`, { timeMs: sparseTimeMs(offset) }).trimEnd();
    lines.push(`\n${line.padEnd(LINE_BYTES - 1, '.')}`);
  }
  const text = lines.join('');
  // Ends with a line feed instead of beginning with one at the very start.
  return start === 0 ? `${text.slice(1)}\n` : `${text.slice(0, -1)}\n`;
}

const GB = 1_000_000_000;

const SETTINGS = { node: { timeZone: 'UTC' }, cluster: { ...PATIENT, nodeId: 'n1' } };

const browser = shareBrowser();

/** A node with a log of 10 GB, which is opened at its end. */
async function openLarge(): Promise<{ log: LogPage; shows(offset: number): Promise<void> }> {
  const { running, logDir } = await startTestNode({ settings: SETTINGS });
  writeSparseLog(join(logDir, 'big.log'), 10 * GB);
  const log = await LogPage.open(browser(), `${running.url}logs?src=n1/=big.log&live=0&chart=0`);
  /** A line that starts within half a megabyte after the offset. */
  const shows = (offset: number) =>
    eventually(async () => {
      const offsets = (await log.texts()).map((text) => Number(/^at (\d+)/.exec(text)?.[1]));
      expect(offsets.some((at) => at >= offset && at < offset + MB / 2)).toBe(true);
    });
  await shows(10 * GB - MB / 2);
  return { log, shows };
}

async function clickScrollBar(log: LogPage, fraction: number): Promise<void> {
  const bar = await log.page.getByRole('scrollbar').boundingBox();
  if (!bar) throw new Error('there is no scroll bar');
  await log.page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height * fraction);
  // A pixel is some hundredths of a percent.
  await eventually(async () => expect(await log.position()).toMatch(new RegExp(`^${Math.floor(fraction * 100)}\\.`)));
}

describe('a log of 10 GB', () => {
  it('is opened at its end, jumped through without loading it, and searched: that can be stopped and continued', async () => {
    const { log, shows } = await openLarge();
    await eventually(async () => expect(await log.position()).toMatch(/^100\.0 %, 2 Jan/));
    const jumps: [string, () => Promise<void>][] = [
      ['the start', () => log.press('g').then(() => shows(0))],
      ['the middle, by the scroll bar', () => clickScrollBar(log, 0.501)],
      [
        'a time',
        async () => {
          await log.goToTime(new Date(sparseTimeMs(5.005 * GB)).toISOString());
          await shows(5.005 * GB);
        },
      ],
      ['the end', () => log.press('G').then(() => shows(10 * GB - MB / 2))],
    ];
    for (const [target, jump] of jumps) {
      await jump();
      await log.settled();
      const bytes = log.requests.reduce((sum, request) => sum + request.bytes, 0);
      expect(bytes, `bytes up to ${target}`).toBeLessThan(GB / 100);
    }

    // A search shows its progress.
    const field = log.page.getByRole('combobox', { name: 'Find in the logs' });
    await field.fill('not in there');
    await field.press('Alt+Enter');
    await log.edges.first().getByRole('button', { name: 'Stop' }).click();
    await eventually(async () =>
      expect(await log.edges.first().textContent()).toMatch(/^No match in the last .*· continue$/),
    );
    await log.settled();
    await log.edges.first().getByRole('button', { name: 'continue' }).click();
    await log.edges.first().getByRole('button', { name: 'Stop' }).click();
    await field.fill('');
    await field.press('Alt+Enter');
    await shows(10 * GB - MB / 2);
  });
});

describe('going to another place', () => {
  it('stops the counts that are under way; they begin again when its rows are there', async () => {
    const { running, logDir } = await startTestNode({ settings: SETTINGS });
    writeSparseLog(join(logDir, 'big.log'), 10 * GB);
    const log = await LogPage.open(browser(), running.url, { hasRows: false });
    await log.page.route('**/log/histogram?*', () => {}); // never answered
    const stopped: string[] = [];
    log.page.on('requestfailed', (request) => stopped.push(request.url()));
    await log.page.goto(`${running.url}logs?src=n1/=big.log&live=0`);
    const requested = () => log.requests.map(({ path }) => path.split('/').at(-1));
    await eventually(() => expect(requested()).toContain('histogram'));
    const before = log.requests.length;
    await log.goToTime(new Date(sparseTimeMs(5.005 * GB)).toISOString());
    await eventually(() => expect(stopped.some((url) => url.includes('/histogram'))).toBe(true));
    await eventually(() => {
      const since = requested().slice(before);
      expect(since).toContain('search');
      expect(since.lastIndexOf('search')).toBeLessThan(since.lastIndexOf('histogram'));
    });
  });
});

describe('a line of 20 MB', () => {
  it('is split, loaded piece by piece, and the page stays responsive', async () => {
    // What was written just before the last line is returned again when it is followed from there.
    const earlier = { timeMs: Date.now() - 60_000 };
    const long = logLine(`long ${'x'.repeat(20 * MB)}`, earlier);
    const { running } = await startTestNode({
      settings: SETTINGS,
      files: { 'a.log': `${logLine('before', earlier)}${long}${logLine('after')}` },
    });
    const log = await LogPage.open(browser(), `${running.url}logs?src=n1/a.log`);
    // Older rows arrive after the newest.
    await eventually(async () =>
      expect((await log.texts()).slice(-2)).toEqual([expect.stringMatching(/^x{2048}$/), 'after']),
    );
    const details = log.page.getByRole('complementary', { name: 'Details of the record' });
    await log.rows
      .nth(-3)
      .getByRole('button', { name: /^show rest · 254 KiB$/ })
      .click();
    await details.getByRole('button', { name: /^Show the whole text · 256 KiB left$/ }).click();
    await details.getByRole('button', { name: /^Show more · 192 KiB left$/ }).click();
    const pieces = details.locator('.record-piece');
    await eventually(async () => expect(await pieces.count()).toBe(2));
    await eventually(async () => expect(await pieces.last().textContent()).toMatch(/^x{65536}$/));
    // 64 KiB of each part are returned twice: raw and parsed.
    expect(log.requests.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(15 * MB);
    await details.getByRole('button', { name: /^Close the details/ }).click();
    await eventually(async () => expect(await details.count()).toBe(0));
    await log.press('g');
    await eventually(async () => expect((await log.texts())[0]).toBe('before'));
  });
});

describe('repeated lines', () => {
  /** The rows with their chips: `fsync of segment 7 failed × 214 · 21 s`. */
  const shown = (log: LogPage) => log.page.locator('#log-rows .row[id] .row-message').allTextContents();

  it('are one row, which opens in place; nothing that is looked for is hidden', async () => {
    const startMs = Date.UTC(2026, 10, 15, 10);
    const fsync = (index: number) =>
      logLine(`fsync of segment ${index} failed`, { timeMs: startMs + index * 100, level: 'ERROR' });
    const { running, logDir } = await startTestNode({
      settings: SETTINGS,
      files: {
        'a.log': `${logLine('first', { timeMs: startMs })}${Array.from({ length: 214 }, (_, index) => fsync(index)).join('')}${logLine('last', { timeMs: startMs + 30_000 })}`,
      },
    });
    const log = await LogPage.open(browser(), `${running.url}logs?src=n1/a.log&live=0`, { folds: true });
    const folded = ['Testfirst', 'Testfsync of segment 0 failed× 214 · 21 s', 'Testlast'];
    await eventually(async () => expect(await shown(log)).toEqual(folded));

    // By the keyboard, and by a click.
    await log.press('G', 'k', 'o');
    await eventually(async () => expect(await log.rows.count()).toBeGreaterThan(20));
    expect(await log.focused.textContent()).toContain('segment 0 failed');
    await log.press('o');
    await eventually(async () => expect(await shown(log)).toEqual(folded));
    await log.page.getByRole('button', { name: '× 214' }).click();
    await eventually(async () => expect(await log.rows.count()).toBeGreaterThan(20));
    await log.press('o');

    // Matches stand by themselves, and n steps to them.
    const field = log.page.getByRole('combobox', { name: 'Find in the logs' });
    await field.fill('segment 100 ');
    await eventually(async () =>
      expect(await shown(log)).toEqual([
        'Testfirst',
        'Testfsync of segment 0 failed× 100 · 9.9 s',
        'Testfsync of segment 100 failed',
        'Testfsync of segment 101 failed× 113 · 11 s',
        'Testlast',
      ]),
    );
    await field.press('Escape');
    await log.press('G', 'N');
    await eventually(async () => expect(await log.focused.textContent()).toContain('segment 100 failed'));
    await field.fill('');
    await field.press('Escape');

    // Copied text has every line.
    const [first, last] = [log.rows.first(), log.rows.last()];
    await first.hover();
    await log.page.mouse.down();
    await last.hover();
    await log.page.mouse.up();
    await log.page.keyboard.press('Control+c');
    await eventually(async () => expect((await log.copied()).split('\n')).toHaveLength(216));

    // New lines join the run while following; the reader's place stays where it is.
    appendFileSync(join(logDir, 'a.log'), [214, 215, 216].map((index) => fsync(index + 100)).join(''));
    await log.press('f');
    await eventually(async () => expect((await shown(log)).at(-1)).toMatch(/failed× 3/));
    appendFileSync(join(logDir, 'a.log'), fsync(320));
    await eventually(async () => expect((await shown(log)).at(-1)).toMatch(/failed× 4/));

    // It can be turned off, and stays so.
    await log.page.getByRole('button', { name: 'Views' }).click();
    await log.page.getByRole('button', { name: 'Fold repeated lines' }).click();
    await eventually(async () => expect(await log.rows.count()).toBeGreaterThan(20));
    await log.page.reload();
    await eventually(async () => expect(await log.rows.count()).toBeGreaterThan(20));
  });

  it('do not make the page load a whole log of them', async () => {
    const { running, logDir } = await startTestNode({ settings: SETTINGS });
    writeSparseLog(join(logDir, 'big.log'), GB);
    const log = await LogPage.open(browser(), `${running.url}logs?src=n1/=big.log&live=0&chart=0`, { folds: true });
    const loaded = async () => {
      const text = await log.edges.first().textContent();
      const [, lines = ''] = /^([\d,]+) lines loaded, most of them repeated· load more$/.exec(text ?? '') ?? [];
      return Number(lines.replaceAll(',', ''));
    };
    await eventually(async () => expect(await loaded()).toBeGreaterThan(0));
    const first = await loaded();
    await log.edges.first().getByRole('button', { name: 'load more' }).click();
    await eventually(async () => expect(await loaded()).toBeGreaterThan(first));
    // Of millions.
    expect(await loaded()).toBeLessThan(20_000);
  });
});
