import type { NodeState } from '@porthole/contract';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';

/** The part of a log file that is of the time asked for. */
export interface LogPart {
  node: string;
  file: string;
  family: string;
  /** By the clock of that member. */
  range: { fromMs: number; toMs: number };
  /**
   * `bytes`: as they are in the file. `records`: one by one, of a compressed file. `end`: the end of a file, whatever its
   * times are, because it has none or its node cannot look for them.
   */
  kind: 'bytes' | 'records' | 'end';
  /** How long it is; of an `end`, at most. */
  bytes: number;
  /** Names the record it begins with, also after rotation; empty for an `end`. */
  cursor: string;
  /** There is more of it in the time asked for. */
  isCut: boolean;
}

export interface PartReadOptions {
  signal: AbortSignal;
  pageRecords: number;
  budgetMs: number;
  report(problem: string): void;
}

const ONE: Omit<SearchQuery, 'order'> = { limit: 1, before: 0, after: 0 };

/** The first record a question finds. */
export async function firstRecord(
  state: NodeState,
  query: Partial<SearchQuery> & Pick<SearchQuery, 'order'>,
  options: { signal: AbortSignal },
): Promise<FoundRecord | undefined> {
  for await (const items of state.searchLogs({ ...ONE, ...query }, options)) {
    for (const item of items) if (item.type === 'record') return item;
  }
  options.signal.throwIfAborted();
  return undefined;
}

/** The text of a part, as the node gives it to everyone. */
export function readPart(state: NodeState, part: LogPart, reading: PartReadOptions): AsyncIterable<Uint8Array> {
  if (part.kind === 'end') return readEnd(state, part, reading);
  return part.kind === 'records' ? readRecords(state, part, reading) : readBytes(state, part, reading);
}

async function* readEnd(
  state: NodeState,
  { file, bytes }: LogPart,
  { signal }: PartReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const response = await state.viewLog({ file, sizeBytes: Math.max(1, bytes) }, { signal });
  try {
    yield* response.chunks;
  } finally {
    await response.close();
  }
}

/** The file may have been rotated since its part was looked up: the record it begins with tells where it is now. */
async function* readBytes(
  state: NodeState,
  part: LogPart,
  reading: PartReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal } = reading;
  const { family, cursor, bytes } = part;
  const first = await firstRecord(state, { family, order: 'oldest', start: { record: cursor } }, { signal });
  if (first === undefined) throw new Error('it was removed while the bundle was made');
  const file = first.file;
  if (file.endsWith('.gz') && !part.file.endsWith('.gz')) return yield* readRecords(state, { ...part, file }, reading);
  const log = await state.openLog({ file }, { signal });
  try {
    yield* log.read(first.offset, first.offset + bytes, { signal });
  } finally {
    await log.close();
  }
}

/** Page by page. Not byte for byte: what is no UTF-8 is told as such, and the longest records are cut. */
async function* readRecords(
  state: NodeState,
  { file, range }: LogPart,
  { signal, pageRecords, budgetMs, report }: PartReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const query: SearchQuery = { ...ONE, ...range, file, order: 'oldest', limit: pageRecords, raw: true };
  let cutRecords = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = cursor === undefined ? query : { ...query, start: { cursor } };
    let end: SearchEnd | undefined;
    for await (const items of state.searchLogs(page, { signal, budgetMs })) {
      let lines = '';
      for (const item of items) {
        if (item.type === 'end') end = item;
        else lines += `${item.raw ?? item.message}\n`;
        if (item.type === 'record' && item.cut) cutRecords++;
      }
      if (lines !== '') yield Buffer.from(lines);
    }
    signal.throwIfAborted();
    for (const { detail } of end?.problems ?? []) report(detail);
    if (end?.records === 0 && end.cursor === cursor) throw new Error('the search does not go on');
    cursor = end?.cursor ?? null;
  }
  if (cutRecords > 0) report(`${cutRecords} records are longer than what is told of one, and cut`);
}
