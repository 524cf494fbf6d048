import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toLines } from '@porthole/records';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { fillQuery } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { SearchQuery } from '../types.ts';

/** Two logs of some MiB, so that many results are returned, with long records and some without a time. */
function writeLogs(): LogDir {
  const dir = tempDir();
  for (const [name, every] of [
    ['one.log', 3],
    ['two.log', 7],
  ] as const) {
    const lines: string[] = [];
    for (let number = 0; number < 4000; number++) {
      const time = new Date(Date.UTC(2026, 0, 1) + number * 10 * every).toISOString().replace('T', ' ').slice(0, 23);
      lines.push(
        `${time}\tINFO\ta.go:${number}\tmessage ${number} ${'x'.repeat((number * every) % 500)}\t{"n":${number}}`,
      );
      if (number % 1000 === 0) lines.push('without a time'.repeat(10_000));
    }
    writeFileSync(join(dir, name), `${lines.join('\n')}\nlast without newline`);
  }
  return openDir(dir);
}

async function readLines(logs: LogDir, query: Partial<SearchQuery>, reusesMemory: boolean): Promise<unknown[]> {
  const pieces: Buffer[] = [];
  for await (const piece of toLines(logs.search(fillQuery(query), { reusesMemory }))) pieces.push(Buffer.from(piece));
  const lines = Buffer.concat(pieces).toString().split('\n').slice(0, -1);
  const { elapsedMs: _elapsed, ...end } = JSON.parse(lines.pop() ?? '');
  return [lines.join('\n'), end];
}

async function readTexts(logs: LogDir, query: Partial<SearchQuery>, reusesMemory: boolean): Promise<unknown[]> {
  const pieces: Buffer[] = [];
  const times: number[] = [];
  let cursor: string | null | undefined;
  for await (const item of logs.search(fillQuery(query), { reusesMemory, asText: true })) {
    if (item.type === 'end') cursor = item.cursor;
    else {
      pieces.push(Buffer.from(item.bytes));
      times.push(...item.times);
    }
  }
  return [Buffer.concat(pieces).toString('latin1'), times.join(), cursor];
}

const QUERIES: readonly Partial<SearchQuery>[] = [
  { limit: 30_000, order: 'oldest' },
  { limit: 30_000, order: 'newest' },
  { limit: 1501, order: 'oldest', src: ['=one.log'] },
  { limit: 2003, order: 'newest' },
  { limit: 30_000, order: 'oldest', src: ['=two.log'], terms: ['message 7'] },
];

describe('memory of results that is used again', () => {
  it('changes nothing of a response', async () => {
    const logs = writeLogs();
    for (const query of QUERIES) {
      expect(await readLines(logs, query, true)).toEqual(await readLines(logs, query, false));
      expect(await readTexts(logs, query, true)).toEqual(await readTexts(logs, query, false));
    }
  });

  it('is that of pieces that were emitted before, and of none if pieces may be kept', async () => {
    const logs = writeLogs();
    const query = fillQuery({ limit: 30_000, order: 'oldest', src: ['=one.log'] });
    for (const reusesMemory of [true, false]) {
      const kept: Uint8Array[] = [];
      for await (const piece of toLines(logs.search(query, { reusesMemory }))) if (piece.length > 0) kept.push(piece);
      expect(kept.length).toBeGreaterThan(3);
      expect(kept.some((piece) => piece.length === 0)).toBe(reusesMemory);
    }
  });

  it('serves a part without matches after one with some', async () => {
    const dir = tempDir();
    const line = (second: number) =>
      `${new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString().slice(0, 23).replace('T', ' ')}\tINFO\ta.go:1\tline ${second}\n`;
    const lines = (from: number) => Array.from({ length: 300 }, (_, index) => line(from + index)).join('');
    writeFileSync(join(dir, 'a.log.2'), lines(0));
    writeFileSync(join(dir, 'a.log.1'), lines(300));
    writeFileSync(join(dir, 'a.log'), lines(600));
    const fromMs = Date.UTC(2026, 0, 1) + 5000;
    const query = { src: ['a.log'], fromMs, toMs: fromMs + 2000, limit: 10 };
    for (let round = 0; round < 3; round++) {
      const [text] = await readLines(openDir(dir), query, true);
      expect((text as string).split('\n')).toHaveLength(2);
    }
  });
});
