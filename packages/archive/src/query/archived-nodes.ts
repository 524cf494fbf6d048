import { type Labels, PortholeError, parseJson, readLabels } from '@porthole/contract';
import { quote } from '../clickhouse/quote.ts';
import { STORED_COLUMNS } from '../schema/schema.ts';
import type { ArchiveRun } from './prepare-query.ts';

/** What the archive has of a node. */
export interface ArchivedNode {
  node: string;
  role: string;
  labels: Labels;
  /** When it last reported its progress, by its clock. */
  writtenMs: number;
  logs: ArchivedLog[];
}

export interface ArchivedLog {
  log: string;
  /** Times of the oldest and newest record that was shipped; `null` if none has one. */
  fromMs: number | null;
  lastMs: number | null;
  /** Every record with a time before this is in the archive. */
  shippedToMs: number | null;
  records: number;
  /** Text that was deleted on the node before it was shipped, and how often that happened. */
  lostBytes: number;
  losses: number;
  /** How many files are no longer on disk, and the time of the newest of their records that were shipped. */
  gone: { files: number; toMs: number };
  /** The oldest time on disk when that was so. */
  diskFromMs: number | null;
  /** By how much times of records went back at most, and how many records have none. */
  disorderMs: number;
  untimed: number;
}

/** More are no cluster, but somebody who writes anything. */
const MAX_ROWS = 200_000;

/** An archive in good health needs milliseconds. All queries of the cluster wait for it, however little time they have. */
const PROGRESS_MS = 4000;

/** More labels are not those of a node. */
const MAX_LABEL_BYTES = 16_384;

/** One log of a node; a time is 0 if there is none. */
interface ProgressRow extends Omit<ArchivedLog, 'gone' | 'fromMs' | 'lastMs' | 'shippedToMs' | 'diskFromMs'> {
  node: string;
  nodeRole: string;
  nodeLabels: string;
  writtenMs: number;
  goneFiles: number;
  goneToMs: number;
  fromMs: number;
  lastMs: number;
  shippedToMs: number;
  diskFromMs: number;
}

interface ProgressTables {
  records: string;
  progress: string;
  cluster: string;
}

/**
 * All nodes that have ever shipped records of the cluster, by id. Small, whatever the archive contains: every query
 * begins with it, so that an archive which does not respond, or whose records cannot be read, is known before anything
 * is said about what it contains. Rejects with ARCHIVE_UNAVAILABLE.
 */
export async function fetchNodes({ records, progress, cluster }: ProgressTables, run: ArchiveRun) {
  const [nodes] = await run.within(PROGRESS_MS, () =>
    Promise.all([
      fetchProgress(progress, cluster, run),
      // Reads nothing, but fails like the queries would: a table or column that is missing, or no right to read it.
      run.all(`SELECT ${STORED_COLUMNS.join(', ')} FROM ${records} WHERE 0 LIMIT 0`),
    ]),
  );
  return nodes;
}

/** Rejects if there are records of the cluster, but nothing says of which nodes: in the first seconds, or after a mistake. */
export async function requireProgress({ records, cluster }: ProgressTables, run: ArchiveRun): Promise<void> {
  const sql = `SELECT 1 AS found FROM ${records} WHERE cluster = ${quote(cluster)} LIMIT 1`;
  const rows = await run.within(PROGRESS_MS, () => run.all(sql));
  if (rows.length > 0)
    throw new PortholeError('ARCHIVE_UNAVAILABLE', `${run.archive} has records, but no progress of any node yet`);
}

async function fetchProgress(progress: string, cluster: string, run: ArchiveRun): Promise<ArchivedNode[]> {
  const rows = await run.all<ProgressRow>(
    `SELECT node, log, records, losses, untimed, substring(role, 1, 128) AS nodeRole, ` +
      `substring(labels, 1, ${MAX_LABEL_BYTES}) AS nodeLabels, from_ms AS fromMs, last_ms AS lastMs, ` +
      `shipped_to_ms AS shippedToMs, lost_bytes AS lostBytes, written_ms AS writtenMs, gone_files AS goneFiles, ` +
      `gone_to_ms AS goneToMs, disk_from_ms AS diskFromMs, disorder_ms AS disorderMs FROM ${progress} FINAL ` +
      `WHERE cluster = ${quote(cluster)} AND length(node) <= 128 AND length(log) <= 1024 ` +
      `ORDER BY node, log LIMIT ${MAX_ROWS}`,
  );
  if (rows.length >= MAX_ROWS)
    throw new PortholeError('ARCHIVE_UNAVAILABLE', `${run.archive} has the progress of more than ${MAX_ROWS} logs`);
  const nodes = new Map<string, ArchivedNode>();
  for (const { node, nodeRole: role, nodeLabels, writtenMs, goneFiles, goneToMs, ...log } of rows) {
    const known = nodes.get(node) ?? { node, role: '', labels: {}, writtenMs: -1, logs: [] };
    nodes.set(node, known);
    // Rows may be of anybody: what are no labels is none.
    if (writtenMs >= known.writtenMs)
      Object.assign(known, { role, writtenMs, labels: readLabels(parseJson(nodeLabels)) });
    known.logs.push({
      ...log,
      fromMs: timeOrNull(log.fromMs),
      lastMs: timeOrNull(log.lastMs),
      shippedToMs: timeOrNull(log.shippedToMs),
      diskFromMs: timeOrNull(log.diskFromMs),
      gone: { files: goneFiles, toMs: goneToMs },
    });
  }
  return [...nodes.values()];
}

function timeOrNull(timeMs: number): number | null {
  return timeMs === 0 || !(Math.abs(timeMs) <= 8.64e15) ? null : timeMs;
}

/** Up to when everything of a node is in the archive; `null`: not known. */
export function shippedTo({ logs }: ArchivedNode): number | null {
  const times = logs.map(({ shippedToMs }) => shippedToMs);
  return times.length === 0 || times.includes(null) ? null : Math.min(...(times as number[]));
}

/** The times of all records that these nodes have shipped, `[fromMs, toMs)`. */
export function shippedRange(nodes: readonly ArchivedNode[]): { fromMs: number; toMs: number } | undefined {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (const { logs } of nodes)
    for (const log of logs) {
      fromMs = Math.min(fromMs, log.fromMs ?? Infinity);
      toMs = Math.max(toMs, (log.lastMs ?? -Infinity) + 1);
    }
  return fromMs < toMs ? { fromMs, toMs } : undefined;
}
