import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../errors.ts';
import { RotatedNames } from '../own-log/rotated-name.ts';

/** Longer than any line that is written, and than the notices that may follow an entry. */
const TAIL_BYTES = 2 * 1024 ** 2;

const LINE_FEED = 0x0a;

/** The cursor of the last entry of a log; also removes the line that a crash has cut. */
export async function readLastCursor(dir: string, fileName: string): Promise<string | undefined> {
  const names = new RotatedNames(fileName);
  const rotated = (await listDir(dir)).filter((name) => names.parse(name) !== undefined).sort();
  for (const name of [fileName, ...rotated.reverse()]) {
    const cursor = await cursorIn(join(dir, name));
    if (cursor !== undefined) return cursor;
  }
  return undefined;
}

async function cursorIn(path: string): Promise<string | undefined> {
  const file = await open(path, 'r+').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    return undefined;
  });
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const tail = buffer.subarray(0, bytesRead);
    const end = tail.lastIndexOf(LINE_FEED) + 1;
    if (end < tail.length) await file.truncate(from + end);
    const lines = tail.toString('utf8', 0, end).split('\n').reverse();
    return lines.map(cursorOf).find((cursor) => cursor !== undefined);
  } finally {
    await file.close();
  }
}

function cursorOf(line: string): string | undefined {
  try {
    const { __CURSOR } = JSON.parse(line) as { __CURSOR?: unknown };
    return typeof __CURSOR === 'string' ? __CURSOR : undefined;
  } catch (error) {
    // The first line may be the rest of one, and lines that are not entries are kept as they are.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

async function listDir(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
