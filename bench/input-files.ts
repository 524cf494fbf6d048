import { rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { type LineMix, logLines } from './log-lines.ts';

const KIB = 1024;
const GIB = 1024 ** 3;

/** How many files `list` returns. */
export const LISTED_FILES = 20;

/** A folder of twenty logs, one of them large. */
export async function ensureLogFolder(context: BenchContext): Promise<{ dir: string; file: string }> {
  const { logBytes } = context.effort;
  const dir = context.dataDir(`logs-${logBytes}`);
  const file = 'node.log';
  await ensureFile(context, join(dir, file), logBytes, (handle) => writeLines(handle, logBytes));
  for (let number = 1; number < LISTED_FILES; number++) {
    const name = `node-${String(number).padStart(2, '0')}.log`;
    await ensureFile(context, join(dir, name), 64 * KIB, (handle) => writeLines(handle, 64 * KIB));
  }
  return { dir, file };
}

export async function writeLines(
  handle: FileHandle,
  sizeBytes: number,
  { mix }: { mix?: LineMix } = {},
): Promise<void> {
  for (const block of logLines(sizeBytes, mix)) {
    await handle.write(block);
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
