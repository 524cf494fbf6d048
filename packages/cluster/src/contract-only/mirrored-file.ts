import type { LocalTimes } from '@porthole/logs';

/** Bytes of the known end of a file in memory, to find where new text begins. */
export const KNOWN_BYTES = 16 * 1024;

const NEWLINE = 10;

/** The mirrored part of a file. */
export interface MirroredFile {
  /** Listed size when it was read. */
  size: number;
  /** Offset where the mirrored part ends: beyond the listed size if the file grew before it was read. */
  endBytes: number;
  /** Mirrored bytes. */
  heldBytes: number;
  /** The newest of them, from the start of a line. */
  known: Buffer;
  /** Nothing is missing at its start. */
  isWhole: boolean;
  /** Preceded by a line that the node does not send. */
  isCut: boolean;
  /** When its size was listed, by the monotonic clock: what comes after `size` was written later. */
  listedMs: number;
  /** Of the known text. */
  times: LocalTimes;
}

export function firstRead(
  bytes: Buffer,
  facts: Pick<MirroredFile, 'size' | 'isCut' | 'isWhole' | 'listedMs'>,
): Omit<MirroredFile, 'times'> {
  return { ...facts, endBytes: facts.size, heldBytes: bytes.length, known: lastLines(bytes) };
}

/** `before`: the previously known text as in the file. */
export function afterAppend(
  file: MirroredFile,
  { bytes, before }: { bytes: Buffer; before: Buffer },
  { size, listedMs }: Pick<MirroredFile, 'size' | 'listedMs'>,
): MirroredFile {
  const known = lastLines(Buffer.concat([before, bytes]));
  const endBytes = Math.max(size, file.endBytes + bytes.length);
  return { ...file, size, endBytes, heldBytes: file.heldBytes + bytes.length, known, listedMs };
}

/** A copy, so that a tail of megabytes is not retained for its last lines. */
export function lastLines(bytes: Buffer): Buffer {
  if (bytes.length <= KNOWN_BYTES) return Buffer.from(bytes);
  const cut = bytes.subarray(-KNOWN_BYTES);
  const newline = cut.subarray(0, -1).indexOf(NEWLINE);
  // A single longer line: matched as a whole or not at all.
  return Buffer.from(newline < 0 ? bytes.subarray(bytes.lastIndexOf(NEWLINE, -2) + 1) : cut.subarray(newline + 1));
}
