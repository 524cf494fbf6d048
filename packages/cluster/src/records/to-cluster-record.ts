import type { ClusterRecord } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs/types';

export interface ClusterRecordFacts {
  node: string;
  /** By this node's clock; `undefined` where the record has no time. */
  atMs: number | undefined;
  isUnsure: boolean;
}

/**
 * A copy, because a member in this process may hold its records. What is added comes first: behind the record's fields
 * it makes the copying ten times slower (0.25 against 2.5 million records per second).
 */
export function toClusterRecord(record: FoundRecord, { node, atMs, isUnsure }: ClusterRecordFacts): ClusterRecord {
  if (atMs === undefined) return isUnsure ? { node, isUnsure: true, ...record } : { node, ...record };
  return isUnsure ? { node, atMs, isUnsure: true, ...record } : { node, atMs, ...record };
}

/** The record without what only the one who merges may say: a member could say it too. */
export function stripClusterFields(record: FoundRecord): FoundRecord {
  if (!('node' in record || 'atMs' in record || 'isUnsure' in record)) return record;
  const { node: _node, atMs: _atMs, isUnsure: _isUnsure, ...own } = record as ClusterRecord;
  return own;
}

/** Members may say anything. */
export function isTime(timeMs: unknown): timeMs is number {
  return typeof timeMs === 'number' && Number.isFinite(timeMs);
}
