import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FindStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import type { HistogramResult } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';
import { formatCount } from '../../../ui/format.ts';
import { toFindQuery } from '../workspace/apply-view.ts';
import { LevelChips } from './level-chips.tsx';

/** Pause in typing after which the search runs. */
const TYPING_MS = 250;

interface FindBarProps {
  view: LogsView;
  find: FindStatus;
  histogram: HistogramResult | null;
  workspace: Workspace;
  field: RefObject<HTMLInputElement>;
  change: (change: Partial<LogsView>, options?: { replace?: boolean }) => void;
  /** Returns the focus to the rows. */
  onLeave: () => void;
}

/** Search text, match mode and minimum level. */
export function FindBar({ view, find, histogram, workspace, field, change, onLeave }: FindBarProps) {
  const { text, write, commit, forget } = useTyping(view, change);
  const exclude = () => {
    if (text.trim() === '') return;
    forget();
    change({ text: '', excluded: [...new Set([...view.excluded, text])] });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.altKey) {
      commit();
      change({ text, isOnlyMatches: !view.isOnlyMatches });
    } else if (event.key === 'Enter') {
      commit();
      // The URL reaches the workspace only with the next render.
      workspace.setFind(toFindQuery({ ...view, text }));
      workspace.findNext(event.shiftKey ? 'newer' : 'older');
    } else if (event.key === 'Escape') {
      commit();
      onLeave();
    } else return;
    event.preventDefault();
  };
  return (
    <search class="bar find-bar">
      <div class={`find-field ${find.message && view.isRegex ? 'has-problem' : ''}`}>
        <input
          ref={field}
          type="search"
          aria-label="Find in the logs"
          aria-describedby={find.message ? 'find-message' : undefined}
          placeholder="Find ( / )"
          spellcheck={false}
          autocomplete="off"
          value={text}
          title="Enter: older match · Shift+Enter: newer match · Alt+Enter: only matches"
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onKeyDown={press}
        />
        <Toggle
          name="Aa"
          title="Match case"
          isOn={view.isCaseSensitive}
          onChange={(isCaseSensitive) => change({ isCaseSensitive })}
        />
        <Toggle name=".*" title="Regular expression" isOn={view.isRegex} onChange={(isRegex) => change({ isRegex })} />
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
      </div>
      <div class="segments">
        <button
          type="button"
          aria-pressed={!view.isOnlyMatches}
          title="Highlight matches and step through them"
          onClick={() => change({ isOnlyMatches: false })}
        >
          Find
        </button>
        <button
          type="button"
          aria-pressed={view.isOnlyMatches}
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

/** The field updates at once; the URL, and so the search, after a pause. `forget` cancels the pending update. */
function useTyping(view: LogsView, change: FindBarProps['change']) {
  const [text, setText] = useState(view.text);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => setText(view.text), [view.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const forget = () => clearTimeout(timer.current);
  const write = (next: string) => {
    setText(next);
    forget();
    timer.current = setTimeout(() => change({ text: next }, { replace: true }), TYPING_MS);
  };
  // Text typed in one view must not change another one that Back returned to.
  useEffect(() => {
    addEventListener('popstate', forget);
    return () => removeEventListener('popstate', forget);
  }, []);
  const commit = () => {
    forget();
    if (text !== view.text) change({ text }, { replace: true });
  };
  return { text, write, commit, forget };
}

/** Other filters of the view, each with a remove button. */
function FilterChips({ view, change }: { view: LogsView; change: (change: Partial<LogsView>) => void }) {
  const { excluded, callSite, component } = view;
  const conditions = [
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
