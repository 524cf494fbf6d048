import { formatSpan } from '@porthole/contract';
import type { Histogram, Zone } from '@porthole/logs';
import { formatTime } from './format-units.ts';
import type { Colors, Terminal } from './terminal.ts';

type HistogramBucket = Histogram['buckets'][number];

/** Width when not on a terminal. */
const PIPED_COLUMNS = 100;

/** Longer runs of empty buckets are collapsed into one line. */
const MAX_EMPTY_ROWS = 3;

/** With less, the year is left out. */
const MIN_BAR = 6;

/** The columns of numbers, after the bar. */
const COUNTS = [
  { title: 'TOTAL', count: totalCount },
  { title: 'ERROR', count: (bucket: HistogramBucket) => levelCount(bucket, ['FATAL', 'ERROR']) },
  { title: 'WARN', count: (bucket: HistogramBucket) => levelCount(bucket, ['WARN']) },
] as const;

/** One row per bucket: time, a bar stacked by level, counts. Levels differ in character as well as colour. */
export function formatChart(
  { buckets, bucketMs }: Pick<Histogram, 'buckets' | 'bucketMs'>,
  zone: Zone,
  terminal: Terminal,
): string {
  if (buckets.length === 0) return '';
  const { colors } = terminal;
  const most = Math.max(...buckets.map(totalCount));
  const counts = COUNTS.map(({ title, count }) => {
    const texts = [title, ...buckets.map((bucket) => String(count(bucket)))];
    const width = Math.max(...texts.map(({ length }) => length));
    return texts.map((text) => text.padStart(width));
  });
  const countsAt = (row: number) => counts.map((column) => column[row] ?? '').join('  ');
  const columns = Number.isFinite(terminal.columns) ? terminal.columns : PIPED_COLUMNS;
  const long = buckets.map(({ startMs }) => formatBucketTime(startMs, bucketMs, zone));
  const roomFor = (times: readonly string[]) => columns - (times[0]?.length ?? 0) - countsAt(0).length - 4;
  const isNarrow = roomFor(long) < MIN_BAR;
  const shorten = (time: string) => (isNarrow ? time.slice(YEAR_LENGTH) : time);
  const times = long.map(shorten);
  const barWidth = Math.max(MIN_BAR, roomFor(times));
  const title = 'TIME'.padEnd(times[0]?.length ?? 0);
  const lines = [colors.dim(`${title}  ${' '.repeat(barWidth)}  ${countsAt(0)}`)];
  for (const [index, bucket] of buckets.entries()) {
    const before = buckets[index - 1];
    if (before) lines.push(...emptyRows(before.startMs, bucket.startMs, { bucketMs, zone, colors, shorten }));
    const bar = drawBar(bucket, { most, barWidth, colors });
    lines.push(`${colors.dim(times[index] ?? '')}  ${bar}  ${countsAt(index + 1)}`);
  }
  return `${lines.join('\n')}\n${colors.dim(legend(bucketMs))}\n`;
}

/** `2026-`. */
const YEAR_LENGTH = 5;

/** Parts of a bar, most severe first. */
const PARTS = [
  { levels: ['FATAL', 'ERROR'], sign: '#', paint: 'red' },
  { levels: ['WARN'], sign: '+', paint: 'yellow' },
  { levels: ['INFO', 'DEBUG', 'TRACE', 'NONE'], sign: '-', paint: 'blue' },
] as const;

function levelCount({ counts }: HistogramBucket, levels: readonly (keyof HistogramBucket['counts'])[]): number {
  return levels.reduce((sum, level) => sum + (counts[level] ?? 0), 0);
}

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
    const count = levelCount(bucket, levels);
    before += count;
    const end = Math.round((before / most) * barWidth);
    // Even a single error among thousands of records gets a cell.
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
  { bucketMs, zone, colors, shorten }: { bucketMs: number; zone: Zone; colors: Colors; shorten(time: string): string },
): string[] {
  const count = Math.round((toMs - fromMs) / bucketMs) - 1;
  if (count <= 0) return [];
  if (count > MAX_EMPTY_ROWS) return [colors.dim(`  ... ${count} buckets without records`)];
  return Array.from({ length: count }, (_, index) =>
    colors.dim(shorten(formatBucketTime(fromMs + (index + 1) * bucketMs, bucketMs, zone))),
  );
}

/** With the precision of the buckets. */
function formatBucketTime(timeMs: number, bucketMs: number, zone: Zone): string {
  const length = bucketMs % 86_400_000 === 0 ? 10 : bucketMs % 60_000 === 0 ? 16 : bucketMs % 1000 === 0 ? 19 : 23;
  return formatTime(timeMs, zone).slice(0, length);
}

function legend(bucketMs: number): string {
  return `# error and above  + warn  - other; ${formatSpan(bucketMs)} per row`;
}
