import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { SEGMENT_BLOCKS } from '../scan/index-jobs.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { MemoryTextIndexes } from '../testing/memory-text-indexes.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { RecordFilter } from '../types.ts';

const BLOCKS = 12;
const LINE = '2026-06-01 10:00:00.000\tINFO\ta.go:1\tnothing of interest happened\t{"user":"alice"}\n';
const RARE = '2026-06-01 10:00:00.000\tINFO\tz.go:9\tRare Quokka seen\t{"user":"bobby"}\n';

/** Some blocks of lines, one of which is rare. */
function rareText(): string {
  const lines = LINE.repeat((BLOCKS * BLOCK_BYTES) / LINE.length);
  const middle = Math.floor((lines.length * 0.4) / LINE.length) * LINE.length;
  return `${lines.slice(0, middle)}${RARE}${lines.slice(middle)}`;
}

// Files look as if they had not changed for an hour.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function indexedDir(scrubbing = new Scrubbing()): { dir: string; store: MemoryTextIndexes; logs: LogDir } {
  const [dir, store] = [tempDir(), new MemoryTextIndexes()];
  return { dir, store, logs: openDir(dir, { zone: BERLIN, textIndex: store, scrubbing }) };
}

/** The block with the text, and those at the end that can still change. */
const FEW_BYTES = 3 * BLOCK_BYTES;

describe('a rare text', () => {
  const filters: Record<string, RecordFilter> = {
    'in the same case': { terms: ['Rare Quokka'], caseSensitive: true },
    'in any case': { terms: ['rare QUOKKA'] },
    'one of two': { query: { kind: 'or', nodes: [text('quokka'), text('platypus')] } },
    'and a frequent one': { terms: ['info', 'quokka'] },
    'by regex': { regex: 'Quokka (seen|heard)', caseSensitive: true },
    'as the value of a field': { query: { kind: 'field', field: 'user', operator: '=', value: 'bobby' } },
    'as a source': { source: 'z.go:9' },
  };

  function text(value: string) {
    return { kind: 'text' as const, text: value };
  }

  test.each(Object.entries(filters))(
    '%s is found without reading the blocks that cannot contain it',
    async (_, filter) => {
      const { dir, logs } = indexedDir();
      writeFileSync(join(dir, 'a.log'), rareText());
      expect(await logs.indexText('a.log')).toMatchObject({
        isDone: true,
        built: 1,
        readBytes: (BLOCKS - 1) * BLOCK_BYTES,
      });
      for (const order of ['oldest', 'newest'] as const) {
        const { records, end } = await runSearch(logs, { ...filter, order });
        expect(records).toMatchObject([{ message: 'Rare Quokka seen' }]);
        expect(end.scannedBytes).toBeLessThanOrEqual(FEW_BYTES);
        expect(end.scannedBytes + end.skippedBytes).toBe(rareText().length);
      }
      const counts = [
        await logs.histogram({ ...filter, buckets: 5 }),
        await logs.digest({ ...filter, limit: 5 }),
        await logs.top({ ...filter, by: 'source', limit: 5 }),
        await logs.fields({ ...filter, limit: 5 }),
      ];
      for (const { end } of counts) {
        expect(end.records).toBe(1);
        expect(end.scannedBytes).toBeLessThanOrEqual(FEW_BYTES);
      }
    },
  );

  test('is found in a renamed and a compressed file once they were compared with the index', async () => {
    const { dir, logs, store } = indexedDir();
    const scanned = async () => (await runSearch(logs, { terms: ['quokka'] })).end.scannedBytes;
    writeFileSync(join(dir, 'a.log'), rareText());
    await logs.indexText('a.log');
    renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'));
    expect(await scanned()).toBe(rareText().length);
    expect(await logs.indexText('a.log.1')).toMatchObject({ isDone: true, built: 0, renewed: 1 });
    expect(await scanned()).toBeLessThanOrEqual(FEW_BYTES);
    rmSync(join(dir, 'a.log.1'));
    writeFileSync(join(dir, 'a.log.1.gz'), gzipSync(rareText()));
    expect(await scanned()).toBe(rareText().length);
    expect(await logs.indexText('a.log.1.gz')).toMatchObject({ isDone: true, built: 0, renewed: 1 });
    expect(await logs.indexText('a.log.1.gz')).toMatchObject({ isDone: true, built: 0, renewed: 0, readBytes: 0 });
    expect(await scanned()).toBeLessThanOrEqual(FEW_BYTES);
    expect(store.segments).toHaveLength(1);
  });

  test('is found in both segments of a large file, whatever the order', async () => {
    const { dir, logs } = indexedDir();
    const lines = Buffer.from(LINE.repeat(3 * 1024));
    const file = openSync(join(dir, 'a.log'), 'w');
    let sizeBytes = 0;
    const offsets: number[] = [];
    while (sizeBytes < (SEGMENT_BLOCKS + 3) * BLOCK_BYTES) {
      sizeBytes += writeSync(file, lines);
      if (offsets.length === (sizeBytes > SEGMENT_BLOCKS * BLOCK_BYTES ? 1 : 0)) {
        offsets.push(sizeBytes);
        sizeBytes += writeSync(file, RARE);
      }
    }
    closeSync(file);
    expect(await logs.indexText('a.log', { most: 1 })).toMatchObject({ isDone: false, built: 1 });
    expect(await logs.indexText('a.log', { most: 1 })).toMatchObject({ isDone: true, built: 1 });
    for (const order of ['oldest', 'newest'] as const) {
      const { records, end } = await runSearch(logs, { terms: ['quokka'], order });
      expect(records.map(({ offset }) => offset)).toEqual(order === 'oldest' ? offsets : offsets.toReversed());
      expect(end.scannedBytes).toBeLessThanOrEqual(FEW_BYTES + BLOCK_BYTES);
      expect(end.scannedBytes + end.skippedBytes).toBe(sizeBytes);
    }
  });

  test('is found in UTF-16', async () => {
    const { dir, logs } = indexedDir();
    writeFileSync(join(dir, 'a.log'), Buffer.from(`\uFEFF${rareText()}`, 'utf16le'));
    expect(await logs.indexText('a.log')).toMatchObject({ built: 1 });
    const { records, end } = await runSearch(logs, { terms: ['quokka'] });
    expect(records).toHaveLength(1);
    expect(end.scannedBytes).toBeLessThanOrEqual(FEW_BYTES);
  });

  test('is found wherever the index is damaged: it is dropped', async () => {
    const { dir, logs, store } = indexedDir();
    writeFileSync(join(dir, 'a.log'), rareText());
    await logs.indexText('a.log');
    writeSync(store.fd, Buffer.alloc(1 << 16), 0, 1 << 16, 0);
    const { records } = await runSearch(logs, { terms: ['quokka'] });
    expect(records).toHaveLength(1);
    expect([store.drops, store.segments]).toEqual([1, []]);
  });
});

describe('a file', () => {
  test('that was changed is read again, even if its time was set back', async () => {
    const { dir, logs, store } = indexedDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, rareText());
    await logs.indexText('a.log');
    const { atime, mtime, ctimeMs } = statSync(path);
    writeFileSync(path, rareText().replace('Quokka', 'Koalas'));
    do utimesSync(path, atime, mtime);
    while (statSync(path).ctimeMs === ctimeMs);
    expect((await runSearch(logs, { terms: ['koalas'] })).records).toHaveLength(1);
    expect(await logs.indexText('a.log')).toMatchObject({ built: 1, renewed: 0 });
    expect((await runSearch(logs, { terms: ['koalas'] })).records).toHaveLength(1);
    expect(store.segments).toHaveLength(1);
  });

  test('that was changed less than a minute ago is not indexed', async () => {
    vi.useRealTimers();
    const { dir, logs, store } = indexedDir();
    writeFileSync(join(dir, 'a.log'), rareText());
    expect(await logs.indexText('a.log')).toMatchObject({ stamp: undefined, isDone: true, built: 0 });
    expect(store.segments).toEqual([]);
  });

  test('that was searched for a text without an index is noted if it is large', async () => {
    const { dir, logs, store } = indexedDir();
    writeFileSync(join(dir, 'small.log'), rareText());
    writeFileSync(join(dir, 'large.log'), rareText().repeat(2));
    await runSearch(logs, { terms: ['quokka'] });
    await runSearch(logs, { minLevel: 'ERROR' });
    expect(store.scanned).toEqual(['large.log']);
  });

  test('is not indexed any further once the signal is aborted', async () => {
    const { dir, logs, store } = indexedDir();
    writeFileSync(join(dir, 'a.log'), rareText());
    const reason = new Error('enough');
    await expect(logs.indexText('a.log', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(store.segments).toEqual([]);
  });
});

describe('a secret', () => {
  test('is as absent from the index as any other text, whatever its parts', async () => {
    const scrubbing = new Scrubbing();
    scrubbing.add(['correcthorsebattery']);
    const { dir, logs } = indexedDir(scrubbing);
    writeFileSync(join(dir, 'a.log'), rareText().replaceAll('interest', 'correcthorsebattery'));
    copyFileSync(join(dir, 'a.log'), join(dir, 'b.log'));
    await logs.indexText('a.log');
    const read = async (term: string) => {
      const { end, records } = await runSearch(logs, { src: ['=a.log'], terms: [term] });
      return { records, scanned: end.scannedBytes, skipped: end.skippedBytes };
    };
    const absent = await read('wrongdonkeycharger');
    expect(absent.records).toEqual([]);
    expect(absent.scanned).toBeLessThanOrEqual(FEW_BYTES);
    for (const term of ['correcthorsebattery', 'correct', 'horse', 'battery']) expect(await read(term)).toEqual(absent);
    // Other rules, another text.
    scrubbing.add(['nothing of']);
    expect((await read('quokka')).skipped).toBe(0);
  });
});
