import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { BROKER_MIX } from './broker-mix.ts';
import type { BenchContext } from './context.ts';
import { ensureFile } from './input-files.ts';
import { logLines } from './log-lines.ts';
import { ensureBrokerLog, showSize } from './search-files.ts';

const MIB = 1024 ** 2;
const ONE_LINE_BYTES = 200_000_000;

/** Of the log that is searched, what the compressed one has. */
const GZ_SHARE = 1 / 4;

export interface MemoryFolder {
  dir: string;
  /** A file that is one line of 200 MB. */
  oneLine: string;
  /** A live log whose rotated file is compressed, and the size of the text in that. */
  family: string;
  gzSize: string;
}

/** A folder with logs that are hard to search in little memory. */
export async function ensureMemoryFolder(context: BenchContext): Promise<MemoryFolder> {
  const dir = context.dataDir('memory');
  const oneLine = 'one-line.log';
  await ensureFile(context, join(dir, oneLine), ONE_LINE_BYTES, writeOneLine);
  const gzBytes = context.effort.logBytes * GZ_SHARE;
  const gzSize = showSize(gzBytes);
  const family = `orders-of-${gzSize.replace(' ', '-').toLowerCase()}.log`;
  await ensureBrokerLog(context, join(dir, family), 4 * MIB);
  await ensureFile(context, join(dir, `${family}.1.gz`), undefined, (handle) => writeGz(handle, gzBytes));
  return { dir, oneLine, family, gzSize };
}

/** The start of an ordinary record, and no line feed for 200 MB. */
async function writeOneLine(handle: FileHandle): Promise<void> {
  const head = '2026-01-01 00:00:00.000\tINFO\trpc/server.go:61\t[rpc] [stream]: ';
  const text = Buffer.from('a request that was written to the log as a whole, '.repeat(20_000));
  let left = ONE_LINE_BYTES - head.length - 1;
  await handle.write(head);
  for (; left > 0; left -= text.length) await handle.write(text.subarray(0, left));
  await handle.write('\n');
}

function writeGz(handle: FileHandle, textBytes: number): Promise<void> {
  const lines = Readable.from(logLines(textBytes, BROKER_MIX));
  return pipeline(lines, createGzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await handle.write(chunk);
  });
}
