import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { IS_LONG_RUN, tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { createZone } from '../parse/zone.ts';
import { readTail } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FoundRecord } from '../types.ts';
import { BLOCK_BYTES } from './block/blocks.ts';

/*
 * Loggers that rotate after a round size leave files that end a few bytes after a block boundary. The reference is how
 * each text was composed: it knows nothing of blocks.
 */

const UTC = createZone('UTC');
const START_MS = Date.parse('2026-06-01T10:00:00.000Z');

/** Renders one record: `filler` is in its message. */
interface Shape {
  name: string;
  /** Lengths of the records, in bytes of filler, in turn. */
  fillers: readonly number[];
  render(timeMs: number, level: string, filler: string): string;
}

const wall = (timeMs: number) => new Date(timeMs).toISOString().slice(0, -1).replace('T', ' ');
const contract = (timeMs: number, level: string, filler: string) =>
  `${wall(timeMs)}\t${level}\ta.go:1\tmessage ${filler} end`;

const SHAPES: readonly Shape[] = [
  { name: 'lines', fillers: [1500, 40, 3000], render: (...record) => `${contract(...record)}\n` },
  {
    name: 'stack traces with CR LF',
    fillers: [900, 10],
    render: (...record) => `${contract(...record)}\r\n\tat one()\r\n\tat two()\r\n`,
  },
  {
    name: 'JSON with its time at the end',
    fillers: [2500, 20, 5000],
    render: (timeMs, level, filler) =>
      `${JSON.stringify({ msg: `message ${filler} end`, level, caller: 'a.go:1', ts: timeMs / 1000 })}\n`,
  },
  { name: 'lines of 200 KiB', fillers: [60, 200 * 1024, 4000], render: (...record) => `${contract(...record)}\n` },
];

interface Expected {
  offset: number;
  bytes: number;
  timeMs: number;
  level: string;
  raw: string;
}

/** Records up to the boundary and a last one of at least `lastBytes` that ends `behind` bytes after it. */
function textEnding(
  shape: Shape,
  { blocks, behind, lastBytes }: { blocks: number; behind: number; lastBytes: number },
) {
  const size = blocks * BLOCK_BYTES + behind;
  const parts: string[] = [];
  const records: Expected[] = [];
  let offset = 0;
  const add = (text: string, timeMs: number, level: string) => {
    parts.push(text);
    records.push({ offset, bytes: text.length, timeMs, level, raw: text.replace(/\r?\n$/, '') });
    offset += text.length;
  };
  const emptyBytes = shape.render(START_MS, 'ERROR', '').length;
  for (let index = 0; ; index++) {
    const timeMs = START_MS + index * 7;
    const level = index % 10 === 3 ? 'ERROR' : 'INFO';
    const text = shape.render(timeMs, level, 'x'.repeat(shape.fillers[index % shape.fillers.length] ?? 1));
    const isLast = offset + text.length + lastBytes + 2 * emptyBytes > size;
    if (isLast) {
      add(shape.render(timeMs, 'ERROR', 'y'.repeat(size - offset - emptyBytes)), timeMs, 'ERROR');
      return { text: parts.join(''), records };
    }
    add(text, timeMs, level);
  }
}

const shown = ({ offset, bytes, timeMs, level, raw = '' }: FoundRecord) => ({ offset, bytes, timeMs, level, raw });

/** Limited to what is shown of a record, so that it can be compared. */
const toShown = ({ raw, ...rest }: Expected) => ({ ...rest, raw: raw.slice(0, 64 * 1024) });

/** The last `count` of the records, in both orders. */
async function expectRecords(logs: LogDir, file: string, records: readonly Expected[], count: number): Promise<void> {
  const expected = records.slice(-count).map(toShown);
  const { records: oldest } = await runSearch(logs, {
    src: [`=${file}`],
    raw: true,
    start: { offset: expected[0]?.offset ?? 0 },
  });
  expect(oldest.map(shown)).toEqual(expected);
  expect(oldest.some(({ continued }) => continued)).toBe(false);
  const { records: newest } = await runSearch(logs, {
    src: [`=${file}`],
    raw: true,
    order: 'newest',
    limit: expected.length,
  });
  expect(newest.map(shown)).toEqual(expected.reverse());
}

/** Queries that take different paths through a block. */
async function expectResults(logs: LogDir, file: string, records: readonly Expected[]): Promise<void> {
  const last = records.at(-1) as Expected;
  const errors = records.filter(({ level }) => level === 'ERROR');
  for (const order of ['oldest', 'newest'] as const) {
    const inOrder = (expected: readonly Expected[]) => {
      const offsets = expected.map(({ offset }) => offset);
      return order === 'oldest' ? offsets : offsets.reverse();
    };
    const findOffsets = async (query: Parameters<typeof runSearch>[1]) =>
      (await runSearch(logs, { src: [`=${file}`], order, ...query })).records.map(({ offset }) => offset);
    expect(await findOffsets({ terms: ['y end'] })).toEqual([last.offset]);
    expect(await findOffsets({ regex: 'message y+ end' })).toEqual([last.offset]);
    expect(await findOffsets({ minLevel: 'ERROR' })).toEqual(inOrder(errors));
    expect(await findOffsets({ minLevel: 'ERROR', terms: ['message y'] })).toEqual([last.offset]);
    expect(await findOffsets({ fromMs: last.timeMs })).toEqual([last.offset]);
    // Pages: the first one may end in a block without a record.
    const { records: page, end } = await runSearch(logs, { src: [`=${file}`], order, limit: 1, minLevel: 'ERROR' });
    const rest = await findOffsets({ minLevel: 'ERROR', start: { cursor: end.cursor ?? page[0]?.cursor ?? '' } });
    expect([...page.map(({ offset }) => offset), ...rest]).toEqual(inOrder(errors));
  }
  // A view around any byte of the record, including those after the boundary.
  for (const offset of [last.offset, last.offset + last.bytes - 1]) {
    const { records: from } = await runSearch(logs, {
      src: [`=${file}`],
      start: { offset },
      after: 2,
      before: 1,
      limit: 1,
    });
    expect(from.map((record) => [record.offset, record.before?.[0]?.offset, record.after])).toEqual([
      [last.offset, records.at(-2)?.offset, []],
    ]);
    const { records: until } = await runSearch(logs, {
      src: [`=${file}`],
      start: { offset },
      order: 'newest',
      limit: 1,
    });
    expect(until.map((record) => record.offset)).toEqual([records.at(-2)?.offset]);
  }
  const { records: at } = await runSearch(logs, { src: [`=${file}`], start: { timeMs: last.timeMs } });
  expect(at.map((record) => record.offset)).toEqual([last.offset]);
  for (let turn = 0; turn < 2; turn++) {
    const { untimed, end } = await logs.histogram({ src: [`=${file}`], buckets: 10 });
    expect([untimed, end.records]).toEqual([0, records.length]);
    const { groups, end: digestEnd } = await logs.digest({ src: [`=${file}`], limit: 10 });
    expect(digestEnd.records).toBe(records.length);
    expect(groups.every(({ level }) => level === 'ERROR' || level === 'INFO')).toBe(true);
    expect(groups.find(({ level }) => level === 'ERROR')?.sample.offset).toBe(last.offset);
  }
  const tail = (await readTail(logs, file, last.bytes)).toString();
  expect(tail.replace(/\r?\n$/, '')).toBe(last.raw);
}

describe.each(SHAPES)('a file of $name that ends shortly after a block boundary', (shape) => {
  test('has every record complete, in both orders, plain and compressed', async () => {
    const dir = tempDir();
    const logs = openDir(dir, { zone: UTC });
    const isFirst = shape === SHAPES[0];
    // Every distance in a long run; else one of nine up to the length of a record's head, and one of 31 after that.
    const step = (behind: number) => (!isFirst ? 61 : IS_LONG_RUN ? 1 : behind < 64 ? 9 : 31);
    for (let behind = 1; behind <= 300; behind += step(behind)) {
      const blocks = 1 + (behind % 2);
      // The last record crosses the boundary by more, or less, than its head.
      const { text, records } = textEnding(shape, { blocks, behind, lastBytes: behind + ((behind * 37) % 400) });
      const isPacked = behind % 5 === 0 || (!isFirst && behind % 2 === 0);
      const file = isPacked ? `${behind}.log.gz` : `${behind}.log`;
      writeFileSync(join(dir, file), isPacked ? gzipSync(text, { level: 1 }) : text);
      await expectRecords(logs, file, records, behind % 13 === 1 ? records.length : 3);
    }
  });

  test('is searched, viewed, counted and grouped like any other', async () => {
    const dir = tempDir();
    const logs = openDir(dir, { zone: UTC });
    for (const [index, behind] of [1, 24, 64, 300].entries()) {
      const { text, records } = textEnding(shape, { blocks: 2, behind, lastBytes: behind + 7 + 50 * (index % 4) });
      const isPacked = index % 3 === 2;
      const file = isPacked ? `${behind}.log.gz` : `${behind}.log`;
      writeFileSync(join(dir, file), isPacked ? gzipSync(text, { level: 1 }) : text);
      await expectResults(logs, file, records);
    }
  });

  test('is followed across the boundary', async () => {
    const dir = tempDir();
    const logs = openDir(dir, { zone: UTC, pollMs: 5 });
    for (const behind of [1, 30, 300]) {
      const { text, records } = textEnding(shape, { blocks: 1, behind, lastBytes: behind + 100 });
      const last = records.at(-1) as Expected;
      const name = `${behind}.log`;
      const path = join(dir, name);
      writeFileSync(path, text.slice(0, last.offset));
      const abort = new AbortController();
      const followed: FoundRecord[] = [];
      // Two existing records, then what is written: first up to the boundary, then the rest.
      const start = { back: 2 };
      for await (const batch of logs.follow({ src: [`=${name}`], start, raw: true }, { signal: abort.signal })) {
        for (const item of batch) if (item.type === 'record') followed.push(item);
        if (followed.length === 2) {
          appendFileSync(path, text.slice(last.offset, BLOCK_BYTES));
          appendFileSync(path, text.slice(BLOCK_BYTES));
        }
        if (followed.length >= 3) abort.abort();
      }
      expect(followed.map(shown)).toEqual(records.slice(-3).map(toShown));
      // Started at the record before, when everything is written.
      const again: FoundRecord[] = [];
      const abortAgain = new AbortController();
      const since = { timeMs: (records.at(-2) as Expected).timeMs };
      for await (const batch of logs.follow(
        { src: [`=${name}`], start: since, raw: true },
        { signal: abortAgain.signal },
      )) {
        for (const item of batch) if (item.type === 'record') again.push(item);
        if (again.length >= 2) abortAgain.abort();
      }
      expect(again.map(shown)).toEqual(records.slice(-2).map(toShown));
    }
  });
});

describe('a line longer than a block', () => {
  const NOW = '2026-06-01 10:00:00.000\tERROR\ta.go:1\t';
  const LINE = '2026-06-01 09:00:00.000\tINFO\ta.go:1\tshort\n';

  test.each([1, 22, 4000])('keeps its head if it starts %i bytes before a boundary', async (before) => {
    const dir = tempDir();
    const logs = openDir(dir, { zone: UTC });
    const lead = LINE.repeat(Math.floor((BLOCK_BYTES - before) / LINE.length) - 1);
    const pad = LINE.replace('short', 'short'.padEnd(BLOCK_BYTES - before - lead.length - LINE.length + 5, '-'));
    const long = `${NOW}begin ${'é'.repeat(200 * 1024)} finish\n`;
    writeFileSync(join(dir, 'a.log'), lead + pad + long + LINE);
    const { records } = await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
    expect(records).toMatchObject([{ offset: BLOCK_BYTES - before, level: 'ERROR', cut: true }]);
    expect(records[0]?.message.startsWith('begin é')).toBe(true);
    expect((await runSearch(logs, { src: ['=a.log'], terms: ['begin é'] })).records).toHaveLength(1);
    const { records: all } = await runSearch(logs, { src: ['=a.log'], order: 'newest', limit: 3, raw: true });
    // The second part starts with a whole character.
    expect(all.map(({ continued }) => continued)).toEqual([undefined, true, undefined]);
    expect(all[1]?.message).toMatch(/^é+$/);
    expect((all[1]?.bytes ?? 0) + (all[2]?.bytes ?? 0)).toBe(Buffer.byteLength(long));
    expect((await runSearch(logs, { src: ['=a.log'], terms: ['é finish'] })).records).toMatchObject([
      { continued: true },
    ]);
  });
});
