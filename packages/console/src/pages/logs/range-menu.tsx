import { useRef, useState } from 'preact/hooks';
import { parseMoment } from '../../log-view/parse-moment.ts';
import type { TimeRange, ZoneName } from '../../state/view.ts';
import { formatMoment, formatSpan } from '../../ui/format.ts';
import { momentClock, writtenMoment } from './moment-clock.ts';

const SPANS_MIN = [5, 15, 60, 360, 1440];

const DAY_MS = 86_400_000;

export interface RangeMenuProps {
  range: TimeRange | null;
  zone: ZoneName;
  onChange: (range: TimeRange | null) => void;
}

/** Which time is shown: so long back from now, from one time to another, or all. */
export function RangeMenu({ range, zone, onChange }: RangeMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const choose = (chosen: TimeRange | null) => {
    if (menu.current) menu.current.open = false;
    onChange(chosen);
  };
  const close = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return;
    event.stopPropagation();
    menu.current.open = false;
    menu.current.querySelector('summary')?.focus();
  };
  return (
    <details ref={menu} class="menu range-menu" onKeyDown={close}>
      <summary class="button" aria-label={`Time range: ${rangeText(range, zone)}`}>
        {rangeText(range, zone)} <span aria-hidden="true">▾</span>
      </summary>
      <div class="menu-body">
        {SPANS_MIN.map((minutes) => {
          const spanMs = minutes * 60_000;
          const isChosen = range?.kind === 'last' && range.spanMs === spanMs;
          return (
            <button
              key={minutes}
              type="button"
              aria-pressed={isChosen}
              onClick={() => choose({ kind: 'last', spanMs })}
            >
              Last {spanText(spanMs)}
            </button>
          );
        })}
        <button type="button" aria-pressed={range === null} onClick={() => choose(null)}>
          All
        </button>
        <FromTo range={range} zone={zone} onChoose={choose} />
      </div>
    </details>
  );
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
  const [problem, setProblem] = useState('');
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [from, to] = ['from', 'to'].map((name) => String(form.get(name) ?? '').trim());
    const clock = momentClock(zone, Date.now());
    const [fromMs, toMs] = [from, to].map((text) => (text ? parseMoment(text, clock) : null));
    if (fromMs === undefined || toMs === undefined) setProblem('Not a time: try 14:05 or 2026-11-15 14:05');
    else if (fromMs !== null && toMs !== null && toMs <= fromMs) setProblem('The end is not after the start');
    else onChoose({ kind: 'fixed', fromMs, toMs });
  };
  return (
    <form class="range-form" onSubmit={submit} onInput={() => setProblem('')}>
      <label>
        From
        <input
          name="from"
          defaultValue={writtenMoment(fixed?.fromMs ?? null, zone)}
          placeholder="14:05 or -2h"
          autocomplete="off"
        />
      </label>
      <label>
        To
        <input name="to" defaultValue={writtenMoment(fixed?.toMs ?? null, zone)} placeholder="now" autocomplete="off" />
      </label>
      {problem ? (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      ) : null}
      <button type="submit" class="button">
        Show
      </button>
    </form>
  );
}

function rangeText(range: TimeRange | null, zone: ZoneName): string {
  if (range === null) return 'All times';
  if (range.kind === 'last') return `Last ${spanText(range.spanMs)}`;
  const nowMs = Date.now();
  const text = (timeMs: number | null, open: string) => (timeMs === null ? open : formatMoment(timeMs, zone, nowMs));
  return `${text(range.fromMs, 'start')} – ${text(range.toMs, 'end')}`;
}

/** A day back from now is 24 hours, not a day. */
function spanText(spanMs: number): string {
  return spanMs === DAY_MS ? '24 h' : formatSpan(spanMs);
}
