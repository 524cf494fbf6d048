import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import type { FollowItem, FollowQuery } from '../types.ts';
import { openHub } from './testing/open-hub.ts';

const BEGUN = Date.UTC(2026, 10, 15, 10);

/** About 100 bytes each. */
function lines(from: number, count: number): string {
  const one = (number: number) => {
    const time = new Date(BEGUN + number).toISOString().replace('T', ' ').replace('Z', '');
    return `${time}\tINFO\ta/b.go:1\t[x]: line ${String(number).padStart(6, '0')} ${'.'.repeat(40)}\n`;
  };
  return Array.from({ length: count }, (_, index) => one(from + index)).join('');
}

const COUNT = 30_000;

/** Follows until all lines were emitted and there is nothing more to say; each look at the clock takes this long. */
async function follow(dir: string, query: Partial<FollowQuery>, { stepMs, last }: { stepMs: number; last: number }) {
  let nowMs = 0;
  const abort = new AbortController();
  const hub = openHub(dir, {
    now: () => {
      nowMs += stepMs;
      return nowMs;
    },
  });
  const items: FollowItem[] = [];
  let isLast = false;
  for await (const batch of hub.follow({ start: { timeMs: 0 }, ...query }, { signal: abort.signal, positions: true })) {
    items.push(...batch);
    if (batch.some((item) => item.type === 'record' && item.message.includes(`line ${String(last).padStart(6, '0')}`)))
      isLast = true;
    if (isLast && batch.some(({ type }) => type === 'position' || type === 'behind')) abort.abort();
  }
  return items;
}

/** What was said, each time with the bytes of text that were emitted before it. */
function said(items: readonly FollowItem[]): { emitted: number; behindBytes: number }[] {
  let emitted = 0;
  return items.flatMap((item) => {
    if (item.type === 'record') emitted += item.bytes;
    return item.type === 'behind' ? [{ emitted, behindBytes: item.behindBytes }] : [];
  });
}

describe('a follow that is far behind', () => {
  it('says how many bytes were written after what it has emitted, and once that it has caught up', async () => {
    const dir = tempDir();
    const [old, live] = [lines(0, COUNT / 2), lines(COUNT / 2, COUNT / 2)];
    writeFileSync(join(dir, 'a.log.1'), old);
    writeFileSync(join(dir, 'a.log'), live);
    const reports = said(await follow(dir, { src: ['a.log'] }, { stepMs: 1500, last: COUNT - 1 }));
    const far = reports.slice(0, -1);
    expect(far.length).toBeGreaterThan(3);
    for (const { emitted, behindBytes } of far) expect(emitted + behindBytes).toBe(old.length + live.length);
    expect(reports.at(-1)?.behindBytes).toBe(0);
    expect(far.every(({ behindBytes }) => behindBytes > 1024 ** 2)).toBe(true);
  });

  it('says nothing if it catches up in less than two seconds', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), lines(0, COUNT));
    const items = await follow(dir, { src: ['a.log'] }, { stepMs: 1, last: COUNT - 1 });
    expect(said(items)).toEqual([]);
  });

  it('says it every two seconds at most', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), lines(0, COUNT));
    const rare = said(await follow(dir, { src: ['a.log'] }, { stepMs: 100, last: COUNT - 1 }));
    const often = said(await follow(dir, { src: ['a.log'] }, { stepMs: 2000, last: COUNT - 1 }));
    expect(rare.length).toBeGreaterThan(0);
    expect(rare.length).toBeLessThan(often.length / 5);
  });

  it('counts compressed files with their size on disk', async () => {
    const dir = tempDir();
    const packed = gzipSync(lines(0, COUNT / 2));
    const live = lines(COUNT / 2, COUNT / 2);
    writeFileSync(join(dir, 'a.log.1.gz'), packed);
    writeFileSync(join(dir, 'a.log'), live);
    const [first] = said(await follow(dir, { src: ['a.log'] }, { stepMs: 1500, last: COUNT - 1 }));
    expect(first?.behindBytes).toBe(live.length);
  });

  it('finds the file that it reads under the name that it has by now', async () => {
    const dir = tempDir();
    const text = lines(0, COUNT);
    const added = lines(COUNT, 10);
    writeFileSync(join(dir, 'a.log'), text);
    let looks = 0;
    let isRotated = false;
    const abort = new AbortController();
    const hub = openHub(dir, { now: () => ++looks * 1500 });
    const items: FollowItem[] = [];
    for await (const batch of hub.follow({ src: ['a.log'], start: { timeMs: 0 } }, { signal: abort.signal })) {
      items.push(...batch);
      if (batch.length > 0 && !isRotated) {
        isRotated = true;
        renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'));
        appendFileSync(join(dir, 'a.log'), added);
      }
      if (batch.some(({ type }) => type === 'behind')) abort.abort();
    }
    const [first] = said(items);
    expect((first?.emitted ?? 0) + (first?.behindBytes ?? 0)).toBe(text.length + added.length);
  });
});
