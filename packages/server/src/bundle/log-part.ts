import type { NodeState } from '@porthole/contract';
import { searchItems } from '@porthole/contract';
import { isPackedName } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';

/** The part of a log file in the requested time range. */
export interface LogPart {
  node: string;
  file: string;
  family: string;
  /** By the clock of that member. */
  range: { fromMs: number; toMs: number };
  /**
   * `bytes`: a byte range of the file. `records`: records of a compressed file. `end`: the end of a file without timestamps,
   * or of a node that cannot search.
   */
  kind: 'bytes' | 'records' | 'end';
  /** Its length; for an `end`, the maximum. */
  bytes: number;
  /** Cursor of the first record, which survives rotation; empty for an `end`. */
  cursor: string;
  /** The file has more in the requested time range. */
  isCut: boolean;
}

export interface PartReadOptions {
  signal: AbortSignal;
  pageRecords: number;
  budgetMs: number;
  report(problem: string): void;
}

const ONE: Omit<SearchQuery, 'order'> = { limit: 1, before: 0, after: 0 };

/** The first record a search finds. */
export async function firstRecord(
  state: NodeState,
  query: Partial<SearchQuery> & Pick<SearchQuery, 'order'>,
  options: { signal: AbortSignal },
): Promise<FoundRecord | undefined> {
  for await (const items of searchItems(state, { ...ONE, ...query }, options)) {
    for (const item of items) if (item.type === 'record') return item;
  }
  options.signal.throwIfAborted();
  return undefined;
}

/** The text of a part, as the node serves it. */
export function readPart(state: NodeState, part: LogPart, reading: PartReadOptions): AsyncIterable<Uint8Array> {
  if (part.kind === 'end') return readEnd(state, part, reading);
  return part.kind === 'records' ? readRecords(state, part, reading) : readBytes(state, part, reading);
}

export async function* readEnd(
  state: NodeState,
  { file, bytes }: LogPart,
  { signal }: Pick<PartReadOptions, 'signal'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const response = await state.viewLog({ file, sizeBytes: Math.max(1, bytes) }, { signal });
  try {
    yield* response.chunks;
  } finally {
    await response.close();
  }
}

/** The file may have been rotated since the part was planned: the cursor of its first record finds its current file. */
async function* readBytes(
  state: NodeState,
  part: LogPart,
  reading: PartReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal } = reading;
  const { family, cursor, bytes } = part;
  const first = await firstRecord(state, { family, order: 'oldest', start: { record: cursor } }, { signal });
  if (first === undefined) throw new Error('it was removed while the bundle was created');
  const file = first.file;
  if (isPackedName(file) && !isPackedName(part.file)) return yield* readRecords(state, { ...part, file }, reading);
  const log = await state.openLog({ file }, { signal });
  try {
    yield* log.read(first.offset, first.offset + bytes, { signal });
  } finally {
    await log.close();
  }
}

/** Page by page. Not byte for byte: invalid UTF-8 is replaced, and the longest records are cut. */
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
    for await (const items of searchItems(state, page, { signal, budgetMs })) {
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
    if (end?.records === 0 && end.cursor === cursor) throw new Error('the search makes no progress');
    cursor = end?.cursor ?? null;
  }
  if (cutRecords > 0) report(`${cutRecords} records are longer than the limit of a record and were cut`);
}
