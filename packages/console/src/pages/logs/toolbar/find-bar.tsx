import type { RefObject } from 'preact';
import type { FindStatus, Row, Workspace } from '../../../log-view/model/workspace-state.ts';
import type { HistogramResult, LogSource } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';
import { formatCount } from '../../../ui/format.ts';
import { QueryBox } from '../query-box/query-box.tsx';
import { queryHistory } from '../query-box/query-history.ts';
import { type ChangeView, type TypedQuery, useTypedQuery } from '../query-box/use-typed-query.ts';
import { toFindQuery } from '../workspace/apply-view.ts';
import { LevelChips } from './level-chips.tsx';

interface FindBarProps {
  view: LogsView;
  find: FindStatus;
  histogram: HistogramResult | null;
  workspace: Workspace;
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
      <button
        type="button"
        class="toggle"
        title="Exclude records that contain this text"
        aria-label="Exclude records that contain this text"
        disabled={text.trim() === ''}
        onClick={exclude}
      >
        not
      </button>
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
    <button
      type="button"
      class="toggle"
      title={title}
      aria-label={title}
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
    >
      {name}
    </button>
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
        <li key={text} class="chip chip-condition">
          <span>{text}</span>
          <button type="button" aria-label={`Remove: ${text}`} onClick={() => change(rest)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** `12 of 1,306`, with buttons for the next and previous match. */
function FindCount({ find, workspace }: { find: FindStatus; workspace: Workspace }) {
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
      <button
        type="button"
        class="icon-button"
        aria-label="Older match"
        title="Older match (N)"
        onClick={() => workspace.findNext('older')}
      >
        ↑
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Newer match"
        title="Newer match (n)"
        onClick={() => workspace.findNext('newer')}
      >
        ↓
      </button>
    </span>
  );
}
