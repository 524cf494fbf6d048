import { type ClusterState, PortholeError } from '@porthole/client';
import { type RecordKey, recordKey, type ShownRecord } from './log-source.ts';
import { isShown } from './shown-record.ts';

/** Records of one millisecond of one node that are searched for the target. */
const MAX_CANDIDATES = 400;

/**
 * Clock offsets are measured repeatedly with slightly different results: between two responses a record may move by
 * this much.
 */
const UNSURE_MS = 50;

/** The time of a record by the clock of the queried node, and the record itself if it was found. */
export interface ResolvedRecord {
  atMs: number;
  record: ShownRecord | undefined;
}

/**
 * Requests the time of a record from its node, unless it is known. A record without a timestamp has that of the one
 * before it.
 */
export async function resolveRecord(
  cluster: ClusterState,
  key: RecordKey,
  options: { signal?: AbortSignal },
): Promise<ResolvedRecord> {
  if (isShown(key) && key.atMs !== undefined) return { atMs: key.atMs, record: key };
  const { node, cursor } = key;
  const request = { at: { node, cursor }, nodes: [node], beforeMs: 1, afterMs: 1, limit: MAX_CANDIDATES };
  const { records } = await readSearch(cluster.around(request, options));
  const record = records.find((candidate) => recordKey(candidate) === recordKey(key));
  const atMs = record?.atMs ?? records.find((candidate) => candidate.atMs !== undefined)?.atMs;
  if (atMs === undefined)
    throw new PortholeError('CURSOR_GONE', `node "${node}" returned no timestamp for this record`);
  return { atMs, record: record ?? (isShown(key) ? key : undefined) };
}

/** Where a search by time must begin to miss nothing on one side of a record. */
export function anchorStartMs({ atMs }: ResolvedRecord, direction: 'older' | 'newer'): number {
  return direction === 'newer' ? atMs - UNSURE_MS : atMs + UNSURE_MS + 1;
}

export interface PageAnchor {
  side: 'at' | 'next';
  direction: 'older' | 'newer';
  key: RecordKey;
}

/**
 * Whether a record belongs to a page that begins at another one. Within the same file the order is certain. Other
 * records are compared by time, which is not exact: uncertain ones are included, and callers recognise duplicates by
 * their keys. Only a page that begins with the record itself leaves them to the page on its other side.
 */
export function isOnAnchorSide(
  candidate: ShownRecord,
  resolved: ResolvedRecord,
  { side, direction, key }: PageAnchor,
): boolean {
  const { atMs, record } = resolved;
  if (recordKey(candidate) === recordKey(key)) return side === 'at' && direction === 'newer';
  if (record && candidate.node === record.node && candidate.file === record.file)
    return direction === 'newer' ? candidate.offset >= record.offset : candidate.offset < record.offset;
  if (candidate.atMs === undefined || side === 'next' || direction === 'older') return true;
  return candidate.atMs >= atMs;
}

/** A whole response: its records in order, and its end. Read to the last byte, so that the connection can be reused. */
export async function readSearch<Item extends { type: 'record' | 'end' }>(
  batches: AsyncIterable<Item[]>,
): Promise<{ records: Extract<Item, { type: 'record' }>[]; end: Extract<Item, { type: 'end' }> }> {
  const records: Extract<Item, { type: 'record' }>[] = [];
  let end: Extract<Item, { type: 'end' }> | undefined;
  for await (const items of batches)
    for (const item of items) {
      if (isEnd(item)) end = item;
      else records.push(item as Extract<Item, { type: 'record' }>);
    }
  if (end) return { records, end };
  throw new PortholeError('BAD_ANSWER', 'the response ended early: its closing record is missing');
}

function isEnd<Item extends { type: string }>(item: Item): item is Extract<Item, { type: 'end' }> {
  return item.type === 'end';
}
