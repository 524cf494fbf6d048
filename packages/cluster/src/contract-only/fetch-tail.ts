import {
  type CallOptions,
  codeOf,
  errorMessage,
  type NodeState,
  PortholeError,
  type ResponseClock,
} from '@porthole/contract';
import type { LogEntry } from '@porthole/logs/types';

/** LinDB silently truncates a response before a line of this length or more. */
export const LONGEST_LINE_BYTES = 65_536;

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
