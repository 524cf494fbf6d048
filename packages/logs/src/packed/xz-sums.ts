import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { LzmaKernel } from './decoder-kernels.ts';

/** The checksum of the text of a block. */
export interface BlockSum {
  /** Its length in the file. */
  bytes: number;
  /** Adds text in the memory of the kernel. */
  add(from: number, end: number): void;
  matches(stored: Buffer): boolean;
}

const CRC32 = 1;
const CRC64 = 4;
const SHA256 = 10;

/** A checksum that is not known is skipped, as xz does. */
export function createBlockSum(check: number, lzma: LzmaKernel): BlockSum {
  if (check === CRC64) return createCrc64(lzma);
  if (check === CRC32) return createCrc32(lzma);
  if (check === SHA256) return createSha256(lzma);
  const bytes = check === 0 ? 0 : 4 * 2 ** Math.floor((check - 1) / 3);
  return { bytes, add: () => {}, matches: () => true };
}

function createCrc64(lzma: LzmaKernel): BlockSum {
  lzma.startSum();
  return {
    bytes: 8,
    add: lzma.addToSum,
    matches: (stored) =>
      stored.readUInt32LE(0) === lzma.sumLow() >>> 0 && stored.readUInt32LE(4) === lzma.sumHigh() >>> 0,
  };
}

function createCrc32({ bytes }: LzmaKernel): BlockSum {
  let sum = 0;
  return {
    bytes: 4,
    add(from, end) {
      sum = crc32(bytes.subarray(from, end), sum);
    },
    matches: (stored) => stored.readUInt32LE(0) === sum,
  };
}

function createSha256({ bytes }: LzmaKernel): BlockSum {
  const hash = createHash('sha256');
  return {
    bytes: 32,
    add: (from, end) => void hash.update(bytes.subarray(from, end)),
    matches: (stored) => stored.equals(hash.digest()),
  };
}
