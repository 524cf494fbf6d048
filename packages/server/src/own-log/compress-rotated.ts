import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { expectCode } from '../error-code.ts';
import { statIfExists } from './open-log-file.ts';
import { temporaryName } from './rotated-name.ts';

/**
 * Replaces a rotated file by its compressed form. The original is removed only after the compressed file is on disk under
 * its final name, so a crash at any time leaves at least one of them intact.
 * False: the file changed meanwhile and was left alone; try again later.
 */
export async function compressRotated(dir: string, name: string): Promise<boolean> {
  const source = join(dir, name);
  const target = `${source}.gz`;
  if (await statIfExists(target)) {
    // Either a crash happened between the last two steps, or the file is not ours: then both stay.
    if (await holdsSame(source, target)) await rm(source, { force: true });
    return true;
  }
  const temporary = join(dir, temporaryName(`${name}.gz`));
  try {
    const before = await stat(source);
    const bytes = await writeCompressed(source, temporary, before);
    // Another process may have written one more batch, or the name was reserved and the file appeared only now.
    const after = await stat(source);
    if (after.size !== bytes || after.dev !== before.dev || after.ino !== before.ino) return false;
    await rename(temporary, target);
    await syncDir(dir);
    await rm(source, { force: true });
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the number of uncompressed bytes. */
async function writeCompressed(source: string, temporary: string, { atime, mtime }: Stats): Promise<number> {
  await using output = await open(temporary, 'wx', 0o640);
  const gzip = createGzip();
  await pipeline(createReadStream(source), gzip, (chunks: AsyncIterable<Buffer>) => writeFile(output, chunks));
  // Readers use the modification time of the file; compression must not change it.
  await output.utimes(atime, mtime);
  await output.sync();
  return gzip.bytesWritten;
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

/** Otherwise a power failure could undo the rename although the original is already removed. */
async function syncDir(dir: string): Promise<void> {
  await using handle = await open(dir, 'r');
  await handle.sync();
}
