import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { expectCode, hasCode } from '../error-code.ts';
import { temporaryName } from './rotated-name.ts';

const CHUNK_BYTES = 64 * 1024;

/**
 * Replaces a rotated file by its compressed form. The original is removed only after the compressed file is on disk under
 * its final name, so a crash at any time leaves at least one of them intact.
 * False: the file changed meanwhile and was left alone; try again later.
 */
export async function compressRotated(dir: string, name: string): Promise<boolean> {
  const source = join(dir, name);
  const target = `${source}.gz`;
  if (await isFile(target)) {
    // Either a crash happened between the last two steps, or the file is not ours: then both stay.
    if (await holdsSame(source, target)) await remove(source);
    return true;
  }
  const temporary = join(dir, temporaryName(`${name}.gz`));
  const input = await open(source, 'r');
  try {
    const bytes = await writeCompressed(input, temporary);
    if (await hasChanged(input, { source, bytes })) return false;
    await rename(temporary, target);
    await syncDir(dir);
    await remove(source);
    return true;
  } finally {
    await input.close();
    await remove(temporary);
  }
}

export async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (thrown) {
    if (!hasCode(thrown, 'ENOENT')) throw thrown;
  }
}

/** Returns the number of uncompressed bytes. */
async function writeCompressed(input: FileHandle, temporary: string): Promise<number> {
  const { atime, mtime } = await input.stat();
  const output = await open(temporary, 'wx', 0o640);
  const gzip = createGzip();
  try {
    await pipeline(readChunks(input), gzip, (chunks: AsyncIterable<Buffer>) => writeFile(output, chunks));
    // Readers use the modification time of the file; compression must not change it.
    await output.utimes(atime, mtime);
    await output.sync();
    return gzip.bytesWritten;
  } finally {
    await output.close();
  }
}

/** Not the handle's own stream: closing the handle would wait for that stream, even after a failure. */
async function* readChunks(input: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await input.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Another process may have written one more batch, or the name was reserved and the file appeared only now. */
async function hasChanged(input: FileHandle, compressed: { source: string; bytes: number }): Promise<boolean> {
  const [held, named] = await Promise.all([input.stat(), stat(compressed.source)]);
  return held.size !== compressed.bytes || held.dev !== named.dev || held.ino !== named.ino;
}

async function holdsSame(plain: string, compressed: string): Promise<boolean> {
  const inPlain = createHash('sha256');
  const inCompressed = createHash('sha256');
  try {
    await pipeline(createReadStream(plain), inPlain);
    await pipeline(createReadStream(compressed), createGunzip(), inCompressed);
  } catch (thrown) {
    expectCode(thrown);
    return false; // unreadable or damaged: then both files stay, and nothing is lost
  }
  return inPlain.digest('hex') === inCompressed.digest('hex');
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return false;
    throw thrown;
  }
}

/** Otherwise a power failure could undo the rename although the original is already removed. */
async function syncDir(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
