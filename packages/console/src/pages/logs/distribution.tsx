import { formatQuery, formatSpan } from '@porthole/contract';
import { parseQuantity, type Quantity, recordFields } from '@porthole/logs/query';
import { isPartialCount, type LogSource, type RowFilter } from '../../log-view/source/log-source.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { useLoaded } from '../../ui/hooks.ts';
import { Loading } from '../../ui/notes.tsx';
import { CountFailure } from './field-actions.tsx';

/* How the numbers, durations or sizes of a field are spread over the records of a view. */

type Kind = Quantity['kind'];

/** A quantity as one number: a plain one, nanoseconds, or bytes. */
export interface Measure {
  kind: Kind;
  value: number;
}

export function parseMeasure(text: string): Measure | undefined {
  const { kind, value } = parseQuantity(text) ?? {};
  if (kind === undefined || value === undefined) return undefined;
  const number = value.sign === 0 ? 0 : Number(`${value.sign < 0 ? '-' : ''}0.${value.digits}e${value.exponent}`);
  return Number.isFinite(number) ? { kind, value: number } : undefined;
}

/** `41`, `2.004 s`, `1.2 MB` */
export function measureText({ kind, value }: Measure): string {
  if (kind === 'size') return formatBytes(value);
  if (kind === 'duration') return durationText(value);
  const rounded = Number(value.toPrecision(6));
  return Number.isInteger(rounded) && Math.abs(rounded) < 1e15 ? signed(rounded, formatCount) : String(rounded);
}

function durationText(ns: number): string {
  if (Math.abs(ns) >= 60e9) return signed(ns / 1e6, (ms) => formatSpan(Math.round(ms)));
  const [unit, factor] = (
    [
      ['s', 1e9],
      ['ms', 1e6],
      ['µs', 1e3],
    ] as const
  ).find(([, size]) => Math.abs(ns) >= size) ?? ['ns', 1];
  return `${Number((ns / factor).toPrecision(4))} ${unit}`;
}

function signed(value: number, format: (size: number) => string): string {
  return `${value < 0 ? '−' : ''}${format(Math.abs(value))}`;
}

/** A value and how many records have it. */
interface Counted {
  text: string;
  count: number;
}

interface Distribution {
  kind: Kind;
  /** Records that have such a value. */
  records: number;
  /** Those with a value that is none, or of another kind. */
  left: number;
  min: number;
  max: number;
  percentiles: readonly { name: string; value: number }[];
  /** Records by equal parts of the range from `min` to `max`. */
  bars: readonly number[];
}

const PERCENTILES = [50, 90, 99] as const;

const BARS = 24;

/** The distribution of the most frequent kind among these values; `null` if none of them is a quantity. */
export function distribution(values: readonly Counted[]): Distribution | null {
  const kinds = new Map<Kind, { value: number; count: number }[]>();
  let left = 0;
  for (const { text, count } of values) {
    const found = parseMeasure(text);
    const own = found ? (kinds.get(found.kind) ?? []) : [];
    if (found) kinds.set(found.kind, own);
    if (found) own.push({ value: found.value, count });
    else left += count;
  }
  const size = (own: readonly { count: number }[]) => own.reduce((sum, { count }) => sum + count, 0);
  const [best, ...others] = [...kinds].toSorted(([, a], [, b]) => size(b) - size(a));
  if (!best) return null;
  const [kind, own] = best;
  const sorted = own.toSorted((a, b) => a.value - b.value);
  const min = sorted[0]?.value ?? 0;
  const max = sorted.at(-1)?.value ?? 0;
  const bars = new Array<number>(BARS).fill(0);
  for (const { value, count } of sorted) {
    const index = max === min ? 0 : Math.min(BARS - 1, Math.floor(((value - min) / (max - min)) * BARS));
    bars[index] = (bars[index] ?? 0) + count;
  }
  const records = size(own);
  return {
    kind,
    records,
    min,
    max,
    bars,
    left: left + others.reduce((sum, [, other]) => sum + size(other), 0),
    percentiles: PERCENTILES.map((percent) => ({
      name: `p${percent}`,
      value: quantile(sorted, (percent / 100) * records),
    })),
  };
}

/** The value of the record with this rank, the smallest values first: always one that occurs. */
function quantile(sorted: readonly { value: number; count: number }[], rank: number): number {
  let before = 0;
  for (const { value, count } of sorted) {
    before += count;
    if (before >= rank) return value;
  }
  return sorted.at(-1)?.value ?? 0;
}

/** Different values that are counted; of a field with more of them, records are looked at. */
const MAX_VALUES = 2000;

const SAMPLE = 1000;

const BUDGET_MS = 5000;

const PAUSE_MS = 100;

/** How many records it is of, and whether these are all there are. */
interface Measured {
  distribution: Distribution | null;
  /** What it is of: `all 1,204 records with it`. */
  scope: string;
}

interface DistributionProps {
  field: string;
  /** The value of the shown record. */
  text: string;
  source: LogSource;
  filter: () => RowFilter;
  /** Whether the filter selects other records. */
  filterKey: string;
}

/** The spread of a field over the records of the view, with the place of one value in it. */
export function FieldDistribution({ field, text, source, filter, filterKey }: DistributionProps) {
  const { value, failure, isLoading, reload } = useLoaded(
    `${field} ${filterKey}`,
    (signal) => measure(source, { field, filter: filter() }, signal),
    { pauseMs: PAUSE_MS, keepsLast: true },
  );
  if (failure && !isLoading) return <CountFailure what={field} failure={failure} onRetry={reload} />;
  if (!value) return <Loading what={`the values of ${field}`} />;
  const { distribution: found, scope } = value;
  if (!found) return <p class="dim small">No numbers, durations or sizes in {scope}.</p>;
  const { kind, min, max, bars, percentiles, left } = found;
  const own = parseMeasure(text);
  const most = Math.max(1, ...bars);
  const at = own?.kind === kind && max > min ? Math.min(1, Math.max(0, (own.value - min) / (max - min))) : null;
  const facts = [{ name: 'min', value: min }, ...percentiles, { name: 'max', value: max }];
  return (
    <figure class="col distribution" aria-busy={isLoading}>
      <svg viewBox={`0 0 ${BARS} 40`} preserveAspectRatio="none" aria-hidden="true">
        <path style={{ fill: 'var(--chart)' }} d={bars.map((count, index) => barPath(count / most, index)).join('')} />
        {at === null ? null : <path style={{ fill: 'var(--accent)' }} d={`M${at * (BARS - 0.15)} 0v40h.15v-40z`} />}
      </svg>
      <dl class="flex wrap small">
        {facts.map(({ name, value: fact }) => (
          <div key={name}>
            <dt class="faint">{name}</dt>
            <dd>{measureText({ kind, value: fact })}</dd>
          </div>
        ))}
      </dl>
      <figcaption class="faint small">
        {scope}
        {left > 0 ? `, ${formatCount(left)} of them with other values` : ''}
      </figcaption>
    </figure>
  );
}

/** Square root scale: a few records beside thousands stay visible. */
function barPath(share: number, index: number): string {
  const height = share === 0 ? 0 : Math.max(1.5, Math.sqrt(share) * 40);
  return `M${index + 0.05} 40v${-height}h.9v${height}z`;
}

/** Counts all values if there are not too many; otherwise looks at the newest records. */
async function measure(
  source: LogSource,
  { field, filter }: { field: string; filter: RowFilter },
  signal: AbortSignal,
): Promise<Measured> {
  const options = { signal, budgetMs: BUDGET_MS };
  const top = await source.top({ filter, by: field, limit: MAX_VALUES }, options);
  if (top.others === 0 && top.isExact) {
    const found = distribution(top.values.map(({ value, count }) => ({ text: value, count })));
    const records = top.values.reduce((sum, { count }) => sum + count, 0);
    const isPart = isPartialCount(top);
    return {
      distribution: found,
      scope: isPart
        ? `${formatCount(records)}+ records, not all were read`
        : `All ${formatCount(records)} records with it`,
    };
  }
  const query = [filter.query ?? '', formatQuery({ kind: 'exists', field })].map((part) => part.trim()).filter(Boolean);
  const sampled = { ...filter, query: query.map((part) => `(${part})`).join(' ') };
  const { records } = await source.page({ direction: 'older', from: 'end', limit: SAMPLE, filter: sampled }, options);
  const values = records.flatMap((record) => recordFields(record).filter(({ name }) => name === field));
  return {
    distribution: distribution(values.map(({ text }) => ({ text, count: 1 }))),
    scope: `A sample: the newest ${formatCount(records.length)} records with it`,
  };
}
