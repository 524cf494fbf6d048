import {
  type CallOptions,
  type ClusterRecord,
  type ClusterState,
  clusterItems,
  type SearchOptions,
} from '@porthole/contract';
import type { FieldJson } from '@porthole/logs/query';
import type { LogqlLogs } from './logql.ts';
import { type LokiLabels, labelName, type Streams } from './streams.ts';

/* Queries whose result are records. */

export interface LogRange {
  /** Epoch ms, the end exclusive. */
  fromMs: number;
  toMs: number;
  limit: number;
  order: 'newest' | 'oldest';
}

/** A time in nanoseconds, and a line. */
type LokiEntry = [string, string];

export interface LokiStreamValues {
  stream: LokiLabels;
  values: LokiEntry[];
}

/** Text of a response in memory: records may be long. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Fields that are the record itself. */
const NOT_LABELS: ReadonlySet<string> = new Set(['message', 'level']);

export interface QueryCall extends CallOptions {
  /** When the response has to be complete, by `performance.now()`. */
  deadlineMs: number;
}

/** With the time that is left, at least a little: a search reports itself that it had none. */
export function searchOptions({ deadlineMs, ...options }: QueryCall): SearchOptions {
  return { ...options, budgetMs: Math.max(1, Math.floor(deadlineMs - performance.now())) };
}

/** The records of a range, by stream. */
export async function queryLogs(
  cluster: ClusterState,
  { logs, streams, range }: { logs: LogqlLogs; streams: Streams; range: LogRange },
  call: QueryCall,
): Promise<LokiStreamValues[]> {
  const { selection } = streams;
  if (selection === undefined || range.fromMs >= range.toMs) return [];
  const found: ClusterRecord[] = [];
  let bytes = 0;
  let leftOut = 0;
  const asked = { ...selection, ...streams.requestedLogs() };
  const request = { ...asked, ...range, ...recordOptions(logs), before: 0, after: 0 };
  for await (const items of clusterItems(cluster, request, searchOptions(call)))
    for (const item of items) {
      if (item.type === 'end') streams.warn(item);
      else if (bytes + item.bytes > MAX_TEXT_BYTES) leftOut++;
      else {
        bytes += item.bytes;
        found.push(item);
      }
    }
  if (leftOut > 0)
    streams.warnings.add(`${leftOut} records are left out: the response would be larger than 16 MiB; lower the limit`);
  return toStreams(found, streams, logs);
}

/** What is requested of records besides their selection. */
export function recordOptions({ query, hasFields }: LogqlLogs) {
  return { raw: true, ...(query && { query }), ...(hasFields && { fields: ['*'] }) };
}

/** Records grouped by their labels. */
export function toStreams(
  records: readonly ClusterRecord[],
  streams: Streams,
  { hasFields }: Pick<LogqlLogs, 'hasFields'>,
): LokiStreamValues[] {
  const groups = new Map<string, LokiStreamValues>();
  for (const record of records) {
    const labels = recordLabels(record, streams);
    const stream = hasFields ? { ...fieldLabels(record.fields), ...labels } : labels;
    const key = JSON.stringify(stream);
    const group = groups.get(key) ?? { stream, values: [] };
    groups.set(key, group);
    if (record.cut) streams.warnings.add('long records are cut');
    group.values.push([nanoseconds(timeOf(record)), (record.raw ?? record.message).replace(/\r?\n$/, '')]);
  }
  return [...groups.values()];
}

function recordLabels({ node, file, level }: ClusterRecord, streams: Streams): LokiLabels {
  const labels = { ...streams.labelsOf(node), log: streams.logOf(node, file) };
  return level === undefined ? labels : { ...labels, level: level.toLowerCase() };
}

function fieldLabels(fields: Readonly<Record<string, FieldJson>> = {}): LokiLabels {
  const labels = Object.entries(fields).filter(([name]) => !NOT_LABELS.has(name));
  return Object.fromEntries(labels.map(([name, value]) => [labelName(name), String(value)]));
}

function timeOf({ atMs, timeMs }: ClusterRecord): number {
  return atMs ?? timeMs ?? 0;
}

/** Epoch milliseconds in nanoseconds, which exceed what a number can hold. */
export function nanoseconds(timeMs: number): string {
  const whole = Math.floor(timeMs);
  return `${whole}${String(Math.floor((timeMs - whole) * 1e6)).padStart(6, '0')}`;
}
