import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toLines } from '@porthole/records';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { fillQuery, runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

/** Long records, each from a different source. */
function writeLong(count: number): string {
  const dir = tempDir();
  const record = (n: number) => `2026-11-15 05:00:00.000\tINFO\ta.go:${n}\t[A]: ${'x'.repeat(70_000)}\n`;
  writeFileSync(join(dir, 'a.log'), Array.from({ length: count }, (_, n) => record(n)).join(''));
  return dir;
}

/** Default message size limit of gRPC clients. */
const GRPC_BYTES = 4 * 1024 ** 2;

describe('responses that are a single message', () => {
  it('a digest of many long records shows less of each, and marks them as cut', async () => {
    const logs = openDir(writeLong(200));
    const { groups } = await logs.digest({ limit: 200 });
    expect(groups).toHaveLength(200);
    expect(groups.every(({ sample }) => sample.cut)).toBe(true);
    expect(JSON.stringify(groups).length).toBeLessThan(GRPC_BYTES);
  });

  it('so does a record with a large context; the record itself and a small context are not affected', async () => {
    const logs = openDir(writeLong(120));
    const query = { start: { timeMs: 0 }, limit: 1, order: 'oldest', raw: true } as const;
    const [many] = (await runSearch(logs, { ...query, after: 100 })).records;
    expect(many?.raw).toHaveLength(64 * 1024);
    expect(many?.after).toHaveLength(100);
    expect(JSON.stringify(many).length).toBeLessThan(2 * GRPC_BYTES);
    const [few] = (await runSearch(logs, { ...query, after: 3 })).records;
    expect(few?.after?.map(({ raw }) => raw?.length)).toEqual([65_536, 65_536, 65_536]);
  });
});

describe('errors that an earlier search has noted', () => {
  it.each(['newest', 'oldest'] as const)('are returned in pieces of bounded size, %s first', async (order) => {
    const dir = tempDir();
    const record = (n: number) => `2026-11-15 05:00:00.000\tERROR\ta.go:${n}\t[A]: ${'x'.repeat(10_000)}\n`;
    writeFileSync(join(dir, 'a.log'), Array.from({ length: 150 }, (_, n) => record(n)).join(''));
    const logs = openDir(dir);
    const pieces = async () => {
      const found: Buffer[] = [];
      for await (const lines of toLines(logs.search(fillQuery({ minLevel: 'ERROR', order }))))
        found.push(Buffer.from(lines));
      return found;
    };
    const recordLines = (found: readonly Buffer[]) => Buffer.concat(found).toString().split('\n').slice(0, 150);
    const [first, again] = [await pieces(), await pieces()];
    expect(recordLines(again)).toEqual(recordLines(first));
    expect(recordLines(again).every((line) => line.includes('"ERROR"'))).toBe(true);
    // A result ends with the record that fills it.
    expect(Math.max(...again.map(({ length }) => length))).toBeLessThan(1.1 * 1024 ** 2);
  });
});
