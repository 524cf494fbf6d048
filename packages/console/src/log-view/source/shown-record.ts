import type { ClusterNodes, FoundRecord, MemberReport, RecordFilter, SearchEnd } from '@porthole/client';
import { coverageOf, missingText, parseQuery } from '@porthole/contract';
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

/** The report of a node that was asked itself. */
export function nodeReport(
  id: string,
  end: Pick<SearchEnd, 'elapsedMs' | 'records' | 'problems' | 'limits'>,
): MemberReport {
  const { elapsedMs, records: count, problems, limits } = end;
  const gaps = coverageOf({ problems, limits }).missing.map((part) => missingText(part));
  const detail = gaps.length === 0 ? null : gaps.join('; ');
  return { id, outcome: 'ok', detail, elapsedMs, count, asOfMs: null, ...(gaps.length > 0 && { isPartial: true }) };
}
