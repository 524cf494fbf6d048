import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createZone, LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import pico from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invocation } from '../invocation.ts';
import type { RecordStyle } from '../output/format-record.ts';
import { LocalLogs } from '../sources/local-logs.ts';
import type { LogSource, LogState } from '../sources/log-source.ts';
import { RecordRun } from './record-run.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Whatever makes the bytes of a record differ from its decoded text. */
function oddText(): Buffer {
  const line = (second: number, text: string) => `2026-01-01 00:00:0${second}.000\tINFO\ta.go:1\t[A]: ${text}\n`;
  return Buffer.concat([
    Buffer.from(line(1, 'first')),
    Buffer.from(`${line(2, 'windows').slice(0, -1)}\r\n  below\r\n`),
    Buffer.from(line(3, 'byte ')),
    Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x0a]),
    Buffer.from(line(4, `long ${'x'.repeat(700_000)}`)),
    Buffer.from(line(5, 'last, without a newline').slice(0, -1)),
  ]);
}

describe('records printed without decoding them', () => {
  const top = mkdtempSync(join(tmpdir(), 'porthole-run-'));
  const dirs: LogDir[] = [];

  beforeAll(() => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(top, name));
      writeFileSync(join(top, name, 'x.log'), oddText());
      writeFileSync(join(top, name, 'y.log'), '2026-01-01 00:00:04.500\tWARN\ty.go:1\t[Y]: between\n');
      dirs.push(new LogDir(join(top, name), { threads: SHARED_THREADS }));
    }
  });

  afterAll(async () => {
    for (const dir of dirs) await dir.close();
    rmSync(top, { recursive: true });
  });

  interface Given {
    isDecoded: boolean;
    format: 'raw' | 'json';
    order: 'newest' | 'oldest';
    sources: number;
    file?: string;
    /** Records per page. */
    page?: number;
    limit?: number;
  }

  async function printed({ isDecoded, format, order, sources, file, page = 1e9, limit = UNLIMITED }: Given) {
    const chunks: Uint8Array[] = [];
    const write = async (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk));
    const terminal = { write, warn() {}, note() {}, status() {}, isTty: false, isWatched: false };
    const zone = createZone('UTC');
    const colors = pico.createColors(false);
    const style: RecordStyle = { format, colors, zone, isTty: false, prefix: false, marks: undefined };
    const signal = new AbortController().signal;
    const run = new RecordRun({ terminal } as unknown as Invocation, { style, hasContext: false, signal });
    const query = { order, before: 0, after: 0, raw: format === 'raw' } as const;
    const queries = dirs.slice(0, sources).map((dir, index) => {
      const logs = new LocalLogs(dir);
      const decoded = { searchLogs: logs.searchLogs.bind(logs) } as LogState;
      const source: LogSource = {
        label: '',
        state: isDecoded ? decoded : logs,
        selection: file === undefined ? {} : { src: [`=${file}`] },
        holderFor: () => logs,
        isCluster: false,
        zone,
        clockAheadMs: 0,
        maxRecords: page,
        ...(sources > 1 && { place: `${index}/` }),
      };
      return { source, query, count: limit };
    });
    await run.printMerged(queries, { order, limit });
    await run.finish();
    return { text: Buffer.concat(chunks).toString('latin1'), code: run.exitCode() };
  }

  it('are the file, byte for byte', async () => {
    const given = { format: 'raw', order: 'oldest', sources: 1, file: 'x.log' } as const;
    expect(await printed({ ...given, isDecoded: false })).toEqual({ text: oddText().toString('latin1'), code: 0 });
  });

  it.each([
    { format: 'raw', order: 'oldest', sources: 1 },
    { format: 'raw', order: 'newest', sources: 1 },
    { format: 'raw', order: 'oldest', sources: 1, page: 1 },
    { format: 'raw', order: 'newest', sources: 1, page: 2 },
    { format: 'raw', order: 'oldest', sources: 2 },
    { format: 'raw', order: 'newest', sources: 2, page: 3, limit: 5 },
    { format: 'json', order: 'oldest', sources: 1, page: 2 },
    { format: 'json', order: 'newest', sources: 1, limit: 3 },
    { format: 'json', order: 'oldest', sources: 2 },
    { format: 'json', order: 'newest', sources: 2, page: 1, limit: 7 },
  ] as const)('are the same as decoded ones: $format, $order, $sources sources, $page, $limit', async (given) => {
    const fast = await printed({ ...given, isDecoded: false });
    const slow = await printed({ ...given, isDecoded: true });
    expect(fast.code).toBe(slow.code);
    expect(fast.text === slow.text, firstDifference(fast.text, slow.text)).toBe(true);
    expect(fast.text.length).toBeGreaterThan(100);
  });
});

/** Texts of a megabyte are not for an error message. */
function firstDifference(a: string, b: string): string {
  const at = Array.from(a).findIndex((character, index) => character !== b[index]);
  return `${JSON.stringify(a.slice(at - 40, at + 80))} instead of ${JSON.stringify(b.slice(at - 40, at + 80))}`;
}
