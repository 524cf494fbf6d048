import type { ClusterNodes, FoundRecord, MemberReport } from '@porthole/client';
import type { RecordKey, RowFilter, ShownRecord } from './log-source.ts';

/** What is known of the members' clocks; nothing needs to be. */
export type KnownNodes = () => ClusterNodes | null | undefined;

/** What to take off the times of a node; nothing where its clock is not known. */
export function clockOffset(node: string, clusterNodes: KnownNodes): number {
  return clusterNodes()?.nodes.find(({ id }) => id === node)?.clock?.offsetMs ?? 0;
}

export function showRecord(record: FoundRecord, node: string, offsetMs: number): ShownRecord {
  const { timeMs } = record;
  return timeMs === undefined ? { ...record, node } : { ...record, node, atMs: timeMs - offsetMs };
}

/** A filter as a node with such a clock understands it. */
export function shiftFilter(filter: RowFilter, offsetMs: number): RowFilter {
  const { fromMs, toMs, ...rest } = filter;
  return {
    ...rest,
    ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
    ...(toMs !== undefined && { toMs: toMs + offsetMs }),
  };
}

/** Whether more than the name of the record is known. */
export function isShown(key: RecordKey): key is ShownRecord {
  return 'type' in key && key.type === 'record';
}

export function okReport(id: string, { elapsedMs, count }: { elapsedMs: number; count: number }): MemberReport {
  return { id, outcome: 'ok', detail: null, elapsedMs, count, asOfMs: null };
}
