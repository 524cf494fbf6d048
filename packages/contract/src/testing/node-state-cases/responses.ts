/* Answers as plain values, which can be compared. */

import type {
  ByteStream,
  FollowItem,
  FollowQuery,
  FoundRecord,
  QueryNode,
  SearchEnd,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';
import { cursorAt, isBatch, originAt, type RecordBatch, recordsOf } from '@porthole/records';
import { expect } from 'vitest';
import { codeOf, errorMessage } from '../../errors/errors.ts';
import type { NodeState, SearchOptions } from '../../node-state.ts';
import { parseQuery } from '../../query/parse-query.ts';

/** One character for each byte, so that a difference can be read. */
export async function readLatin1(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString('latin1');
  return text;
}

export interface ReadBytes {
  sizeBytes: number | undefined;
  bytes: string;
}

/** All bytes of a stream, which is closed. */
export async function readBytes(response: ByteStream): Promise<ReadBytes> {
  try {
    return { sizeBytes: response.sizeBytes, bytes: await readLatin1(response.chunks) };
  } finally {
    await response.close();
  }
}

export interface Failure {
  code: string;
  message: string;
}

/** The failure of a call, or its result. */
export async function catchFailure(call: () => unknown): Promise<Failure | { result: unknown }> {
  try {
    return { result: await call() };
  } catch (error) {
    return { code: codeOf(error), message: errorMessage(error) };
  }
}

/** Everything of all logs, newest first, unless the case says otherwise. */
export function searchQuery(given: Partial<SearchQuery> = {}): SearchQuery {
  return { order: 'newest', limit: 10_000, before: 0, after: 0, ...given };
}

export interface SearchResult {
  records: FoundRecord[];
  end: SearchEnd;
}

/** A whole search. How its records are split into batches does not matter, except that an empty one comes first. */
export async function search(
  node: NodeState,
  given: Partial<SearchQuery> = {},
  options?: SearchOptions,
): Promise<SearchResult> {
  const items: SearchItem[] = [];
  let batches = 0;
  for await (const item of node.search(searchQuery(given), options)) {
    if (batches++ === 0 && (!isBatch(item) || item.ends.length > 0)) throw new Error('the first batch is not empty');
    items.push(...(isBatch(item) ? checkedRecords(item) : [item]));
  }
  return splitEnd(items);
}

/** The records of a batch, whose columns say the same as its lines. */
function checkedRecords(batch: RecordBatch): FoundRecord[] {
  const records = recordsOf<FoundRecord>(batch);
  const columns = records.map((_, index) => ({
    ...originAt(batch, index),
    cursor: cursorAt(batch, index),
    offset: batch.offsets[index],
    timeMs: batch.times[index],
    lastByte: batch.bytes[(batch.ends[index] as number) - 1],
  }));
  expect(columns).toEqual(
    records.map(({ file, cursor, offset, timeMs = Number.NaN }) => ({ file, cursor, offset, timeMs, lastByte: 10 })),
  );
  expect(batch.ends.at(-1) ?? 0).toBe(batch.bytes.length);
  return records;
}

function splitEnd(items: readonly SearchItem[]): SearchResult {
  const end = items.at(-1);
  if (end?.type !== 'end') throw new Error(`the last item is no end but ${JSON.stringify(end)}`);
  const records = items.slice(0, -1).map((item) => {
    if (item.type !== 'record') throw new Error('something comes behind the end');
    return item;
  });
  return { records, end };
}

/** All pages of a search, each started at the cursor of the previous one, until there is no cursor. */
export async function searchPages(
  node: NodeState,
  given: Partial<SearchQuery>,
  optionsOf: (page: number) => SearchOptions = () => ({}),
): Promise<{ records: FoundRecord[]; ends: SearchEnd[] }> {
  const records: FoundRecord[] = [];
  const ends: SearchEnd[] = [];
  for (let query = given; ; ) {
    const page = await search(node, query, optionsOf(ends.length));
    records.push(...page.records);
    ends.push(page.end);
    if (page.end.cursor === null) return { records, ends };
    query = { ...given, start: { cursor: page.end.cursor } };
  }
}

/** Positions of records: short enough to be written down in a case. */
export function recordPositions(records: readonly FoundRecord[]): string[] {
  return records.map(({ file, offset }) => `${file} ${offset}`);
}

/** The first words of each record. */
export function itemMessages(records: readonly FollowItem[]): string[] {
  return records.map((item) => (item.type === 'record' ? item.message : `(${item.type})`));
}

/** A follow that is read step by step. */
export class Following {
  readonly items: FollowItem[] = [];
  readonly #abortController = new AbortController();
  readonly #batches: AsyncIterator<FollowItem[]>;

  private constructor(node: NodeState, query: FollowQuery) {
    this.#batches = node.followLogs(query, { signal: this.#abortController.signal })[Symbol.asyncIterator]();
  }

  /** Started: its first, empty batch has arrived. */
  static async begin(node: NodeState, query: FollowQuery): Promise<Following> {
    const following = new Following(node, query);
    const first = await following.#batches.next();
    if (first.done || first.value.length > 0) throw new Error(`the first batch is ${JSON.stringify(first.value)}`);
    return following;
  }

  /** Reads until this many items have arrived. */
  async read(count: number): Promise<FollowItem[]> {
    while (this.items.length < count) {
      const batch = await this.#batches.next();
      if (batch.done) throw new Error(`the follow ended: ${JSON.stringify(this.items)}`);
      this.items.push(...batch.value);
    }
    return this.items;
  }

  /** Aborts the signal and reads the rest. */
  async end(): Promise<FollowItem[]> {
    this.#abortController.abort();
    for (let batch = await this.#batches.next(); !batch.done; batch = await this.#batches.next())
      this.items.push(...batch.value);
    return this.items;
  }
}

/** The query of a text that has one. */
export function parsedQuery(text: string): QueryNode {
  const node = parseQuery(text);
  if (node === undefined) throw new Error('the text of the query is empty');
  return node;
}
