import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile, writeLines } from './input-files.ts';
import { UNREAD_FILES, WARM_UP_FILE } from './warm-node.ts';

const MIB = 1024 ** 2;

/** Enough for the threads to compile what they run. */
const WARM_UP_BYTES = 32 * MIB;
const UNREAD_BYTES = 16 * MIB;

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
  for (const name of UNREAD_FILES) await ensureBrokerLog(context, join(dir, name), UNREAD_BYTES);
  await ensureBrokerLog(context, join(dir, file), sizeBytes);
  return { dir, file, path: join(dir, file), sizeBytes, size };
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
