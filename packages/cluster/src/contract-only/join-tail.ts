const NEWLINE = 10;

export interface JoinOptions {
  /** By how much the file grew by its listed sizes: decides where lines repeat. */
  grownBytes: number;
}

/**
 * Where in `tail`, the newest part of a file that starts with a whole line, what follows `known` begins: `known` is what
 * was read of the file before, from the start of a line. `undefined` when the two do not overlap, so that something
 * between them may be missing.
 *
 * It is found by content, because the offset of a tail is not known exactly: the file may have grown since its size was
 * listed, and LinDB drops the first line, turns CRLF into LF and adds a missing newline at the end.
 */
export function joinTail(known: Buffer, tail: Buffer, { grownBytes }: JoinOptions): number | undefined {
  const joined = overlapOf(known, tail, grownBytes);
  if (joined !== undefined || known.at(-1) !== NEWLINE) return joined;
  // That newline may have been added by the node to a line that was not finished yet.
  return overlapOf(known.subarray(0, -1), tail, grownBytes);
}

/** Bytes at the start of `tail` that are the end of `known`: from a start of a line, at least one byte. */
function overlapOf(known: Buffer, tail: Buffer, grownBytes: number): number | undefined {
  // As the sizes say; or with a newline that the node added.
  for (const newBytes of [grownBytes, grownBytes + 1]) {
    const bytes = tail.length - newBytes;
    if (bytes > 0 && bytes <= known.length && isOverlap(known, tail, bytes)) return bytes;
  }
  for (let start = 0; start < known.length; ) {
    const bytes = known.length - start;
    if (isOverlap(known, tail, bytes)) return bytes;
    const newline = known.indexOf(NEWLINE, start);
    if (newline < 0) return undefined;
    start = newline + 1;
  }
  return undefined;
}

function isOverlap(known: Buffer, tail: Buffer, bytes: number): boolean {
  const start = known.length - bytes;
  if (bytes > tail.length || (start > 0 && known[start - 1] !== NEWLINE)) return false;
  return known.compare(tail, 0, bytes, start) === 0;
}
