import type { ClusterTop } from '@porthole/contract';
import type { Top } from '@porthole/logs';
import { cutMiddle, displayWidth, GAP } from './fit-columns.ts';
import type { Terminal } from './terminal.ts';
import { visibleText } from './visible-text.ts';

/** Width when not on a terminal. */
const PIPED_COLUMNS = 100;

const MIN_BAR = 8;
const MIN_SPARKLINE = 16;
const MAX_BAR = 60;
const MIN_VALUE = 8;

interface TopRow {
  /** The value, or what the row counts instead. */
  label: string;
  isValue: boolean;
  count: number;
  /** `>=` a lower bound, `~` estimated. */
  mark: '' | '>=' | '~';
  buckets?: Top['values'][number]['buckets'];
}

/** One row per value: count, share of all, and a bar, or its counts over time. */
export function formatTop(top: Top | ClusterTop, { colors, columns }: Pick<Terminal, 'colors' | 'columns'>): string {
  const rows = topRows(top);
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  // The rest is often far more than any value: bars compare values.
  const most = Math.max(...top.values.map(({ count }) => count));
  const counts = aligned(['COUNT', ...rows.map(({ count, mark }) => `${mark}${count}`)]);
  const shares = aligned(['SHARE', ...rows.map(({ count }) => `${((100 * count) / total).toFixed(1)}%`)]);
  const room =
    (Number.isFinite(columns) ? columns : PIPED_COLUMNS) - displayWidth(`${counts[0]}${shares[0]}`) - 3 * GAP.length;
  const title = visibleText(top.by);
  const natural = Math.max(displayWidth(title), ...rows.map(({ label }) => displayWidth(label)));
  const range = bucketRange(top);
  const valueWidth = Math.max(
    MIN_VALUE,
    Math.min(natural, room - (range ? Math.min(MIN_SPARKLINE, range.buckets) : MIN_BAR)),
  );
  const barWidth = Math.min(MAX_BAR, Math.max(0, room - valueWidth));
  const padded = (text: string) => {
    const shown = cutMiddle(text, valueWidth);
    return shown + ' '.repeat(Math.max(0, valueWidth - displayWidth(shown)));
  };
  const lines = rows.map(({ label, isValue, count, buckets }, index) => {
    const bar =
      buckets && range
        ? sparkline(buckets, range, Math.min(barWidth, range.buckets))
        : '#'.repeat(isValue ? barLength(count, most, barWidth) : 0);
    const first = isValue ? padded(label) : colors.dim(padded(label));
    return [first, counts[index + 1], shares[index + 1], colors.blue(bar)].join(GAP).trimEnd();
  });
  const head = colors.dim([padded(title), counts[0], shares[0]].join(GAP));
  return `${[head, ...lines].join('\n')}\n`;
}

function topRows({ by, values, others, missing, distinct, isExact }: Top | ClusterTop): TopRow[] {
  const unlisted = Math.max(0, distinct - values.length);
  const other = `others (${isExact ? '' : '~'}${unlisted} ${unlisted === 1 ? 'value' : 'values'})`;
  return [
    ...values.map(
      ({ value, count, error = 0, buckets }): TopRow => ({
        label: valueLabel(value),
        isValue: true,
        count,
        mark: error > 0 ? '>=' : '',
        ...(buckets && { buckets }),
      }),
    ),
    ...(others > 0 ? [{ label: other, isValue: false, count: others, mark: isExact ? '' : '~' } as const] : []),
    ...(missing > 0
      ? [{ label: `without ${visibleText(by)}`, isValue: false, count: missing, mark: '' } as const]
      : []),
  ];
}

/** On one line; an empty text is visible. */
function valueLabel(value: string): string {
  return value.trim() === '' ? JSON.stringify(value) : visibleText(value).replace(/\s+/g, ' ');
}

function aligned(texts: readonly string[]): string[] {
  const width = Math.max(...texts.map(({ length }) => length));
  return texts.map((text) => text.padStart(width));
}

/** Even a single record among thousands gets a cell. */
function barLength(count: number, most: number, width: number): number {
  return count === 0 ? 0 : Math.min(width, Math.max(1, Math.round((count / most) * width)));
}

interface BucketRange {
  fromMs: number;
  toMs: number;
  /** Also empty ones. */
  buckets: number;
}

/** From the first bucket of any value to the end of the last. */
function bucketRange({ values, bucketMs }: Top | ClusterTop): BucketRange | undefined {
  const starts = values.flatMap(({ buckets = [] }) => buckets.map(({ startMs }) => startMs));
  if (bucketMs === undefined || starts.length === 0) return undefined;
  const [fromMs, lastMs] = starts.reduce(
    ([low, high], at) => [Math.min(low, at), Math.max(high, at)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  return { fromMs, toMs: lastMs + bucketMs, buckets: Math.round((lastMs - fromMs) / bucketMs) + 1 };
}

const BLOCKS = '▁▂▃▄▅▆▇█';

/** Counts over time as one line of blocks: the highest is the largest of this line, nothing is a space. */
export function sparkline(
  buckets: readonly { startMs: number; count: number }[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
  width: number,
): string {
  if (width <= 0) return '';
  const cells = new Array<number>(width).fill(0);
  for (const { startMs, count } of buckets) {
    const index = Math.min(width - 1, Math.floor(((startMs - fromMs) / (toMs - fromMs)) * width));
    cells[index] = (cells[index] ?? 0) + count;
  }
  const most = Math.max(...cells);
  return cells.map((count) => (count === 0 ? ' ' : blockFor(count / most))).join('');
}

function blockFor(share: number): string {
  return BLOCKS.charAt(Math.min(BLOCKS.length - 1, Math.floor(share * BLOCKS.length)));
}
