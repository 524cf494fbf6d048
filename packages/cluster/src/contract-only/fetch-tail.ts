import {
  type CallOptions,
  codeOf,
  errorMessage,
  type NodeState,
  PortholeError,
  type ResponseClock,
  type ViewRequest,
} from '@porthole/contract';
import { OneChunk, type Scrubbing, scrubTail } from '@porthole/logs';
import type { ByteStream, LogEntry } from '@porthole/logs/types';

/** LinDB silently truncates a response before a line of this length or more. */
export const LONGEST_LINE_BYTES = 65_536;

const NEWLINE = 10;

/** Longer tails are passed on as they come: where a line ends the response, it is too late to ask for less. */
const MAX_HELD_BYTES = 8 * 1024 ** 2;

export interface Tail {
  /** Whole lines up to the end of the file. */
  bytes: Buffer;
  /** Preceded by a line that the node does not send: less than requested. */
  isCut: boolean;
}

export interface TailRequest extends CallOptions {
  file: string;
  /** Size as listed. */
  size: number;
  /** Number of bytes to fetch from the end. */
  wantedBytes: number;
}

/** Operations for reading file tails. */
export interface TailNode extends Pick<NodeState, 'listLogs' | 'viewLog'> {
  /** Its clock, as its responses show it. Absent: not known. */
  readonly clock?: Pick<ResponseClock, 'nowMs'> | undefined;
}

/**
 * Fetches the newest lines of a file. LinDB stops sending at a very long line, with status 200: the response then ends before
 * the end of the file, which its length reveals. Bisection finds the largest part that does reach the end.
 */
export async function fetchTail(node: TailNode, { file, size, wantedBytes, ...options }: TailRequest): Promise<Tail> {
  let windowBytes = Math.min(size, wantedBytes);
  const first = await view(node, { file, windowBytes, wantedBytes, ...options });
  if (isWhole(first, windowBytes)) return { bytes: first, isCut: false };
  let best: Buffer = Buffer.alloc(0);
  let most = 0;
  // Starting anywhere in the last 64 KiB of the long line gives the part after it: a finer search finds no more.
  for (let least = windowBytes; least - most >= LONGEST_LINE_BYTES / 2; ) {
    windowBytes = Math.floor((most + least) / 2);
    const bytes = await view(node, { file, windowBytes, wantedBytes: windowBytes, ...options });
    if (!isWhole(bytes, windowBytes)) {
      least = windowBytes;
      continue;
    }
    best = bytes;
    most = windowBytes;
  }
  return { bytes: best, isCut: true };
}

/** LinDB drops the first line, even of a whole file; nothing else is missing from a body that reaches the end. */
function isWhole(body: Buffer, windowBytes: number): boolean {
  return windowBytes - body.length < LONGEST_LINE_BYTES;
}

interface ViewOptions extends CallOptions {
  file: string;
  windowBytes: number;
  /** Larger than the window if the whole file is requested, which may have grown. */
  wantedBytes: number;
}

/** At most what was requested, whatever the node sends; a newline may be added. */
async function view(node: TailNode, { file, windowBytes, wantedBytes, ...options }: ViewOptions): Promise<Buffer> {
  if (windowBytes < 1) return Buffer.alloc(0);
  const response = await node.viewLog({ file, sizeBytes: wantedBytes }, options);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.chunks) {
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes > wantedBytes + 1) throw new PortholeError('BAD_ANSWER', `the response exceeds ${wantedBytes} bytes`);
    }
    return Buffer.concat(chunks);
  } finally {
    await response.close();
  }
}

/** Interprets a failed view: LinDB responds to every error with 500 and a text, even for a missing file. `entries`: listed later. */
export function viewFailure(
  error: unknown,
  { file, entries }: { file: string; entries: readonly LogEntry[] | undefined },
): unknown {
  if (codeOf(error) !== 'INTERNAL') return error;
  const cause = error instanceof Error ? { cause: error } : undefined;
  if (entries !== undefined && !entries.some(({ name }) => name === file))
    return new PortholeError('LOG_FILE_NOT_FOUND', `no log file named ${JSON.stringify(file)}`, cause);
  return new PortholeError('LOG_FILE_UNREADABLE', `${file} cannot be read: ${errorMessage(error)}`, cause);
}

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

export interface ViewTailOptions extends CallOptions {
  /** As listed. */
  listedBytes: number;
  scrubbing: Scrubbing;
  /** Passes a long tail on, masked. */
  passOn(): Promise<ByteStream>;
}

/**
 * The end of a file as any node serves it: whole lines, up to the end of the file. LinDB drops the first line of what is
 * requested, so more is; and it stops before a very long line, so only what is behind that is returned. Throws if that is
 * nothing.
 */
export async function viewTail(
  node: TailNode,
  { file, sizeBytes }: ViewRequest,
  { listedBytes, scrubbing, passOn, ...options }: ViewTailOptions,
): Promise<ByteStream> {
  // The line before, of which there may be only a part, is the one that is dropped.
  const wantedBytes = sizeBytes + LONGEST_LINE_BYTES;
  if (Math.min(listedBytes, wantedBytes) > MAX_HELD_BYTES)
    return wholeOrFailed(await passOn(), { file, leastBytes: Math.min(listedBytes, sizeBytes) - LONGEST_LINE_BYTES });
  const { bytes, isCut } = await fetchTail(node, { file, size: listedBytes, wantedBytes, ...options });
  if (bytes.length === 0 && listedBytes > 0) throw notServed(file, isCut);
  const masked: Uint8Array[] = [];
  for await (const chunk of scrubTail(new OneChunk(bytes), scrubbing.current)) masked.push(chunk);
  const shown = cutLines(Buffer.concat(masked), sizeBytes);
  return { sizeBytes: shown.length, chunks: new OneChunk(shown), close: () => Promise.resolve() };
}

/** The last bytes of a text, from the first whole line; if there is none, from the first whole character. */
function cutLines(text: Buffer, sizeBytes: number): Buffer {
  const from = text.length - sizeBytes;
  if (from <= 0) return text;
  const start = text.indexOf(NEWLINE, from - 1) + 1;
  if (start > 0 && start < text.length) return text.subarray(start);
  const skip = text.subarray(from, from + 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return text.subarray(from + Math.max(0, skip));
}

/** A response that ends before the end of the file must not look complete. */
function wholeOrFailed(
  { chunks, close }: ByteStream,
  { file, leastBytes }: { file: string; leastBytes: number },
): ByteStream {
  async function* checked(): AsyncGenerator<Uint8Array, void, undefined> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes < leastBytes) throw notServed(file, true);
  }
  return { sizeBytes: undefined, chunks: checked(), close };
}

function notServed(file: string, isCut: boolean): PortholeError {
  const what = isCut
    ? `does not serve lines of ${LONGEST_LINE_BYTES} bytes or more, nor the text behind them in a longer part`
    : 'never serves the first line of a file, and there is no other';
  return new PortholeError('LOG_FILE_UNREADABLE', `${file} cannot be read: the node ${what}`);
}
