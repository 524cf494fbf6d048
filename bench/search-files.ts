import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile, writeLines } from './input-files.ts';
import { WARM_UP_FILE } from './warm-node.ts';

const MIB = 1024 ** 2;

/** Files that were changed less than a minute ago are read more often than others. */
const SETTLED_MS = 61_000;

/** Enough for the threads to compile what they run. */
const WARM_UP_BYTES = 32 * MIB;

export interface SearchFolder {
  dir: string;
  /** The log that is asked about. */
  file: string;
  path: string;
  sizeBytes: number;
  /** e.g. `1 GiB` */
  size: string;
}

/** A folder with the log of a broker, and another one to warm up a node with. */
export async function ensureSearchFolder(context: BenchContext): Promise<SearchFolder> {
  const dir = context.dataDir('search');
  const sizeBytes = context.effort.logBytes;
  const size = showSize(sizeBytes);
  const file = `broker-${size.replace(' ', '-').toLowerCase()}.log`;
  await ensureBrokerLog(context, join(dir, WARM_UP_FILE), WARM_UP_BYTES);
  await ensureBrokerLog(context, join(dir, file), sizeBytes);
  return { dir, file, path: join(dir, file), sizeBytes, size };
}

/**
 * Copies of the log in the same folder, each of which is read once: a node knows the levels of a log from the first time
 * it is asked for one, so that the code that finds them runs only then. It is warm after about 2 GiB.
 */
export async function ensureUnreadCopies({ dir, file, path, sizeBytes }: SearchFolder): Promise<string[]> {
  const unread = [1, 2].map((number) => `unread-${number}-${file}`);
  for (const name of unread) await ensureCopy(join(dir, name), { from: path, sizeBytes });
  return unread;
}

export async function ensureCopy(path: string, { from, sizeBytes }: { from: string; sizeBytes: number }) {
  if (statSync(path, { throwIfNoEntry: false })?.size !== sizeBytes) await copyFile(from, path);
}

/** Waits until the files in the folder count as settled; they need to be new for that to take time. */
export async function untilSettled({ effort }: BenchContext, dir: string): Promise<void> {
  if (!effort.waitsForRest) return;
  const newestMs = Math.max(...readdirSync(dir).map((name) => statSync(join(dir, name)).ctimeMs));
  await sleep(Math.max(0, newestMs + SETTLED_MS - Date.now()));
}

export function ensureBrokerLog(context: BenchContext, path: string, sizeBytes: number): Promise<void> {
  return ensureFile(context, path, sizeBytes, (handle) => writeLines(handle, sizeBytes, { mix: BROKER_MIX }));
}

/** The minute in the middle of a log, as its lines write it: `2026-01-01 06:00`. */
export function middleMinute({ path, sizeBytes }: SearchFolder): string {
  const bytes = Buffer.alloc(4096);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, bytes, 0, bytes.length, Math.floor(sizeBytes / 2));
  } finally {
    closeSync(descriptor);
  }
  const lineStart = bytes.indexOf(10) + 1;
  return bytes.toString('latin1', lineStart, lineStart + '2026-01-01 06:00'.length);
}

export function showSize(bytes: number): string {
  return bytes % 1024 ** 3 === 0 ? `${bytes / 1024 ** 3} GiB` : `${bytes / MIB} MiB`;
}
