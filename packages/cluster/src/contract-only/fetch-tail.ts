import { type CallOptions, codeOf, type NodeState, PortholeError } from '@porthole/contract';

/** LinDB ends a response silently before a line of this length or more. */
export const LONGEST_LINE_BYTES = 65_536;

export interface Tail {
  /** Whole lines up to the end of the file. */
  bytes: Buffer;
  /** A line that the node does not send stands before them: there is less than was asked for. */
  isCut: boolean;
}

export interface TailRequest extends CallOptions {
  file: string;
  /** As it was listed. */
  size: number;
  /** The newest so many bytes are wanted. */
  wantedBytes: number;
}

/** The operations that the tails of files are read with. */
export type TailNode = Pick<NodeState, 'listLogs' | 'viewLog'>;

/**
 * The newest lines of a file. LinDB sends nothing from a very long line on, with status 200: what arrives then ends before
 * the end of the file, which shows in its length. The largest part that does reach the end is found by bisection.
 */
export async function fetchTail(node: TailNode, { file, size, wantedBytes, ...options }: TailRequest): Promise<Tail> {
  let windowBytes = Math.min(size, wantedBytes);
  const first = await view(node, { file, windowBytes, wantedBytes, ...options });
  if (isWhole(first, windowBytes)) return { bytes: first, isCut: false };
  let best: Buffer = Buffer.alloc(0);
  let most = 0;
  // The part behind a long line is met from anywhere in that line's last 64 KiB: a finer search finds no more.
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

/** The first line is dropped, even of a whole file; nothing else is missing from a body that reaches the end. */
function isWhole(body: Buffer, windowBytes: number): boolean {
  return windowBytes - body.length < LONGEST_LINE_BYTES;
}

interface ViewOptions extends CallOptions {
  file: string;
  windowBytes: number;
  /** Larger than the window where the whole file is wanted, which may have grown. */
  wantedBytes: number;
}

/** Never more than was asked for, whatever the node sends; a newline may be added. */
async function view(node: TailNode, { file, windowBytes, wantedBytes, ...options }: ViewOptions): Promise<Buffer> {
  if (windowBytes < 1) return Buffer.alloc(0);
  const response = await node.viewLog({ file, sizeBytes: wantedBytes }, options);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.chunks) {
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      if (bytes > wantedBytes + 1) throw new PortholeError('BAD_ANSWER', `more than ${wantedBytes} bytes were sent`);
    }
    return Buffer.concat(chunks);
  } finally {
    await response.close();
  }
}

/** What a failed view means: LinDB answers every error with 500 and a text, also for a file that is not there. */
export async function viewFailure(
  node: Pick<NodeState, 'listLogs'>,
  { file, error, ...options }: CallOptions & { file: string; error: unknown },
): Promise<unknown> {
  if (codeOf(error) !== 'INTERNAL') return error;
  const cause = error instanceof Error ? { cause: error } : undefined;
  const reason = error instanceof Error ? error.message : String(error);
  const names = await node.listLogs(options).then(
    (entries) => entries.map(({ name }) => name),
    () => undefined,
  );
  if (names !== undefined && !names.includes(file))
    return new PortholeError('LOG_FILE_NOT_FOUND', `no log file named ${JSON.stringify(file)}`, cause);
  return new PortholeError('LOG_FILE_UNREADABLE', `${file} cannot be read: ${reason}`, cause);
}
