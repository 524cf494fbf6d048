import {
  type ClusterEnd,
  type ClusterRecord,
  type ClusterState,
  exactJson,
  type MemberSelection,
  type SearchOptions,
} from '@porthole/contract';
import type { LineTextKernel, TextLayout } from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import { slowText } from './slow-text.ts';

const NEWLINE = 10;

/** What is needed of a cluster to search it. */
export type SearchedCluster = Pick<ClusterState, 'searchLogs' | 'searchLogLines'>;

/** The merged records of a cluster as NDJSON in pieces, an empty one first, the end last. */
export function clusterLines(
  cluster: SearchedCluster,
  request: SearchQuery & MemberSelection,
  options: SearchOptions,
): AsyncIterable<Uint8Array> {
  return cluster.searchLogLines?.(request, options) ?? jsonLines(cluster.searchLogs(request, options));
}

/** Batches of items as NDJSON; an empty batch is an empty piece. */
export async function* jsonLines(batches: AsyncIterable<readonly object[]>): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) {
    let lines = '';
    for (const item of batch) lines += `${exactJson(item)}\n`;
    yield Buffer.from(lines);
  }
}

/** Records in a row, as text. Positions count from the start of the text. */
export interface TextBatch {
  /** Of all of them; used again for the next batch of the same reader. */
  text: Uint8Array;
  /** Where the text of each ends. */
  ends: ArrayLike<number>;
  /** By the clock of this node; `NaN` without a timestamp. */
  times: ArrayLike<number>;
  offsets: ArrayLike<number>;
  /** Node and file of each. */
  sources: readonly string[];
}

/** Lines are parsed in rows of so many, where none is recognized: each attempt takes as long as parsing some. */
const MAX_PARSED = 1023;

/** Renders the merged records of one search as text. Those that are not as nodes write them are parsed. */
export class TextReader {
  /** The last item, once it has come. */
  end: ClusterEnd | undefined;
  readonly #kernel: LineTextKernel;
  readonly #layout: TextLayout;
  #room = Buffer.alloc(0);

  constructor(kernel: LineTextKernel, layout: TextLayout) {
    this.#kernel = kernel;
    this.#layout = layout;
  }

  /** The batches of a piece, which has whole lines. Each is used up before the next one is requested. */
  *read({ buffer, byteOffset, length }: Uint8Array): Generator<TextBatch, void, undefined> {
    const piece = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
    let pause = 0;
    for (let at = 0; at < piece.length; ) {
      const count = this.#kernel.render(piece, at, this.#layout);
      if (count > 0) {
        at += this.#kernel.ends[count - 1] as number;
        yield this.#rendered(count);
      }
      pause = count > 0 ? 1 : Math.min(2 * pause + 1, MAX_PARSED);
      const parsed: ClusterRecord[] = [];
      for (let lines = 0; lines < pause && at < piece.length; lines++) {
        const end = piece.indexOf(NEWLINE, at);
        const lineEnd = end < 0 ? piece.length : end;
        const item = JSON.parse(piece.toString('utf8', at, lineEnd)) as ClusterRecord | ClusterEnd;
        if (item.type === 'end') this.end = item;
        else parsed.push(item);
        at = lineEnd + 1;
      }
      if (parsed.length > 0) yield this.#parsed(parsed);
    }
  }

  #rendered(count: number): TextBatch {
    const kernel = this.#kernel;
    const text = kernel.text(count);
    if (this.#room.length < text.length) this.#room = Buffer.allocUnsafeSlow(Math.ceil(text.length * 1.25));
    this.#room.set(text);
    const sources: string[] = [];
    for (let index = 0; index < count; index++) {
      const isSame = kernel.sameFiles[index] === 1;
      sources.push(isSame ? (sources[index - 1] as string) : toSource(kernel.nodeOf(index), kernel.fileOf(index)));
    }
    return {
      text: this.#room.subarray(0, text.length),
      ends: kernel.textEnds.slice(0, count),
      times: kernel.times.slice(0, count),
      offsets: kernel.offsets.slice(0, count),
      sources,
    };
  }

  #parsed(records: readonly ClusterRecord[]): TextBatch {
    const texts = records.map((record) => Buffer.from(slowText(record, this.#layout)));
    let end = 0;
    return {
      text: Buffer.concat(texts),
      ends: texts.map(({ length }) => {
        end += length;
        return end;
      }),
      times: records.map(({ atMs }) => atMs ?? Number.NaN),
      offsets: records.map(({ offset }) => offset),
      sources: records.map(({ node, file }) => toSource(node, file)),
    };
  }
}

function toSource(node: string, file: string): string {
  return `${node}/${file}`;
}
