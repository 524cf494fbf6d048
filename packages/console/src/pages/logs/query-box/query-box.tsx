import type { ComponentChildren, RefObject } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import type { Row } from '../../../log-view/model/workspace-state.ts';
import type { LogSource } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';
import { useStore } from '../../../ui/hooks.ts';
import { toFilter } from '../workspace/apply-view.ts';
import { FieldCatalog } from './field-catalog.ts';
import { CLOSED, type ListState, pressInList } from './list-state.ts';
import { queryHistory } from './query-history.ts';
import { optionId, QueryList } from './query-list.tsx';
import { QueryMarker, QueryNote } from './query-note.tsx';
import { useCompletions } from './use-completions.ts';
import type { TypedQuery } from './use-typed-query.ts';

interface QueryBoxProps {
  view: LogsView;
  typed: TypedQuery;
  source: LogSource;
  rows: readonly Row[];
  field: RefObject<HTMLInputElement>;
  /** Id of a message about the search. */
  messageId: string | undefined;
  hasProblem: boolean;
  onKeyDown: (event: KeyboardEvent) => void;
  /** Buttons inside the box. */
  children: ComponentChildren;
}

/** One field for text to find and for queries, with completion, the last queries, and what it means in words. */
export function QueryBox(props: QueryBoxProps) {
  const { view, typed, field, messageId, children } = props;
  const { text, content, isIncomplete } = typed;
  const [noteId, listId] = [useId(), useId()];
  const [scrollLeft, setScrollLeft] = useState(0);
  const { list, options, choose, press, input, moved, close } = useList(props);
  const isInvalid = (content.kind === 'invalid' && !isIncomplete) || props.hasProblem;
  const described = [content.kind === 'find' ? undefined : noteId, messageId].filter((id) => id !== undefined);
  const isOpen = options.length > 0;
  return (
    <div class="query-box">
      <div class={`find-field ${isInvalid ? 'has-problem' : ''}`}>
        <span class="query-input">
          <input
            ref={field}
            type="text"
            role="combobox"
            aria-label="Find in the logs"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && list.index >= 0 ? optionId(listId, list.index) : undefined}
            aria-invalid={isInvalid}
            aria-describedby={described.length > 0 ? described.join(' ') : undefined}
            placeholder={view.isRegex ? 'Regular expression ( / )' : 'Find text, or query: level>=warn shard=13 ( / )'}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            enterkeyhint="search"
            value={text}
            title="Enter: older match · Shift+Enter: newer match · Alt+Enter: only matches · Ctrl+Space: completions"
            onInput={input}
            onScroll={({ currentTarget }) => setScrollLeft(currentTarget.scrollLeft)}
            onBlur={close}
            onKeyDown={(event) => press(event) || props.onKeyDown(event)}
            onKeyUp={moved}
          />
          {content.kind === 'invalid' && !isIncomplete ? (
            <QueryMarker text={text} position={content.position} scrollLeft={scrollLeft} />
          ) : null}
        </span>
        {children}
      </div>
      {isOpen ? (
        <QueryList
          id={listId}
          label={list.kind === 'history' ? 'Last queries' : 'Completions'}
          options={options}
          index={list.index}
          onChoose={choose}
        />
      ) : null}
      <QueryNote id={noteId} content={content} isIncomplete={isIncomplete} />
    </div>
  );
}

/** The list below the box and what keys do with it. */
function useList({ view, typed, source, rows, field }: QueryBoxProps) {
  const { text, write } = typed;
  const [list, setList] = useState<ListState>(CLOSED);
  const [caret, setCaret] = useState(text.length);
  const catalog = useCatalog(source, view);
  const isCompleting = list.kind === 'completions' && !view.isRegex;
  const completions = useCompletions(
    { text, caret: Math.min(caret, text.length), isOpen: isCompleting, isChosen: list.index >= 0 },
    { rows, catalog },
  );
  const history = useStore(queryHistory.list);
  const options =
    list.kind === 'history'
      ? history.map((query) => ({ label: query, detail: '', insert: query, start: 0, end: text.length }))
      : completions;
  const choose = (index: number) => {
    const option = options[index];
    if (!option) return;
    const next = text.slice(0, option.start) + option.insert + text.slice(option.end);
    const at = option.start + option.insert.length;
    write(next);
    setCaret(at);
    // The name of a field is followed by its values.
    setList(/[=<>:]$/.test(option.insert) && list.kind === 'completions' ? { kind: 'completions', index: -1 } : CLOSED);
    // The caret can only be set once the field has the text.
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  const press = (event: KeyboardEvent): boolean => {
    const situation = { count: options.length, isEmpty: text === '', hasHistory: history.length > 0 };
    if (view.isRegex) return false;
    if (event.target instanceof HTMLInputElement) setCaret(event.target.selectionStart ?? text.length);
    const result = pressInList(list, event, situation);
    if (!result) return false;
    event.preventDefault();
    if (result.choose) choose(list.index);
    else setList(result.list);
    return true;
  };
  const input = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    write(currentTarget.value);
    setCaret(currentTarget.selectionStart ?? currentTarget.value.length);
    setList(currentTarget.value.trim() === '' ? CLOSED : { kind: 'completions', index: -1 });
  };
  const moved = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    if (list.kind === 'completions') setCaret(currentTarget.selectionStart ?? text.length);
  };
  return { list, options, choose, press, input, moved, close: () => setList(CLOSED) };
}

/** Asks about all records of the time range: the query being typed does not say what will be typed next. */
function useCatalog(source: LogSource, view: LogsView): FieldCatalog {
  return useMemo(() => {
    const all = { ...view, query: '', text: '', excluded: [], callSite: null, component: null };
    return new FieldCatalog({ source, filter: () => toFilter(all, Date.now()), nowMs: () => Date.now() });
  }, [source, JSON.stringify(view.range), view.minLevel]);
}
