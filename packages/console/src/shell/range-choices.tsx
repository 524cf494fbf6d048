import { coverageOf, rangeProblem, readTime } from '@porthole/contract';
import { useState } from 'preact/hooks';
import { openSource, toFilter } from '../log-view/source/view-source.ts';
import { navigation } from '../state/navigation.ts';
import { closedRange, type TimeRange } from '../state/time-range.ts';
import { ALL_LOGS, type LogsView, nodeLogs, type View, type ZoneName } from '../state/view.ts';
import { Button, IconButton } from '../ui/controls.tsx';
import { formatCount, formatDate, formatTimeInput, rangeText, timeInputClock } from '../ui/format.ts';
import { useLoaded, useStore } from '../ui/hooks.ts';
import { MenuItem } from '../ui/menu.tsx';
import { TimeField } from '../ui/time-field.tsx';
import { ZoneField } from './session-menu.tsx';

const SPANS_MIN = [5, 15, 60, 360, 1440, 7 * 1440];

const DAY_MS = 86_400_000;

const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];

interface RangeChoicesProps {
  range: TimeRange | null;
  zone: ZoneName;
  /** Whether the page can show all times. */
  hasAll: boolean;
  onChoose: (range: TimeRange | null) => void;
}

/** What the menu of time ranges has: spans, the same time before, a calendar, typed times and the zone. */
export function RangeChoices({ range, zone, hasAll, onChoose }: RangeChoicesProps) {
  return (
    <>
      <div>
        {SPANS_MIN.map((minutes) => {
          const spanMs = minutes * 60_000;
          return (
            <MenuItem
              key={minutes}
              isOn={range?.kind === 'last' && range.spanMs === spanMs}
              onClick={() => onChoose({ kind: 'last', spanMs })}
            >
              {rangeText({ kind: 'last', spanMs }, zone)}
            </MenuItem>
          );
        })}
        {hasAll && (
          <MenuItem isOn={range === null} onClick={() => onChoose(null)}>
            All times
          </MenuItem>
        )}
        <MenuItem disabled={range === null} onClick={() => onChoose(rangeBefore(range, Date.now()))}>
          The same time before
        </MenuItem>
        {range && <Comparison range={range} />}
      </div>
      <div class="dim wraps col menu-part">
        <FromTo range={range} zone={zone} onChoose={onChoose} />
        <ZoneField />
      </div>
    </>
  );
}

/** Nobody waits longer for a number in a menu. */
const COMPARE_MS = 3000;

/** How many records and errors the range has, and how many the same time before had: of what the page shows. */
function Comparison({ range }: { range: TimeRange }) {
  const view = useStore(navigation.view);
  const key = JSON.stringify([range, view]);
  const load = async (signal: AbortSignal) => {
    const nowMs = Date.now();
    const ranges = [range, rangeBefore(range, nowMs)].map((each) => closedRange(each, nowMs));
    const [now, before] = await Promise.all(ranges.map((each) => countRecords(view, each, signal)));
    return now && before && { now, before };
  };
  const { value, failure } = useLoaded(key, load, { keepsLast: true });
  if (failure) return null;
  return (
    <p class="dim wraps range-compare" role="status">
      {(['records', 'errors'] as const).map((what) => (
        <span key={what}>
          {value ? changeText(value.now, value.before, what) : `Counting ${what} …`}
          <br />
        </span>
      ))}
    </p>
  );
}

interface Counts {
  records: number;
  errors: number;
  isComplete: boolean;
}

async function countRecords(view: View, range: { fromMs: number; toMs: number }, signal: AbortSignal): Promise<Counts> {
  const logs = { ...logsOf(view), range: { kind: 'fixed', ...range } } as const;
  const request = { filter: toFilter(logs, range.toMs), buckets: 1 };
  const response = await openSource(logs).histogram(request, { signal, budgetMs: COMPARE_MS });
  let records = 0;
  let errors = 0;
  for (const { counts } of response.buckets) {
    for (const count of Object.values(counts)) records += count;
    errors += (counts.ERROR ?? 0) + (counts.FATAL ?? 0);
  }
  return { records, errors, isComplete: response.counted === null && coverageOf(response).isComplete };
}

/** The logs that a page is about. */
export function logsOf(view: View): LogsView {
  if (view.page === 'logs') return view;
  if (view.page === 'node') return nodeLogs(view.id);
  return { ...ALL_LOGS, ...('labels' in view && { labels: view.labels }) };
}

/** `240 errors, 3 before (× 80)`; an incomplete count is a lower bound, and compared with nothing. */
export function changeText(now: Counts, before: Counts, what: 'records' | 'errors'): string {
  const text = (counts: Counts) => `${counts.isComplete ? '' : '≥ '}${formatCount(counts[what])}`;
  const a = now[what];
  const b = before[what];
  const percent = Math.round((Math.abs(a - b) / b) * 100);
  const isKnown = now.isComplete && before.isComplete && b > 0 && percent > 0;
  const change = a >= 2 * b ? `× ${formatCount(Math.round(a / b))}` : `${a > b ? '+' : '−'}${percent} %`;
  return `${text(now)} ${what}, ${text(before)} before${isKnown ? ` (${change})` : ''}`;
}

/** The span of a range that ends where it begins. */
export function rangeBefore(range: TimeRange | null, nowMs: number): TimeRange | null {
  if (range === null) return null;
  const toMs = range.kind === 'last' ? nowMs - range.spanMs : range.fromMs;
  if (toMs === null) return range;
  const spanMs = range.kind === 'last' ? range.spanMs : (range.toMs ?? nowMs) - toMs;
  return { kind: 'fixed', fromMs: toMs - spanMs, toMs };
}

function FromTo({
  range,
  zone,
  onChoose,
}: {
  range: TimeRange | null;
  zone: ZoneName;
  onChoose: (range: TimeRange) => void;
}) {
  const fixed = range?.kind === 'fixed' ? range : null;
  const [from, setFrom] = useState(formatTimeInput(fixed?.fromMs ?? null, zone));
  const [to, setTo] = useState(formatTimeInput(fixed?.toMs ?? null, zone));
  const [problem, setProblem] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = readRange(from, to, zone);
    if (typeof chosen === 'string') setProblem(chosen);
    else onChoose(chosen);
  };
  // As text: a day has 23 or 25 hours when clocks change.
  const day = (date: string) => {
    setFrom(`${date} 00:00:00`);
    setTo(`${nextDate(date)} 00:00:00`);
  };
  return (
    <form class="dim wraps col menu-part" onSubmit={submit} onInput={() => setProblem('')}>
      <Calendar zone={zone} chosen={from.slice(0, 10)} onChoose={day} />
      <TimeField label="From" text={from} zone={zone} placeholder="14:05 or 2h" onText={setFrom} />
      <TimeField label="To" text={to} zone={zone} placeholder="now" onText={setTo} />
      {problem ? (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      ) : null}
      <Button type="submit">Show</Button>
    </form>
  );
}

/** The day after `2026-03-29`. */
export function nextDate(date: string): string {
  return new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10);
}

/** The days of a month; one is chosen as a range. */
function Calendar({ zone, chosen, onChoose }: { zone: ZoneName; chosen: string; onChoose: (date: string) => void }) {
  const [months, setMonths] = useState(0);
  const clock = timeInputClock(zone, Date.now());
  const here = new Date(clock.nowMs + clock.offsetMsAt(clock.nowMs));
  const first = new Date(Date.UTC(here.getUTCFullYear(), here.getUTCMonth() + months, 1));
  const count = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const title = formatDate(first.getTime(), 'utc').replace(/^1 /, '');
  return (
    <>
      <div class="sheet-head">
        <IconButton label="Earlier month" onClick={() => setMonths(months - 1)}>
          ‹
        </IconButton>
        <b>{title}</b>
        <IconButton label="Later month" disabled={months >= 0} onClick={() => setMonths(months + 1)}>
          ›
        </IconButton>
      </div>
      <div class="range-calendar">
        {WEEKDAYS.map((day) => (
          <span key={day} class="faint" aria-hidden="true">
            {day}
          </span>
        ))}
        {Array.from({ length: (first.getUTCDay() + 6) % 7 }, (_, index) => (
          <span key={`before ${index}`} />
        ))}
        {Array.from({ length: count }, (_, index) => {
          const utcMs = first.getTime() + index * DAY_MS;
          const text = new Date(utcMs).toISOString().slice(0, 10);
          return (
            <button
              key={text}
              type="button"
              aria-label={formatDate(utcMs, 'utc')}
              aria-pressed={text === chosen}
              disabled={utcMs > here.getTime()}
              onClick={() => onChoose(text)}
            >
              {index + 1}
            </button>
          );
        })}
      </div>
    </>
  );
}

/** The range of two typed times, either of them empty; or what is wrong. */
function readRange(from: string, to: string, zone: ZoneName): TimeRange | string {
  const clock = timeInputClock(zone, Date.now());
  const [start, end] = [from, to].map((text) => (text.trim() ? readTime(text, clock) : { timeMs: null }));
  if (!start || 'problem' in start) return `From: ${start?.problem}`;
  if (!end || 'problem' in end) return `To: ${end?.problem}`;
  const fromMs = start.timeMs;
  const toMs = end.timeMs;
  const problem = rangeProblem(
    { name: 'From', timeMs: fromMs ?? undefined },
    { name: 'To', timeMs: toMs ?? undefined },
  );
  return problem ?? { kind: 'fixed', fromMs, toMs };
}
