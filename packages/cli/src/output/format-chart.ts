import type { Histogram, Zone } from '@porthole/logs';
import { formatTime } from './format-time.ts';
import type { Colors, Terminal } from './terminal.ts';

type HistogramBucket = Histogram['buckets'][number];

/** What is drawn where nothing says how wide it may be. */
const PIPED_COLUMNS = 100;

/** Longer stretches without a record are told in one line. */
const MAX_EMPTY_ROWS = 3;

const MIN_BAR = 8;

/** One row per bucket: time, a bar whose parts are the levels, the count. Each part has its own sign as well as colour. */
export function formatChart(
  { buckets, bucketMs }: Pick<Histogram, 'buckets' | 'bucketMs'>,
  zone: Zone,
  terminal: Terminal,
): string {
  if (buckets.length === 0) return '';
  const { colors } = terminal;
  const most = Math.max(...buckets.map(totalCount));
  const times = buckets.map(({ startMs }) => formatBucketTime(startMs, bucketMs, zone));
  const timeWidth = times[0]?.length ?? 0;
  const countWidth = String(most).length;
  const columns = Number.isFinite(terminal.columns) ? terminal.columns : PIPED_COLUMNS;
  const barWidth = Math.max(MIN_BAR, columns - timeWidth - countWidth - 4);
  const lines: string[] = [];
  for (const [index, bucket] of buckets.entries()) {
    const before = buckets[index - 1];
    if (before) lines.push(...emptyRows(before.startMs, bucket.startMs, { bucketMs, zone, colors }));
    const bar = drawBar(bucket, { most, barWidth, colors });
    lines.push(`${colors.dim(times[index] ?? '')}  ${bar}  ${String(totalCount(bucket)).padStart(countWidth)}`);
  }
  return `${lines.join('\n')}\n${colors.dim(legend(bucketMs))}\n`;
}

/** Of each bucket, from the worst to the rest. */
const PARTS = [
  { levels: ['FATAL', 'ERROR'], sign: '#', paint: 'red' },
  { levels: ['WARN'], sign: '+', paint: 'yellow' },
  { levels: ['INFO', 'DEBUG', 'TRACE', 'NONE'], sign: '-', paint: 'blue' },
] as const;

function totalCount({ counts }: HistogramBucket): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function drawBar(
  bucket: HistogramBucket,
  { most, barWidth, colors }: { most: number; barWidth: number; colors: Colors },
): string {
  let before = 0;
  let text = '';
  let used = 0;
  for (const { levels, sign, paint } of PARTS) {
    const count = levels.reduce((sum, level) => sum + (bucket.counts[level] ?? 0), 0);
    before += count;
    const end = Math.round((before / most) * barWidth);
    // A single error among thousands of other records is still one cell.
    const cells = count === 0 ? 0 : Math.max(1, end - used);
    const fitting = Math.min(cells, barWidth - used);
    text += colors[paint](sign.repeat(fitting));
    used += fitting;
  }
  return text + ' '.repeat(barWidth - used);
}

function emptyRows(
  fromMs: number,
  toMs: number,
  { bucketMs, zone, colors }: { bucketMs: number; zone: Zone; colors: Colors },
): string[] {
  const count = Math.round((toMs - fromMs) / bucketMs) - 1;
  if (count <= 0) return [];
  if (count > MAX_EMPTY_ROWS) return [colors.dim(`  ... ${count} buckets without records`)];
  return Array.from({ length: count }, (_, index) =>
    colors.dim(formatBucketTime(fromMs + (index + 1) * bucketMs, bucketMs, zone)),
  );
}

/** No finer than the buckets are. */
function formatBucketTime(timeMs: number, bucketMs: number, zone: Zone): string {
  const length = bucketMs % 86_400_000 === 0 ? 10 : bucketMs % 60_000 === 0 ? 16 : bucketMs % 1000 === 0 ? 19 : 23;
  return formatTime(timeMs, zone).slice(0, length);
}

function legend(bucketMs: number): string {
  return `# error and worse  + warn  - all else; one row is ${formatSpan(bucketMs)}`;
}

const SPANS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

function formatSpan(spanMs: number): string {
  const [unit, unitMs] = SPANS.find(([, ms]) => spanMs % ms === 0) ?? ['ms', 1];
  return `${spanMs / unitMs} ${unit}`;
}
