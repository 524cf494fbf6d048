import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { createGzip, type ZlibOptions } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { onTestFinished } from 'vitest';
import { type BuildGzMapOptions, buildGzMap, type GzMap, GzText } from '../gz-map.ts';

export interface GzFile {
  path: string;
  fd: number;
  sizeBytes: number;
}

/** A file of the test, whose content can be replaced; closed and removed when the test ends. */
export function gzFile(): (bytes: Uint8Array) => GzFile {
  const path = join(tempDir(), 'a.gz');
  writeFileSync(path, '');
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  return (bytes) => {
    writeFileSync(path, bytes);
    return { path, fd, sizeBytes: bytes.length };
  };
}

/** The map of a file and its whole text. */
export function readAll({ fd, sizeBytes }: GzFile, options?: BuildGzMapOptions): { map: GzMap; text: Buffer } {
  const map = buildGzMap(fd, sizeBytes, options);
  const text = Buffer.alloc(map.textBytes);
  const got = new GzText(fd, sizeBytes, map).read(text, 0, 0, text.length);
  return { map, text: text.subarray(0, got) };
}

export interface Member {
  /** Flushed in this way after each part. */
  parts: readonly Buffer[];
  flush: number;
  options: ZlibOptions;
}

/** A member as zlib writes it when it is flushed occasionally. */
export async function packMember({ parts, flush, options }: Member): Promise<Buffer> {
  const packer = createGzip(options);
  const packed: Buffer[] = [];
  packer.on('data', (chunk: Buffer) => packed.push(chunk));
  for (const part of parts) {
    packer.write(part);
    packer.flush(flush);
  }
  packer.end();
  await finished(packer);
  return Buffer.concat(packed);
}
