import type { LogEntry } from '@porthole/logs/types';
import { fetchTail, type Tail, type TailNode } from './fetch-tail.ts';
import { joinTail } from './join-tail.ts';
import { KNOWN_BYTES, type MirroredFile } from './mirrored-file.ts';

const NEWLINE = 10;

/** Views of a file that is written all the while. */
const MAX_TRIES = 3;

/** What follows what is known of a file. */
export interface Rest {
  bytes: Buffer;
  /** What is known, as the file has it. */
  before: Buffer;
}

export interface TailSourceOptions {
  node: TailNode;
  /** Of a file at a time. */
  tailBytes: number;
  signal: AbortSignal;
}

/** Reads the ends of a node's files, of which it sends no more than their newest part. */
export class TailSource {
  readonly #options: TailSourceOptions;

  constructor(options: TailSourceOptions) {
    this.#options = options;
  }

  /**
   * The newest part of a file whose size is the same before and after: only then it is known that its last line is whole,
   * and whether the first one is missing. Of a file that is written all the while, without its last line.
   */
  async readFirst(entry: LogEntry): Promise<LogEntry & Tail & { isWhole: boolean }> {
    const { node, tailBytes, signal } = this.#options;
    let { size } = entry;
    for (let tries = 1; ; tries++) {
      const tail = await this.#fetch({ name: entry.name, size }, tailBytes);
      const entries = size === 0 ? [] : await node.listLogs({ signal });
      const sizeNow = entries.find(({ name }) => name === entry.name)?.size ?? size;
      if (sizeNow === size) return { ...entry, size, ...tail, isWhole: tail.bytes.length >= size };
      // With the size of before: the next list has another, and the rest is read.
      if (tries === MAX_TRIES) return { ...entry, size, ...tail, bytes: withoutLastLine(tail.bytes), isWhole: false };
      size = sizeNow;
    }
  }

  /** What was appended since; `undefined` where the newest part does not join what is known. */
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
      // One byte more than was written is a newline that the node added to a line that is not finished. More was written
      // since the list: then the last line may be such a one, and is read again.
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
