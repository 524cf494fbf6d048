import type { Level } from '@porthole/client';
import { LEVELS } from '@porthole/contract';
import type { RefObject } from 'preact';
import type { FindStatus, Row } from '../../log-view/model/workspace-state.ts';
import { type HistogramResult, isPartialCount, type LogSource } from '../../log-view/source/log-source.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import type { LogsView } from '../../state/view.ts';
import { Button, Chip, IconButton } from '../../ui/controls.tsx';
import { formatCount } from '../../ui/format.ts';
import { QueryBox } from './query-box.tsx';
import { type ChangeView, queryHistory, type TypedQuery, useTypedQuery } from './typed-query.ts';
import { toFindQuery } from './use-log-workspace.ts';

interface FindBarProps {
  view: LogsView;
  find: FindStatus;
  histogram: HistogramResult | null;
  workspace: LogWorkspace;
  source: LogSource;
  rows: readonly Row[];
  field: RefObject<HTMLInputElement>;
  change: ChangeView;
  /** Returns the focus to the rows. */
  onLeave: () => void;
}

/** The query box, match mode and minimum level. */
export function FindBar({ view, find, histogram, workspace, source, rows, field, change, onLeave }: FindBarProps) {
  const typed = useTypedQuery(view, change);
  const { content, commit } = typed;
  const isQuery = content.kind !== 'find';
  const step = (direction: 'older' | 'newer') => {
    // The URL reaches the workspace only with the next render.
    if (content.kind === 'find') workspace.setFind(toFindQuery({ ...view, text: content.text }));
    workspace.findNext(direction);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    commit();
    if (content.kind !== 'invalid') queryHistory.add(typed.text);
    if (event.key === 'Escape') onLeave();
    else if (!event.altKey) step(event.shiftKey ? 'newer' : 'older');
    else if (!isQuery) change({ query: '', text: content.text, isOnlyMatches: !view.isOnlyMatches });
    event.preventDefault();
  };
  return (
    <search class="bar find-bar">
      <QueryBox
        {...{ view, typed, source, rows, field }}
        messageId={find.message ? 'find-message' : undefined}
        hasProblem={find.message !== null && view.isRegex}
        onKeyDown={press}
      >
        <FindToggles {...{ view, typed, change }} />
      </QueryBox>
      <div class="segments">
        <button
          type="button"
          aria-pressed={!view.isOnlyMatches && !isQuery}
          disabled={isQuery}
          title={isQuery ? 'A query always shows only matches' : 'Highlight matches and step through them'}
          onClick={() => change({ isOnlyMatches: false })}
        >
          Find
        </button>
        <button
          type="button"
          aria-pressed={view.isOnlyMatches || isQuery}
          disabled={isQuery}
          title="Show only matching records (Alt+Enter)"
          onClick={() => change({ isOnlyMatches: true })}
        >
          Only matches
        </button>
      </div>
      <FindCount find={find} workspace={workspace} />
      <FilterChips view={view} change={change} />
      <span class="bar-space" />
      <LevelChips histogram={histogram} minLevel={view.minLevel} onChange={(minLevel) => change({ minLevel })} />
    </search>
  );
}

/** Buttons inside the query box. */
function FindToggles({ view, typed, change }: Pick<FindBarProps, 'view' | 'change'> & { typed: TypedQuery }) {
  const { content, clear, setRegex } = typed;
  const text = content.kind === 'find' ? content.text : '';
  const exclude = () => {
    clear();
    change({ query: '', text: '', excluded: [...new Set([...view.excluded, text])] });
  };
  return (
    <>
      <Toggle
        name="Aa"
        title="Match case"
        isOn={view.isCaseSensitive}
        onChange={(isCaseSensitive) => change({ isCaseSensitive })}
      />
      <Toggle name=".*" title="Regular expression" isOn={view.isRegex} onChange={setRegex} />
      <Button
        class="toggle"
        title="Exclude records that contain this text"
        aria-label="Exclude records that contain this text"
        disabled={text.trim() === ''}
        onClick={exclude}
      >
        not
      </Button>
    </>
  );
}

function Toggle({
  name,
  title,
  isOn,
  onChange,
}: {
  name: string;
  title: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    <Button class="toggle" title={title} aria-label={title} aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      {name}
    </Button>
  );
}

/** Other filters of the view, each with a remove button. */
function FilterChips({ view, change }: { view: LogsView; change: (change: Partial<LogsView>) => void }) {
  const { query, text: found, excluded, callSite, component } = view;
  const conditions = [
    // Otherwise it is in the box.
    ...(query !== '' && found !== '' ? [{ text: `find ${found}`, rest: { text: '' } }] : []),
    ...excluded.map((text) => ({
      text: `not ${text}`,
      rest: { excluded: excluded.filter((other) => other !== text) },
    })),
    ...(callSite === null ? [] : [{ text: `at ${callSite}`, rest: { callSite: null } }]),
    ...(component === null ? [] : [{ text: `[${component}]`, rest: { component: null } }]),
  ];
  if (conditions.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {conditions.map(({ text, rest }) => (
        <Chip key={text} class="chip-condition" text={text} label={`Remove: ${text}`} onRemove={() => change(rest)} />
      ))}
    </ul>
  );
}

/** `12 of 1,306`, with buttons for the next and previous match. */
function FindCount({ find, workspace }: { find: FindStatus; workspace: LogWorkspace }) {
  if (find.query === null) return null;
  const { index, total, isSearching, message } = find;
  const position = index === null ? '' : `${formatCount(index)} of `;
  const count =
    total === null
      ? isSearching
        ? 'searching…'
        : ''
      : `${position}${formatCount(total)}${index === null ? ' matches' : ''}`;
  return (
    <span class="find-count">
      <span role="status">
        {count}
        {message ? (
          <span id="find-message" class={total === null ? 'field-problem' : 'dim'}>
            {count ? ' · ' : ''}
            {message}
          </span>
        ) : null}
      </span>
      <IconButton label="Older match" title="Older match (N)" onClick={() => workspace.findNext('older')}>
        ↑
      </IconButton>
      <IconButton label="Newer match" title="Newer match (n)" onClick={() => workspace.findNext('newer')}>
        ↓
      </IconButton>
    </span>
  );
}

const NAMES: Readonly<Record<(typeof CHIPS)[number]['letter'], string>> = {
  E: 'errors only',
  W: 'warnings and errors',
  I: 'info and above',
  D: 'all levels',
};

interface LevelChipsProps {
  histogram: HistogramResult | null;
  minLevel: Level | null;
  onChange: (minLevel: Level | null) => void;
}

/** The chips: the levels each counts and, when it is chosen, the minimum level; `null`: all. */
const CHIPS = [
  { letter: 'E', minLevel: 'ERROR', levels: ['FATAL', 'ERROR'] },
  { letter: 'W', minLevel: 'WARN', levels: ['WARN'] },
  { letter: 'I', minLevel: 'INFO', levels: ['INFO'] },
  // Records without a level are shown and hidden with the lowest ones.
  { letter: 'D', minLevel: null, levels: ['DEBUG', 'TRACE', 'NONE'] },
] as const satisfies readonly { letter: string; minLevel: Level | null; levels: readonly (Level | 'NONE')[] }[];

/** The minimum level, with counts per level. */
function LevelChips({ histogram, minLevel, onChange }: LevelChipsProps) {
  return (
    <fieldset class="level-chips">
      <legend class="sr-only">Levels shown</legend>
      {chipCounts(histogram, minLevel).map((chip) => {
        const counted = chip.count === null ? '' : `${formatCount(chip.count)}${chip.isPartial ? '+' : ''}`;
        const partly = chip.isPartial ? ' · partial count: there may be more' : '';
        const isLowest = minLevel !== null && chip.minLevel === minLevel;
        return (
          <Button
            key={chip.letter}
            class={`level-chip level-${chip.letter.toLowerCase()}`}
            aria-pressed={chip.isShown}
            aria-label={`${chip.letter}: show ${NAMES[chip.letter]}${counted && `, ${counted}${chip.isShown ? '' : ' hidden'}`}${partly}`}
            title={`Show ${NAMES[chip.letter]}${partly}`}
            onClick={() => onChange(isLowest ? null : chip.minLevel)}
          >
            <b>{chip.letter}</b> {counted}
            {chip.isShown ? '' : ' hidden'}
          </Button>
        );
      })}
    </fieldset>
  );
}

/** What each chip shows; its count is `null` until it is counted, and may be too low if it is partial. */
export function chipCounts(histogram: HistogramResult | null, minLevel: Level | null) {
  const sums = histogram && levelSums(histogram.buckets);
  const lowest = CHIPS.findIndex(({ levels }) => levels.some((level) => level === (minLevel ?? 'NONE')));
  return CHIPS.map(({ letter, minLevel: own, levels }, index) => ({
    ...{ letter, minLevel: own, isShown: index <= lowest },
    count: sums && levels.reduce((sum, level) => sum + (sums[level] ?? 0), 0),
    isPartial: histogram !== null && isPartialCount(histogram),
  }));
}

/** How many of the counted records a minimum level hides, including those without a level. */
export function hiddenBelow({ buckets }: Pick<HistogramResult, 'buckets'>, minLevel: Level | null): number {
  if (minLevel === null) return 0;
  const sums = levelSums(buckets);
  const hidden = LEVELS.slice(0, LEVELS.indexOf(minLevel)).reduce((sum, level) => sum + (sums[level] ?? 0), 0);
  return hidden + (sums.NONE ?? 0);
}

function levelSums(buckets: HistogramResult['buckets']): Partial<Record<Level | 'NONE', number>> {
  const sums: Partial<Record<Level | 'NONE', number>> = {};
  for (const { counts } of buckets)
    for (const level of Object.keys(counts) as (Level | 'NONE')[])
      sums[level] = (sums[level] ?? 0) + (counts[level] ?? 0);
  return sums;
}
