import { rangeProblem, readTime } from '@porthole/contract';
import { useState } from 'preact/hooks';
import type { TimeRange, ZoneName } from '../../state/view.ts';
import { Button, Menu } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatShortTime, formatSpan, formatTimeInput, timeInputClock, timePreview } from '../../ui/format.ts';

const SPANS_MIN = [5, 15, 60, 360, 1440];

const DAY_MS = 86_400_000;

interface RangeMenuProps {
  range: TimeRange | null;
  zone: ZoneName;
  onChange: (range: TimeRange | null) => void;
}

/** The time range: relative, absolute, or all. */
export function RangeMenu({ range, zone, onChange }: RangeMenuProps) {
  const summary = (
    <summary class="button" aria-label={`Time range: ${rangeText(range, zone)}`}>
      {rangeText(range, zone)} <span aria-hidden="true">▾</span>
    </summary>
  );
  return (
    <Menu class="range-menu" summary={summary}>
      {(close) => {
        const choose = (chosen: TimeRange | null) => {
          close();
          onChange(chosen);
        };
        const choice = (text: string, chosen: TimeRange | null, isChosen: boolean) => (
          <button key={text} type="button" aria-pressed={isChosen} onClick={() => choose(chosen)}>
            {text}
          </button>
        );
        return (
          <>
            {SPANS_MIN.map((minutes) => {
              const spanMs = minutes * 60_000;
              const isChosen = range?.kind === 'last' && range.spanMs === spanMs;
              return choice(`Last ${spanText(spanMs)}`, { kind: 'last', spanMs }, isChosen);
            })}
            {choice('All', null, range === null)}
            <FromTo range={range} zone={zone} onChoose={choose} />
          </>
        );
      }}
    </Menu>
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
  const [from, setFrom] = useState(formatTimeInput(fixed?.fromMs ?? null, zone));
  const [to, setTo] = useState(formatTimeInput(fixed?.toMs ?? null, zone));
  const [problem, setProblem] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = readRange(from, to, zone);
    if (typeof chosen === 'string') setProblem(chosen);
    else onChoose(chosen);
  };
  return (
    <form class="range-form" onSubmit={submit} onInput={() => setProblem('')}>
      <TimeField label="From" text={from} zone={zone} placeholder="14:05 or 2h" onText={setFrom} />
      <TimeField label="To" text={to} zone={zone} placeholder="now" onText={setTo} />
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

interface TimeFieldProps {
  label: string;
  text: string;
  zone: ZoneName;
  placeholder: string;
  onText: (text: string) => void;
}

/** Shows how the typed time is parsed. */
function TimeField({ label, text, zone, placeholder, onText }: TimeFieldProps) {
  const name = label.toLowerCase();
  const preview = timePreview(text, timeInputClock(zone, Date.now()), zone);
  return (
    <>
      <label>
        {label}
        <input
          name={name}
          value={text}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`range-${name}-preview`}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      <output id={`range-${name}-preview`} class="time-preview dim">
        {preview}
      </output>
    </>
  );
}

/** The range of two typed times, either of them empty; or what is wrong. */
function readRange(from: string, to: string, zone: ZoneName): TimeRange | string {
  const clock = timeInputClock(zone, Date.now());
  const [start, end] = [from, to].map((text) => (text.trim() ? readTime(text, clock) : { timeMs: null }));
  if (!start || 'problem' in start) return `From: ${start?.problem}`;
  if (!end || 'problem' in end) return `To: ${end?.problem}`;
  const [fromMs, toMs] = [start.timeMs, end.timeMs];
  const problem = rangeProblem(
    { name: 'From', timeMs: fromMs ?? undefined },
    { name: 'To', timeMs: toMs ?? undefined },
  );
  return problem ?? { kind: 'fixed', fromMs, toMs };
}

function rangeText(range: TimeRange | null, zone: ZoneName): string {
  if (range === null) return 'All times';
  if (range.kind === 'last') return `Last ${spanText(range.spanMs)}`;
  const nowMs = Date.now();
  const text = (timeMs: number | null, open: string) => (timeMs === null ? open : formatShortTime(timeMs, zone, nowMs));
  return `${text(range.fromMs, 'start')} – ${text(range.toMs, 'end')}`;
}

/** A relative range of a day is 24 hours, not a calendar day. */
function spanText(spanMs: number): string {
  return spanMs === DAY_MS ? '24 h' : formatSpan(spanMs);
}

interface GoToTimeProps {
  isOpen: boolean;
  zone: ZoneName;
  onGo: (timeMs: number) => void;
  onClose: () => void;
}

export function GoToTime(props: GoToTimeProps) {
  return (
    <Dialog title="Go to a time" class="go-to-time" isOpen={props.isOpen} onClose={props.onClose}>
      <GoToTimeForm {...props} />
    </Dialog>
  );
}

function GoToTimeForm({ zone, onGo, onClose }: GoToTimeProps) {
  const [text, setText] = useState('');
  const reading = readTime(text, timeInputClock(zone, Date.now()));
  const timeMs = 'timeMs' in reading ? reading.timeMs : undefined;
  const isWrong = text.trim() !== '' && timeMs === undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (timeMs !== undefined) onGo(timeMs);
      }}
    >
      <label class="field">
        Time
        <input
          autofocus
          value={text}
          placeholder="14:05"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={isWrong}
          aria-describedby="go-to-time-hint"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p id="go-to-time-hint" class={isWrong ? 'field-problem' : 'dim'} role="status">
        {timePreview(text, timeInputClock(zone, Date.now()), zone) ||
          '14:05 · yesterday 18:00 · 15m · 2026-11-15 14:05 · RFC 3339'}
      </p>
      <div class="dialog-buttons">
        <Button onClick={onClose}>Cancel</Button>
        <button type="submit" class="button button-primary" disabled={timeMs === undefined}>
          Go
        </button>
      </div>
    </form>
  );
}
