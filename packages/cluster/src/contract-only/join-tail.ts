const NEWLINE = 10;

export interface JoinOptions {
  /** By how much the file grew by its listed sizes: decides where lines repeat. */
  grownBytes: number;
}

export interface Joined {
  /** Where in the tail what is new begins. */
  at: number;
  /** What was known, as the file has it: without a newline that the node had added. */
  known: Buffer;
}

/**
 * Where in `tail`, the newest part of a file that starts with a whole line, what follows `known` begins: `known` is what
 * was read of the file before, from the start of a line. `undefined` when the two do not overlap, so that something
 * between them may be missing.
 *
 * It is found by content, because the offset of a tail is not known exactly: the file may have grown since its size was
 * listed, and LinDB drops the first line, turns CRLF into LF and adds a missing newline at the end.
 */
export function joinTail(known: Buffer, tail: Buffer, { grownBytes }: JoinOptions): Joined | undefined {
  const at = findOverlap(known, tail, grownBytes);
  if (at !== undefined) return { at, known };
  if (known.at(-1) !== NEWLINE) return undefined;
  // That newline may have been added by the node to a line that was not finished yet.
  const unfinished = known.subarray(0, -1);
  const atRest = findOverlap(unfinished, tail, grownBytes);
  return atRest === undefined ? undefined : { at: atRest, known: unfinished };
}

/** Where in `tail` the last byte of `known` is followed: they agree on all that both have before it, at least one byte. */
function findOverlap(known: Buffer, tail: Buffer, grownBytes: number): number | undefined {
  // As the sizes say; or with a newline that the node added.
  for (const newBytes of [grownBytes, grownBytes + 1]) {
    if (endsAt(known, tail, tail.length - newBytes)) return tail.length - newBytes;
  }
  // More was written since a size was listed, this one or that of before. All of what is known is there ...
  for (let at = tail.length - known.length; at >= 0 && known.length > 0; at--) {
    at = tail.lastIndexOf(known, at);
    if (at < 0) break;
    if (endsAt(known, tail, at + known.length)) return at + known.length;
  }
  // ... or only its end: as much of it as there is.
  for (let start = 0; start < known.length; ) {
    const newline = known.indexOf(NEWLINE, start);
    // At least one whole line: the first bytes of a line may be those of many.
    if (newline < 0) return undefined;
    if (endsAt(known, tail, known.length - start)) return known.length - start;
    start = newline + 1;
  }
  return undefined;
}

/** Whether what comes before `end` in `tail` can be the end of `known`. Both start with a line. */
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
