import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogDir } from '@porthole/logs';
import { eventually, searchItems } from '@porthole/logs/testing';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempDir } from './testing/program.ts';
import { canMount, mountSmallDisk, remount } from './testing/small-disk.ts';

/** At least 16 blocks: what is known of fewer is not kept. */
const LOG = Array.from(
  { length: 100_000 },
  (_, number) => `2026-06-01 10:00:00.000\t${number % 40_000 === 0 ? 'ERROR' : 'INFO'}\ta.go:1\tline ${number}\n`,
).join('');

const ERRORS = { file: 'a.log', minLevel: 'ERROR', order: 'oldest', limit: 100, before: 0, after: 0 } as const;

async function countErrors(logs: LogDir): Promise<number> {
  let count = 0;
  for await (const items of searchItems(logs, ERRORS)) count += items.filter(({ type }) => type === 'record').length;
  return count;
}

const FAULTS = [
  {
    code: 'ENOSPC',
    break: (disk: string) => expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(2 ** 20))).toThrow('ENOSPC'),
  },
  { code: 'EROFS', break: (disk: string) => remount(disk, 'ro') },
];

// Without the right to mount there is no such disk; kept-summaries.test.ts puts a file or a link in its place.
describe.skipIf(!canMount())('a disk for the indexes', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(FAULTS)('with $code is reported once and in the metrics, and changes no answer', async (fault) => {
    const dir = tempDir();
    const index = join(tempDir(), 'index');
    writeFileSync(join(dir, 'a.log'), LOG);
    mountSmallDisk(index, '64k');
    fault.break(index);
    // Only the date differs: what changes all the time is not kept.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const problems: string[] = [];
    const onProblem = (problem: string) => problems.push(problem);
    const indexDir = { dir: index, maxBytes: () => 2 ** 20, version: '1', idleMs: 1, onProblem };
    const logs = new LogDir(dir, { indexDir });
    onTestFinished(() => logs.close());
    expect(await countErrors(logs)).toBe(3);
    await eventually(() => expect(problems).toEqual([`${index}: ${fault.code}`]));
    expect(logs.usage.diskIndex).toMatchObject({ isFailing: true });
    expect(await countErrors(logs)).toBe(3);
    await logs.close();
    expect(problems).toHaveLength(1);
  });
});
