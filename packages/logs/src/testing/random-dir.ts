import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import type { FoundRecord } from '../types.ts';
import { BERLIN, type LogSpec, LogWriter, type WrittenFamily, writeFamilies } from './random-logs.ts';
import { withoutCursor } from './run-search.ts';
import { type SlowRecord, toComparable } from './slow-logs.ts';
import { openDir, tempDir } from './temp-dir.ts';

export interface RandomDir {
  dir: string;
  logs: LogDir;
  /** The same directory, scanned by the calling thread: what it is stopped by is looked at before every block. */
  here: LogDir;
  /** Families of these contents, in place of what was there. */
  write(specs: readonly LogSpec[]): [WrittenFamily, ...WrittenFamily[]];
}

/** One directory and its engine for many cases: starting threads takes longer than asking. */
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

/** Told to the last field, and in the same order. */
export function expectSame(found: readonly FoundRecord[], expected: readonly SlowRecord[]): void {
  const [actual, wanted] = [found.map(withoutCursor), expected.map(toComparable)];
  // Much quicker than the comparison that can also say what differs.
  if (!isDeepStrictEqual(actual, wanted)) expect(actual).toEqual(wanted);
}
