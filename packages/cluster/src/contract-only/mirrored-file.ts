/** Of what is known of a file, so much is kept in memory: what comes next is recognised by it. */
export const KNOWN_BYTES = 16 * 1024;

const NEWLINE = 10;

/** What was read of a file of a node. */
export interface MirroredFile {
  /** As it was listed when it was read. */
  size: number;
  /** Where in the file what is at hand ends: behind the listed size where more had been written when it was read. */
  endBytes: number;
  /** Bytes at hand. */
  heldBytes: number;
  /** The newest of them, from the start of a line. */
  known: Buffer;
  /** Nothing is missing at its start. */
  isWhole: boolean;
  /** A line that the node does not send stands before what is at hand. */
  isCut: boolean;
}

export function firstRead(bytes: Buffer, facts: Pick<MirroredFile, 'size' | 'isCut' | 'isWhole'>): MirroredFile {
  return { ...facts, endBytes: facts.size, heldBytes: bytes.length, known: lastLines(bytes) };
}

/** `before`: what was known until now, as the file has it. */
export function afterAppend(
  file: MirroredFile,
  { bytes, before }: { bytes: Buffer; before: Buffer },
  size: number,
): MirroredFile {
  const known = lastLines(Buffer.concat([before, bytes]));
  const endBytes = Math.max(size, file.endBytes + bytes.length);
  return { ...file, size, endBytes, heldBytes: file.heldBytes + bytes.length, known };
}

/** A copy, so that a tail of megabytes is not kept for its last lines. */
function lastLines(bytes: Buffer): Buffer {
  if (bytes.length <= KNOWN_BYTES) return Buffer.from(bytes);
  const cut = bytes.subarray(-KNOWN_BYTES);
  const newline = cut.subarray(0, -1).indexOf(NEWLINE);
  // One line that is longer than all of it: recognised as a whole, or not at all.
  return Buffer.from(newline < 0 ? bytes.subarray(bytes.lastIndexOf(NEWLINE, -2) + 1) : cut.subarray(newline + 1));
}
