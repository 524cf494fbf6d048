import { type ClusterState, PortholeError } from '@porthole/client';
import type { RecordKey, ShownRecord } from './log-source.ts';
import { readSearch } from './read-search.ts';
import { recordKey } from './record-key.ts';
import { isShown } from './shown-record.ts';

/** Records of one millisecond of one node that are looked through for the one that is meant. */
const MAX_CANDIDATES = 400;

/**
 * Clocks are measured again and again, and each time a little differently: between two answers the same record may have
 * moved by so much.
 */
const UNSURE_MS = 50;

/** When a record was, by the clock of the node asked; the record itself where it was found. */
export interface ResolvedRecord {
  atMs: number;
  record: ShownRecord | undefined;
}

/** Asks its node for the time of a record, unless it is known. A record without one has that of the one before it. */
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
  if (atMs === undefined) throw new PortholeError('CURSOR_GONE', `"${node}" does not tell when this record was`);
  return { atMs, record: record ?? (isShown(key) ? key : undefined) };
}

/** Where a search by time begins so that it misses nothing on one side of a record. */
export function anchorStartMs({ atMs }: ResolvedRecord, direction: 'older' | 'newer'): number {
  return direction === 'newer' ? atMs - UNSURE_MS : atMs + UNSURE_MS + 1;
}

export interface PageAnchor {
  place: 'at' | 'next';
  direction: 'older' | 'newer';
  key: RecordKey;
}

/**
 * Whether a record belongs to a page that begins at another one. Of its own file that is known. Of others only their
 * time is, which is not that sure: where it is in doubt they are told, and whoever has them already knows them by their
 * keys. Only a page that begins with the record itself leaves them to the one on its other side.
 */
export function isOnAnchorSide(
  candidate: ShownRecord,
  resolved: ResolvedRecord,
  { place, direction, key }: PageAnchor,
): boolean {
  const { atMs, record } = resolved;
  if (recordKey(candidate) === recordKey(key)) return place === 'at' && direction === 'newer';
  if (record && candidate.node === record.node && candidate.file === record.file)
    return direction === 'newer' ? candidate.offset >= record.offset : candidate.offset < record.offset;
  if (candidate.atMs === undefined || place === 'next' || direction === 'older') return true;
  return candidate.atMs >= atMs;
}
