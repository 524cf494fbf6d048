import type { LogEntry } from '@porthole/logs/types';
import { fetchTail, type Tail, type TailNode } from './fetch-tail.ts';
import { joinTail } from './join-tail.ts';
import { KNOWN_BYTES, type MirroredFile } from './mirrored-file.ts';

const NEWLINE = 10;

/** Attempts for a file that keeps growing. */
const MAX_TRIES = 3;

/** The text after the known part of a file. */
export interface Rest {
  bytes: Buffer;
  /** The known text as in the file. */
  before: Buffer;
}

export interface TailSourceOptions {
  node: TailNode;
  /** Per read. */
  tailBytes: number;
  signal: AbortSignal;
}

/** Reads the newest parts of the files of a node. */
export class TailSource {
  readonly #options: TailSourceOptions;

  constructor(options: TailSourceOptions) {
    this.#options = options;
  }

  /**
   * The newest part of a file whose size is the same before and after: only then is its last line known to be complete, and
   * whether the first one is missing. For a file that keeps growing, without its last line.
   */
  async readFirst(entry: LogEntry): Promise<LogEntry & Tail & { isWhole: boolean }> {
    const { node, tailBytes, signal } = this.#options;
    let { size } = entry;
    for (let tries = 1; ; tries++) {
      const tail = await this.#fetch({ name: entry.name, size }, tailBytes);
      const entries = size === 0 ? [] : await node.listLogs({ signal });
      const sizeNow = entries.find(({ name }) => name === entry.name)?.size ?? size;
      if (sizeNow === size) return { ...entry, size, ...tail, isWhole: tail.bytes.length >= size };
      // With the earlier size: the next listing differs, and the rest is read.
      if (tries === MAX_TRIES) return { ...entry, size, ...tail, bytes: withoutLastLine(tail.bytes), isWhole: false };
      size = sizeNow;
    }
  }

  /** The appended text; `undefined` if the newest part does not join the known text. */
  async readRest(known: MirroredFile, entry: LogEntry): Promise<Rest | undefined> {
    const grownBytes = Math.max(0, entry.size - known.endBytes);
    const { tailBytes } = this.#options;
    const wishes = [grownBytes + KNOWN_BYTES, tailBytes].filter((bytes) => bytes <= tailBytes);
    for (const wantedBytes of new Set(wishes)) {
      const { bytes } = await this.#fetch(entry, wantedBytes);
      const joined = joinTail(known.known, bytes, { grownBytes });
      if (joined === undefined) continue;
      const rest = bytes.subarray(joined.at);
      const before = joined.known;
      // One byte more than the growth is a newline that the node added to an unfinished line. If the file grew after the
      // listing, the last line may be unfinished as well and is read again.
      if (rest.length === grownBytes + 1) return { bytes: rest.subarray(0, -1), before };
      return { bytes: rest.length > grownBytes ? withoutLastLine(rest) : rest, before };
    }
    return undefined;
  }

  #fetch({ name, size }: LogEntry, wantedBytes: number): Promise<Tail> {
    const { node, signal } = this.#options;
    return fetchTail(node, { file: name, size, wantedBytes, signal });
  }
}

function withoutLastLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(NEWLINE, -2) + 1);
}
