import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FindStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import type { HistogramResult } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';
import { toFindQuery } from '../workspace/apply-view.ts';
import { FilterChips } from './filter-chips.tsx';
import { FindCount } from './find-count.tsx';
import { LevelChips } from './level-chips.tsx';

/** What is written is looked for after a pause. */
const TYPING_MS = 250;

export interface FindBarProps {
  view: LogsView;
  find: FindStatus;
  histogram: HistogramResult | null;
  workspace: Workspace;
  field: RefObject<HTMLInputElement>;
  change: (change: Partial<LogsView>, options?: { replace?: boolean }) => void;
  /** Gives the focus back to the rows. */
  onLeave: () => void;
}

/** What is looked for, whether only that is shown, and down to which level. */
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
      // The address tells it to the workspace only with the next drawing.
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
          title="Leave out records with this text"
          aria-label="Leave out records with this text"
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
          title="Mark what matches, and step through it"
          onClick={() => change({ isOnlyMatches: false })}
        >
          Find
        </button>
        <button
          type="button"
          aria-pressed={view.isOnlyMatches}
          title="Show only what matches (Alt+Enter)"
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

/** What is in the field at once; the address, and so the search, a moment later. `forget` drops what is to come. */
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
  // What was typed into one view must not change another that Back returned to.
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
