import type { ClusterNodes, FoundRecord, MemberReport, RecordFilter } from '@porthole/client';
import { parseQuery } from '@porthole/contract';
import type { RecordKey, RowFilter, ShownRecord } from './log-source.ts';

/** Known clocks of the members; may be empty. */
export type KnownNodes = () => ClusterNodes | null | undefined;

/** Offset to subtract from the timestamps of a node; 0 if its clock is unknown. */
export function clockOffset(node: string, clusterNodes: KnownNodes): number {
  return clusterNodes()?.nodes.find(({ id }) => id === node)?.clock?.offsetMs ?? 0;
}

export function showRecord(record: FoundRecord, node: string, offsetMs: number): ShownRecord {
  const { timeMs } = record;
  return timeMs === undefined ? { ...record, node } : { ...record, node, atMs: timeMs - offsetMs };
}

/** The filter in the time of a node with this clock offset. */
export function shiftFilter(filter: RowFilter, offsetMs: number): RecordFilter {
  const { fromMs, toMs, ...rest } = toRecordFilter(filter);
  return {
    ...rest,
    ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
    ...(toMs !== undefined && { toMs: toMs + offsetMs }),
  };
}

/** With the query parsed. Throws QUERY_INVALID. */
export function toRecordFilter({ query = '', ...rest }: RowFilter): RecordFilter {
  const node = parseQuery(query);
  return { ...rest, ...(node && { query: node }) };
}

/** Whether more than the key of the record is known. */
export function isShown(key: RecordKey): key is ShownRecord {
  return 'type' in key && key.type === 'record';
}

export function okReport(id: string, { elapsedMs, count }: { elapsedMs: number; count: number }): MemberReport {
  return { id, outcome: 'ok', detail: null, elapsedMs, count, asOfMs: null };
}
