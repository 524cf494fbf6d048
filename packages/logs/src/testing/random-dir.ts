import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { tempDir } from '@porthole/records/testing';
import { expect } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import type { FoundRecord } from '../types.ts';
import { type LogSpec, LogWriter, type WrittenFamily, writeFamilies } from './random-logs.ts';
import { BERLIN } from './random-record.ts';
import { withoutCursor } from './run-search.ts';
import { type SlowRecord, toComparable } from './slow-logs.ts';
import { openDir } from './temp-dir.ts';

export interface RandomDir {
  dir: string;
  logs: LogDir;
  /** The same directory, scanned by the calling thread, which polls for cancellation before every block. */
  here: LogDir;
  /** Writes these families, replacing the previous ones. */
  write(specs: readonly LogSpec[]): [WrittenFamily, ...WrittenFamily[]];
}

/** One directory and its engine for many cases: starting threads takes longer than the queries. */
export function randomDir(): RandomDir {
  const dir = join(tempDir(), 'logs');
  const writer = new LogWriter();
  return {
    dir,
    logs: openDir(dir, { zone: BERLIN }),
    here: openDir(dir, { zone: BERLIN, scansHere: true, workers: 1 }),
    write(specs) {
      const families = specs.map((spec, index) => writer.family(`log${String.fromCharCode(97 + index)}`, spec));
      writeFamilies(dir, families);
      return families as [WrittenFamily, ...WrittenFamily[]];
    },
  };
}

/** Compares all fields, and the order. */
export function expectSame(found: readonly FoundRecord[], expected: readonly SlowRecord[]): void {
  const [actual, wanted] = [found.map(withoutCursor), expected.map(toComparable)];
  // Much faster than the comparison that can also show differences.
  if (!isDeepStrictEqual(actual, wanted)) expect(actual).toEqual(wanted);
}
