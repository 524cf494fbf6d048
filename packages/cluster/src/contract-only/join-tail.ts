const NEWLINE = 10;

export interface JoinOptions {
  /** Growth according to the listed sizes: decides between repeated lines. */
  grownBytes: number;
}

export interface Joined {
  /** Offset in the tail where new text begins. */
  at: number;
  /** The known text as in the file: without a newline that the node added. */
  known: Buffer;
}

/**
 * Finds where in `tail`, the newest part of a file starting with a whole line, the text after `known` begins: `known` was read
 * earlier, from the start of a line. `undefined` if the two do not overlap, so that text between them may be missing.
 *
 * Compares content, because the offset of a tail is not known exactly: the file may have grown since its size was
 * listed, and LinDB drops the first line, turns CRLF into LF and adds a missing newline at the end.
 */
export function joinTail(known: Buffer, tail: Buffer, { grownBytes }: JoinOptions): Joined | undefined {
  const at = findOverlap(known, tail, grownBytes);
  if (at !== undefined) return { at, known };
  if (known.at(-1) !== NEWLINE) return undefined;
  // The node may have added that newline to an unfinished line.
  const unfinished = known.subarray(0, -1);
  const atRest = findOverlap(unfinished, tail, grownBytes);
  return atRest === undefined ? undefined : { at: atRest, known: unfinished };
}

/** The offset in `tail` after the last byte of `known`: both agree on everything before it, at least one byte. */
function findOverlap(known: Buffer, tail: Buffer, grownBytes: number): number | undefined {
  // At the offset the sizes suggest, or one more for a newline that the node added.
  for (const newBytes of [grownBytes, grownBytes + 1]) {
    if (endsAt(known, tail, tail.length - newBytes)) return tail.length - newBytes;
  }
  // The file grew after one of the sizes was listed. Either all of the known text is there ...
  for (let at = tail.length - known.length; at >= 0 && known.length > 0; at--) {
    at = tail.lastIndexOf(known, at);
    if (at < 0) break;
    if (endsAt(known, tail, at + known.length)) return at + known.length;
  }
  // ... or only its end.
  for (let start = 0; start < known.length; ) {
    const newline = known.indexOf(NEWLINE, start);
    // At least one whole line: many lines start with the same bytes.
    if (newline < 0) return undefined;
    if (endsAt(known, tail, known.length - start)) return known.length - start;
    start = newline + 1;
  }
  return undefined;
}

/** Whether the text before `end` in `tail` can be the end of `known`. Both start at a line. */
function endsAt(known: Buffer, tail: Buffer, end: number): boolean {
  const bytes = Math.min(end, known.length);
  if (bytes < 1 || end > tail.length) return false;
  const [knownStart, tailStart] = [known.length - bytes, end - bytes];
  if (!startsLine(known, knownStart) || !startsLine(tail, tailStart)) return false;
  return known.compare(tail, tailStart, end, knownStart) === 0;
}

function startsLine(bytes: Buffer, at: number): boolean {
  return at === 0 || bytes[at - 1] === NEWLINE;
}
