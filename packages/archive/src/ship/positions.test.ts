import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { dropGonePositions, emptyState, KEEP_GONE_MS, MAX_GONE, PositionFile } from './positions.ts';

const NOW_MS = Date.UTC(2026, 10, 15);

/** A directory with the positions of these logs, each last seen at a time. */
async function positions(seenMs: Record<string, number>) {
  const dir = tempDir();
  const left = async () => {
    const found: string[] = [];
    for (const log of Object.keys(seenMs)) if (await new PositionFile(dir, log).read()) found.push(log);
    return found;
  };
  for (const [log, timeMs] of Object.entries(seenMs)) {
    const before = new Set(readdirSync(dir));
    await new PositionFile(dir, log).write(emptyState(log));
    for (const name of readdirSync(dir))
      if (!before.has(name)) utimesSync(join(dir, name), new Date(timeMs), new Date(timeMs));
  }
  return { dir, left };
}

it('the position of a log that is gone for more than 30 days is dropped', async () => {
  const { dir, left } = await positions({ here: 0, late: NOW_MS - KEEP_GONE_MS, long: NOW_MS - KEEP_GONE_MS - 1 });
  writeFileSync(join(dir, 'batch'), 'no position');
  await dropGonePositions(dir, ['here'], NOW_MS);
  expect(await left()).toEqual(['here', 'late']);
  expect(readdirSync(dir)).toContain('batch');
});

it('a log is gone since it was last seen, however long nothing was written to it', async () => {
  const { dir, left } = await positions({ quiet: 0 });
  await dropGonePositions(dir, ['quiet'], NOW_MS);
  await dropGonePositions(dir, [], NOW_MS + KEEP_GONE_MS);
  expect(await left()).toEqual(['quiet']);
  await dropGonePositions(dir, [], NOW_MS + KEEP_GONE_MS + 1);
  expect(await left()).toEqual([]);
});

it('of too many logs that are gone, those are dropped that are gone for longest', async () => {
  const dir = tempDir();
  const nameOf = (index: number) => `${String(index).padStart(32, '0')}.json`;
  for (let index = 0; index < MAX_GONE + 3; index++) {
    writeFileSync(join(dir, nameOf(index)), '');
    utimesSync(join(dir, nameOf(index)), new Date(NOW_MS - index), new Date(NOW_MS - index));
  }
  await dropGonePositions(dir, [], NOW_MS);
  const left = readdirSync(dir);
  expect(left).toHaveLength(MAX_GONE);
  expect(left).toContain(nameOf(0));
  expect(left).not.toContain(nameOf(MAX_GONE));
});
