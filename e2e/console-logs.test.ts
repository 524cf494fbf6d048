import { eventually } from '@porthole/logs/testing';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { PATIENT } from './testing/console-cluster.ts';
import { LogPage } from './testing/console-log-page.ts';
import { LogWriter } from './testing/log-writer.ts';

const LINES_PER_SECOND = 400;

const browser = shareBrowser();

/** A node with one log, and the workspace that follows it. */
async function openFollowed() {
  const { running, logDir } = await startTestNode({
    settings: { node: { timeZone: 'UTC' }, cluster: { ...PATIENT, nodeId: 'n1' } },
  });
  const writer = new LogWriter(logDir, 'a.log');
  writer.write(50);
  const log = await LogPage.open(browser(), `${running.url}logs?src=n1/a.log`);
  /** The newest line is in view. */
  const isAtEnd = () => eventually(async () => expect((await log.texts()).at(-1)).toBe(writer.texts.at(-1)));
  const reaches = (lines: number) => eventually(() => expect(writer.written).toBeGreaterThan(lines));
  return { log, writer, isAtEnd, reaches };
}

describe('the log workspace follows', () => {
  it('opens with one search, and counts only afterwards', async () => {
    const { log } = await openFollowed();
    const requested = () => log.requests.map(({ path }) => path.split('/').at(-1));
    await eventually(() => expect(requested()).toContain('histogram'));
    // One that its time budget ended, on a busy machine, is continued from its cursor.
    const searches = log.requests.filter(({ path, query }) => path.endsWith('/search') && !query.has('cursor'));
    expect(searches).toHaveLength(1);
    expect(requested().indexOf('search')).toBeLessThan(requested().indexOf('histogram'));
  });

  it('every line of a busy log through rotations, none lost or repeated', async () => {
    const { log, writer, isAtEnd, reaches } = await openFollowed();
    writer.start(LINES_PER_SECOND);
    for (const lines of [200, 400, 600]) {
      await reaches(lines);
      writer.rotate();
    }
    await reaches(800);
    writer.stop();
    // copytruncate loses what is written between copy and truncation, so wait until everything is read.
    await isAtEnd();
    writer.copyAndTruncate();
    writer.start(LINES_PER_SECOND);
    await reaches(1000);
    writer.rotate();
    await reaches(1100);
    writer.stop();
    await isAtEnd();
    await eventually(async () => expect(await log.pill.textContent()).toBe('Live'));
    const size = await log.size();
    const { records, notices } = await log.scrollBack();
    expect(records).toEqual(writer.texts);
    expect(notices.filter((text) => text.includes('was rotated'))).toHaveLength(4);
    expect(notices.filter((text) => text.includes('a.log was truncated'))).toHaveLength(1);
    for (const { elements, rows } of [size, await log.size()]) {
      expect(rows).toBeLessThanOrEqual(120);
      expect(elements).toBeLessThanOrEqual(2500);
    }
  });

  it('pausing keeps the focused line in position and counts new lines; resuming shows all of them', async () => {
    const { log, writer, isAtEnd } = await openFollowed();
    writer.start(LINES_PER_SECOND);
    await eventually(() => expect(writer.written).toBeGreaterThan(100));
    // By coordinates, because its row moves; held as long as a human click, while lines arrive.
    await log.list.hover({ position: { x: 600, y: 300 } });
    await log.page.mouse.down();
    const pressedAt = writer.written;
    await eventually(() => expect(writer.written).toBeGreaterThan(pressedAt + 60));
    await log.page.mouse.up();
    await log.focused.waitFor();
    const [before, text] = [await log.focused.boundingBox(), await log.focused.textContent()];
    const drawn = await log.texts();
    const counted = async () => {
      const [, digits = '0'] = /(\d[\d,]*) new/.exec((await log.pill.textContent()) ?? '') ?? [];
      return Number(digits.replaceAll(',', ''));
    };
    await eventually(async () => expect(await counted()).toBeGreaterThan(100));
    writer.rotate();
    await eventually(async () => expect(await counted()).toBeGreaterThan(250));
    expect(await log.pill.textContent()).toMatch(/^Paused · [\d,]+ new$/);
    expect(await log.focused.boundingBox()).toEqual(before);
    expect(await log.focused.textContent()).toBe(text);
    expect(await log.texts()).toEqual(drawn);
    await log.press('f');
    await eventually(async () => expect(await log.pill.textContent()).toBe('Live'));
    writer.stop();
    await isAtEnd();
    expect((await log.scrollBack()).records).toEqual(writer.texts);
  });

  it('a selection longer than the rendered rows is copied completely', async () => {
    const { log, writer, isAtEnd } = await openFollowed();
    writer.write(400);
    await isAtEnd();
    const { page } = log;
    const last = await log.rows.last().locator('.row-text').boundingBox();
    if (!last) throw new Error('no row');
    await page.mouse.move(last.x + last.width - 1, last.y + 10);
    await page.mouse.down();
    await page.mouse.move(last.x + 2, last.y - 30);
    await eventually(async () => expect(await log.pill.textContent()).toBe('Paused'));
    await page.mouse.wheel(0, -4000);
    await eventually(async () => expect(await log.texts()).not.toContain('line 450'));
    await page.mouse.move(last.x + 2, last.y - 100);
    await page.mouse.up();
    await page.keyboard.press('Control+c');
    await eventually(async () => expect(((await log.copied()) ?? '').split('\n').length).toBeGreaterThan(150));
    const lines = (await log.copied()).split('\n');
    const numbers = lines.map((line) => Number(/line (\d+)$/.exec(line)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => 451 - numbers.length + index));
  });

  it('without growing in memory at hundreds of lines per second', async () => {
    const { log, writer } = await openFollowed();
    // Full: from now on each new line drops an old one.
    writer.write(5000);
    await eventually(async () => expect((await log.texts()).at(-1)).toBe('line 5050'));
    writer.start(500);
    await eventually(() => expect(writer.written).toBeGreaterThan(5500));
    const before = await log.heapBytes();
    await eventually(() => expect(writer.written).toBeGreaterThan(7000));
    const after = await log.heapBytes();
    expect(after).toBeLessThan(150_000_000);
    expect(after - before).toBeLessThan(5_000_000);
    const { elements, rows } = await log.size();
    expect(rows).toBeLessThanOrEqual(120);
    expect(elements).toBeLessThanOrEqual(2500);
  });
});
