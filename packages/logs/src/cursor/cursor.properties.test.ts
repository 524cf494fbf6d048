import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { LogWriter, logSpec } from '../testing/random-logs.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch, withoutCursor } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FoundRecord } from '../types.ts';

const line = (index: number) =>
  `2026-06-01 10:00:${String(index % 60).padStart(2, '0')}.000\tINFO\ta.go:${index}\tline ${index}\n`;
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, index) => line(from + index)).join('');

function setting(): { dir: string; path: string; logs: LogDir } {
  const dir = tempDir();
  return { dir, path: join(dir, 'a.log'), logs: openDir(dir, { zone: BERLIN }) };
}

async function recordAtCursor(logs: LogDir, cursor: string): Promise<FoundRecord | undefined> {
  const { records } = await runSearch(logs, { src: ['a.log'], start: { record: cursor }, limit: 1 });
  return records[0];
}

/** What is the same of a record wherever it is stored. */
function essence(record: FoundRecord | undefined): object | undefined {
  if (!record) return undefined;
  const { file: _file, ...rest } = withoutCursor(record);
  return rest;
}

describe('a cursor still finds its record', () => {
  const changes: [string, (dir: string, path: string) => void][] = [
    ['after more was written', (_, path) => appendFileSync(path, lines(50, 5000))],
    ['after its file was renamed', (_, path) => renameSync(path, `${path}.1`)],
    [
      'after its file was renamed and replaced by a new one',
      (_, path) => {
        renameSync(path, `${path}.1`);
        writeFileSync(path, lines(10, 9000));
      },
    ],
    [
      'after its file was compressed',
      (dir, path) => {
        renameSync(path, `${path}.1`);
        writeFileSync(`${path}.1.gz`, gzipSync(lines(3000)));
        rmSync(join(dir, 'a.log.1'));
      },
    ],
    [
      'while its file is being compressed and exists twice',
      (_, path) => {
        renameSync(path, `${path}.1`);
        writeFileSync(`${path}.1.gz`, gzipSync(lines(3000)));
      },
    ],
    [
      'after its file was copied and truncated',
      (_, path) => {
        copyFileSync(path, `${path}.1`);
        truncateSync(path, 0);
      },
    ],
    [
      'after its file was copied, truncated, and written again',
      (_, path) => {
        copyFileSync(path, `${path}.1`);
        truncateSync(path, 0);
        appendFileSync(path, lines(4000, 9000));
      },
    ],
  ];
  test.each(changes)('%s', async (_, change) => {
    const { dir, path, logs } = setting();
    writeFileSync(path, lines(3000));
    const { records } = await runSearch(logs, { src: ['=a.log'] });
    change(dir, path);
    for (const index of [0, 1, 1499, 2998, 2999]) {
      const record = records[index] as FoundRecord;
      expect(essence(await recordAtCursor(logs, record.cursor))).toEqual(essence(record));
    }
  });

  test('when the file was still shorter than its identifying head', async () => {
    const { path, logs } = setting();
    writeFileSync(path, line(0));
    const [first] = (await runSearch(logs, { src: ['=a.log'] })).records;
    appendFileSync(path, lines(3000, 1));
    expect(essence(await recordAtCursor(logs, first?.cursor ?? ''))).toEqual(essence(first));
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(3000, 7000));
    expect(essence(await recordAtCursor(logs, first?.cursor ?? ''))).toEqual(essence(first));
  });

  test('when its last line was incomplete', async () => {
    const { path, logs } = setting();
    writeFileSync(path, lines(3) + line(3).slice(0, 40));
    const last = (await runSearch(logs, { src: ['=a.log'] })).records.at(-1);
    appendFileSync(path, `${line(3).slice(40)}${lines(5, 4)}`);
    expect(await recordAtCursor(logs, last?.cursor ?? '')).toMatchObject({ offset: last?.offset, message: 'line 3' });
    const after = await runSearch(logs, { src: ['=a.log'], start: { cursor: last?.cursor ?? '' } });
    expect(after.records.map(({ message }) => message)).toEqual([4, 5, 6, 7, 8].map((index) => `line ${index}`));
  });
});

test.each(['newest', 'oldest'] as const)(
  'a range of all logs that ends in some is in those alone, %s first',
  async (order) => {
    const { dir, logs } = setting();
    for (const name of ['a', 'b', 'c'])
      writeFileSync(join(dir, `${name}.log`), lines(20).replaceAll('line ', `${name} `));
    const { records } = await runSearch(logs, { order });
    const cursorOf = (message: string) => records.find((record) => record.message === message)?.cursor ?? '';
    const start = { cursor: ['a 10', 'b 10', 'c 10'].map(cursorOf).join('~') };
    const until = ['a', 'c'].map((name) => cursorOf(`${name} ${order === 'newest' ? 7 : 13}`)).join('~');
    const found = await runSearch(logs, { order, start, until });
    const expected = order === 'newest' ? ['a 8', 'a 9', 'c 8', 'c 9'] : ['a 11', 'a 12', 'c 11', 'c 12'];
    expect(found.records.map(({ message }) => message).toSorted()).toEqual(expected);
    // The position in the other log stays.
    const page = await runSearch(logs, { order, start, until, limit: 3 });
    const rest = await runSearch(logs, { order, start: { cursor: page.end.cursor ?? '' } });
    expect(rest.records.filter(({ message }) => message?.startsWith('b '))).toHaveLength(order === 'newest' ? 10 : 9);
  },
);

describe('a cursor whose record no longer exists', () => {
  const changes: [string, (path: string) => void][] = [
    ['with its file', (path) => rmSync(path)],
    ['with the old text of its file', (path) => writeFileSync(path, lines(3000, 9000))],
    ['with the end of its file', (path) => truncateSync(path, 10_000)],
    ['with the bytes it was made of', (path) => writeFileSync(path, lines(100) + lines(2900, 9100))],
  ];
  test.each(changes)('%s is rejected', async (name, change) => {
    const { dir, path, logs } = setting();
    writeFileSync(path, lines(3000));
    writeFileSync(join(dir, 'a.log.1'), '2026-05-01 10:00:00.000\tINFO\tanother\n');
    const record = (await runSearch(logs, { src: ['a.log'] })).records.at(-2);
    change(path);
    for (const start of [{ cursor: record?.cursor ?? '' }, { record: record?.cursor ?? '' }]) {
      await expect(runSearch(logs, { src: ['a.log'], start })).rejects.toMatchObject({ code: 'CURSOR_GONE' });
    }
    const upTo = runSearch(logs, { src: ['a.log'], until: record?.cursor ?? '' });
    // What is left of a truncated text precedes the missing end.
    if (name === 'with the end of its file')
      await expect(upTo).resolves.toMatchObject({ end: { problems: [{ file: 'a.log', code: 'CURSOR_GONE' }] } });
    else await expect(upTo).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });

  test('in one of several logs does not restart that log', async () => {
    const { dir, logs } = setting();
    for (const [number, name] of ['a.log', 'b.log'].entries()) {
      const text = Array.from({ length: 20 }, (_, index) => line(index).replace('line', `${name} line`));
      writeFileSync(join(dir, name), text.join('').replaceAll('10:00', `1${number}:00`));
    }
    const page = await runSearch(logs, { order: 'newest', limit: 25 });
    rmSync(join(dir, 'b.log'));
    writeFileSync(join(dir, 'b.log'), lines(20, 700).replaceAll('10:00', '12:00'));
    const next = runSearch(logs, { order: 'newest', limit: 25, start: { cursor: page.end.cursor ?? '' } });
    await expect(next).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });
});

describe('an invalid cursor', () => {
  test('is rejected', async () => {
    const { path, logs } = setting();
    writeFileSync(path, lines(10));
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('', '~', '.....', 'a.b.c.d.e.f'),
    );
    await fc.assert(
      fc.asyncProperty(text, async (cursor) => {
        await expect(runSearch(logs, { start: { cursor } })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
        await expect(runSearch(logs, { until: cursor })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
      }),
      { numRuns: runs(3) },
    );
  });

  test('with one wrong character does not resolve to another record', async () => {
    const { path, logs } = setting();
    // Many equal records whose length is a power of the digits' base: changing one digit leads from one to another.
    writeFileSync(
      path,
      line(7)
        .replace('line', 'line'.padEnd(72 - line(7).length + 4, '-'))
        .repeat(2000),
    );
    const { records } = await runSearch(logs, { src: ['=a.log'] });
    const record = records[1234] as FoundRecord;
    const { cursor } = record;
    const characters = '0159afkwzA.~- ';
    let found = 0;
    for (let at = 0; at < cursor.length; at++) {
      for (const character of characters) {
        const mutated = cursor.slice(0, at) + character + cursor.slice(at + 1);
        const outcome = await recordAtCursor(logs, mutated).catch((error: unknown) => error as { code?: string });
        if (outcome && 'offset' in outcome) {
          expect({ mutated, offset: outcome.offset }).toEqual({ mutated, offset: record.offset });
          found++;
        } else {
          expect(['CURSOR_INVALID', 'CURSOR_GONE']).toContain((outcome as { code?: string } | undefined)?.code);
        }
      }
    }
    // Unchanged, or changed in the name, which is only where the search begins.
    expect(found).toBeGreaterThan(0);
  });

  test('with a missing or additional part does not resolve to another record', async () => {
    const { dir, logs } = setting();
    const writer = new LogWriter();
    const edit = fc.record({ at: fc.nat(), cut: fc.nat(6), put: fc.stringMatching(/^[0-9a-z.~]{0,3}$/) });
    await fc.assert(
      fc.asyncProperty(
        logSpec,
        fc.nat(),
        fc.array(edit, { minLength: 1, maxLength: 30 }),
        async (spec, which, edits) => {
          const { files } = writer.family('a', { ...spec, files: spec.files.slice(0, 1) });
          writeFileSync(join(dir, 'a.log'), files[0]?.text ?? '');
          const { records } = await runSearch(logs, { src: ['=a.log'], limit: 500 });
          const record = records[which % records.length] as FoundRecord;
          for (const { at, cut, put } of edits) {
            const position = at % (record.cursor.length + 1);
            const mutated = record.cursor.slice(0, position) + put + record.cursor.slice(position + cut);
            const outcome = await recordAtCursor(logs, mutated).catch((error: { code?: string }) => error.code);
            if (typeof outcome === 'object') expect(outcome.offset).toBe(record.offset);
            else expect(outcome).toMatch(/^CURSOR_(INVALID|GONE)$/);
          }
        },
      ),
      { numRuns: runs(3) },
    );
  });
});
