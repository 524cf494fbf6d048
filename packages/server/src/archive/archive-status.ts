import type { ProgressWriter, ShipperStatus } from '@porthole/archive';
import { LogSources, ONLY_ARCHIVED, type ShippingState } from '@porthole/contract';
import type { DeletedRecords } from '@porthole/logs';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import type { Metric } from '../metrics/prometheus-text.ts';

/** What was shipped, and why other nodes do not learn of it. */
export interface ArchiveStatus extends ShipperStatus {
  progressProblem: ProgressWriter['problem'];
}

/** The log that is furthest behind. */
function worstLag({ logs }: ShipperStatus): { lagMs: number; lagBytes: number } {
  return {
    lagMs: logs.reduce((worst, log) => Math.max(worst, log.lagMs), 0),
    lagBytes: logs.reduce((sum, log) => sum + log.lagBytes, 0),
  };
}

/** How far shipping is; `undefined` if this node ships nothing. */
export function shippingState(status: ArchiveStatus | undefined): ShippingState | undefined {
  if (!status) return undefined;
  const { shippedRecords, lostBytes } = status;
  const { lagMs, lagBytes } = worstLag(status);
  return { lagMs: Math.round(lagMs), lagBytes, shippedRecords, lostBytes, problem: worstProblem(status) };
}

function worstProblem({ problem, logs, progressProblem }: ArchiveStatus): string | null {
  if (problem) return withSince(`${problem.code}: ${problem.detail}`, problem);
  const failing = logs.find((log) => log.problem !== null);
  if (failing) return `${failing.log} cannot be shipped: ${failing.problem}`;
  if (!progressProblem) return null;
  const { code, detail } = progressProblem;
  const text = `progress cannot be written, so that other nodes do not know what is archived: ${code}: ${detail}`;
  return withSince(text, progressProblem);
}

function withSince(text: string, { sinceMs }: { sinceMs: number }): string {
  return `${text} (since ${new Date(sinceMs).toISOString()})`;
}

/** What `/health/ready` says about the archive. `unread`: why it cannot be read. */
export function checkShipping(
  status: ArchiveStatus | undefined,
  { maxLagMs, unread }: { maxLagMs: number; unread?: string | undefined },
): { ok: boolean; detail: string } {
  if (!status) return { ok: unread === undefined, detail: unread ?? 'this node ships nothing' };
  const { lagMs, lagBytes } = worstLag(status);
  const lag = `${Math.round(lagMs / 1000)} s and ${lagBytes} bytes behind`;
  const lost = status.lostBytes > 0 ? `; ${status.lostBytes} bytes were deleted before they were shipped` : '';
  const refused = status.refusedRecords > 0 ? `; ${status.refusedRecords} records were refused` : '';
  const problem = worstProblem(status) ?? unread;
  if (problem !== undefined) return { ok: false, detail: `${problem}; ${lag}${lost}${refused}` };
  return { ok: lagMs <= maxLagMs, detail: `${lag}${lost}${refused}` };
}

/** What is measured of shipping: of the archive under names of its own, of each sink under `porthole_ship`. */
const SHIP_METRICS: readonly (readonly [Metric['type'], string, string, (status: ShipperStatus) => number])[] = [
  ['gauge', 'up', '0 while records cannot be shipped', ({ problem }) => (problem ? 0 : 1)],
  [
    'gauge',
    'lag_seconds',
    'Age of the oldest record that waits to be shipped',
    (status) => worstLag(status).lagMs / 1000,
  ],
  ['gauge', 'lag_bytes', 'Bytes of logs that wait to be shipped', (status) => worstLag(status).lagBytes],
  ['counter', 'shipped_records_total', 'Records that were stored', ({ shippedRecords }) => shippedRecords],
  ['counter', 'shipped_bytes_total', 'Bytes of those records, as they are sent', ({ shippedBytes }) => shippedBytes],
  ['counter', 'batches_total', 'Batches that were stored', ({ batches }) => batches],
  ['counter', 'retries_total', 'Batches that were sent again', ({ retries }) => retries],
  ['counter', 'lost_bytes_total', 'Bytes of logs deleted before they were shipped', ({ lostBytes }) => lostBytes],
  ['counter', 'refused_records_total', 'Records that were refused for good', ({ refusedRecords }) => refusedRecords],
];

/** Metrics of shipping, by sink; none of one to which nothing is shipped. */
export function shippingMetrics(sinks: Readonly<Record<string, ShipperStatus | undefined>>): Metric[] {
  const used = Object.entries(sinks).flatMap(([sink, status]) => (status ? [{ sink, status }] : []));
  if (used.length === 0) return [];
  const metrics = SHIP_METRICS.map(([type, name, help, read]): Metric => {
    const samples = used.map(({ sink, status }) => ({ labels: { sink }, value: read(status) }));
    return { name: `porthole_ship_${name}`, type, help: `${help}, by sink.`, samples };
  });
  const archive = used.find(({ sink }) => sink === 'archive')?.status;
  if (!archive) return metrics;
  return [
    ...metrics,
    ...SHIP_METRICS.filter(([, name]) => name !== 'refused_records_total').map(
      ([type, name, help, read]): Metric => ({
        name: `porthole_archive_${name}`,
        type,
        help: `${help}: sink="archive" of porthole_ship_${name}.`,
        samples: [{ value: read(archive) }],
      }),
    ),
  ];
}

/**
 * What a request about the files of this node does not find, although it was logged in the time range: records that
 * were shipped, or lost, before their files were deleted. Without a time range, files are what was asked for.
 */
export function onlyArchived(
  logs: readonly Pick<ShipperStatus['logs'][number], 'log' | 'gone' | 'losses' | 'diskFromMs'>[],
  { src, fromMs }: LogSelection & Pick<RecordFilter, 'fromMs'>,
): DeletedRecords[] {
  if (fromMs === undefined) return [];
  const selected = new LogSources(src);
  return logs.flatMap(({ log, gone, losses, diskFromMs }) => {
    const deletedMs = gone.count > 0 ? gone.toMs + 1 : -Infinity;
    const beginMs = diskFromMs ?? deletedMs;
    const toMs = losses > 0 ? Math.max(deletedMs, beginMs) : deletedMs;
    if (!selected.hasFamily(log) || toMs <= fromMs) return [];
    const where =
      diskFromMs === null ? 'it is no longer on disk' : `its files begin at ${new Date(diskFromMs).toISOString()}`;
    const detail = `${where}; older records are in the archive: ask /api/v1/log/search?nodes=* (program: --all)`;
    return [{ problem: { file: log, code: ONLY_ARCHIVED, detail }, toMs: Math.max(toMs, beginMs) }];
  });
}
