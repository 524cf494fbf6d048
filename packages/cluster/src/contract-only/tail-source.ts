import type { LogEntry } from '@porthole/logs/types';
import { fetchTail, type Tail, type TailNode } from './fetch-tail.ts';
import { joinTail } from './join-tail.ts';
import { KNOWN_BYTES, type MirroredFile } from './mirrored-file.ts';

const NEWLINE = 10;

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

  /** The newest part of a file. Its last line may be unfinished, unless its size is the same afterwards. */
  readFirst(entry: LogEntry): Promise<Tail> {
    return this.#fetch(entry, this.#options.tailBytes);
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

export function withoutLastLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(NEWLINE, -2) + 1);
}
