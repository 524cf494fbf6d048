import { rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { type LineMix, logLines } from './log-lines.ts';

const KIB = 1024;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** How many files `list` returns. */
export const LISTED_FILES = 20;

/** A folder of twenty logs, one of them of 1 GiB. */
export async function ensureLogFolder(
  context: BenchContext,
): Promise<{ dir: string; file: string; sizeBytes: number }> {
  const dir = context.dataDir('logs');
  const file = 'node.log';
  await ensureFile(context, join(dir, file), GIB, (handle) => writeLines(handle, GIB));
  for (let number = 1; number < LISTED_FILES; number++) {
    const name = `node-${String(number).padStart(2, '0')}.log`;
    await ensureFile(context, join(dir, name), 64 * KIB, (handle) => writeLines(handle, 64 * KIB));
  }
  return { dir, file, sizeBytes: GIB };
}

/** A folder with a small and a large log that end with the same 10 MiB; the large one is a hole before its last 32 MiB. */
export async function ensureGrowthFolder(
  context: BenchContext,
): Promise<{ dir: string; small: string; large: string }> {
  const dir = context.dataDir('growth');
  const [small, large] = ['10-mib.log', '10-gib.log'];
  await ensureFile(context, join(dir, small), 10 * MIB, async (handle) => {
    const lines = Buffer.concat([...logLines(32 * MIB)]);
    await handle.writeFile(lines.subarray(-10 * MIB));
  });
  await ensureFile(context, join(dir, large), 10 * GIB, async (handle) => {
    await handle.truncate(10 * GIB - 32 * MIB);
    await writeLines(handle, 32 * MIB, { from: 10 * GIB - 32 * MIB });
  });
  return { dir, small, large };
}

export async function writeLines(
  handle: FileHandle,
  sizeBytes: number,
  { from = 0, mix }: { from?: number; mix?: LineMix } = {},
): Promise<void> {
  let position = from;
  for (const block of logLines(sizeBytes, mix)) {
    await handle.write(block, 0, block.length, position);
    position += block.length;
  }
}

/** Keeps a file that has the right size, or any if that is not known; a new one gets its name only when it is whole. */
export async function ensureFile(
  { cleanup, log }: BenchContext,
  path: string,
  sizeBytes: number | undefined,
  fill: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && found.size === (sizeBytes ?? found.size)) return;
  if (sizeBytes === undefined || sizeBytes >= GIB) log(`making ${path} (kept for the next run)`);
  const unfinished = `${path}.unfinished`;
  const forget = cleanup.add(() => rmSync(unfinished, { force: true }));
  const handle = await open(unfinished, 'w');
  try {
    await fill(handle);
    await handle.sync(); // what is still to be written would slow down what is measured
  } finally {
    await handle.close();
  }
  await rename(unfinished, path);
  forget();
}
