import { type ClusterHistogram, parseSpan } from '@porthole/contract';
import type { Histogram, HistogramQuery, Zone } from '@porthole/logs';
import { interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatChart } from '../../output/format-chart.ts';
import { formatInstant } from '../../output/format-units.ts';
import { countRecords } from '../../records/count-records.ts';
import { recordFilter } from '../../records/record-flags.ts';
import type { LogSource } from '../../sources/log-source.ts';

const DEFAULT_BUCKETS = 40;

const LEVELS = ['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE', 'NONE'] as const;

/** Prints record counts over time. */
export function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  return countRecords(invocation, {
    query: (source, zone) => source.state.logHistogram(buildQuery(invocation, source, zone), { signal }),
    text: (histogram, zone, target) => formatHistogram(histogram, invocation, { zone, target }),
    isEmpty: ({ buckets, untimed }) => buckets.length === 0 && untimed === 0,
    signal,
  });
}

function buildQuery(invocation: Invocation, source: LogSource, zone: Zone): HistogramQuery {
  const span = invocation.text('bucket');
  const bucketMs = span === undefined ? undefined : parseSpan(span);
  if (span !== undefined && !bucketMs)
    throw new ProgramError(`invalid --bucket ${JSON.stringify(span)}: expected a duration like 1m or 6h`);
  return {
    ...source.selection,
    ...recordFilter(invocation, source, zone),
    buckets: Math.max(1, invocation.number('buckets') ?? DEFAULT_BUCKETS),
    ...(bucketMs !== undefined && { bucketMs }),
  };
}

function formatHistogram(
  histogram: Histogram | ClusterHistogram,
  invocation: Invocation,
  { zone, target }: { zone: Zone; target: string | undefined },
): string {
  const format = invocation.text('output') ?? 'chart';
  if (format === 'json') return `${JSON.stringify({ ...histogram, ...(target !== undefined && { target }) })}\n`;
  if (format === 'tsv') return formatTsv(histogram, zone);
  const { untimed } = histogram;
  if (untimed > 0)
    invocation.terminal.note(`${untimed} ${untimed === 1 ? 'record' : 'records'} without a timestamp not shown`);
  return formatChart(histogram, zone, invocation.terminal);
}

function formatTsv({ buckets }: Pick<Histogram, 'buckets'>, zone: Zone): string {
  const rows = buckets.map(({ startMs, counts }) => [
    formatInstant(startMs, zone),
    ...LEVELS.map((level) => counts[level] ?? 0),
  ]);
  return [['time', ...LEVELS.map((level) => level.toLowerCase())], ...rows]
    .map((row) => `${row.join('\t')}\n`)
    .join('');
}
