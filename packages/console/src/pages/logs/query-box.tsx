import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from '../../log-view/model/workspace-state.ts';
import { visibleText } from '../../log-view/rows/record-text.ts';
import type { LogSource } from '../../log-view/source/log-source.ts';
import { toFilter } from '../../log-view/source/view-source.ts';
import { preferences } from '../../state/preferences.ts';
import type { BoxContent } from '../../state/query-view.ts';
import { Resource } from '../../state/resource.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { OptionList, optionId } from '../../ui/option-list.tsx';
import type { Completion, RemoteFields } from './completions.ts';
import type { TypedQuery } from './typed-query.ts';
import { sourceKey } from './use-log-workspace.ts';

/** Completes and explains queries; loaded when the box has the focus, or a query. */
const script = new Resource(() => import('./completions.ts'));

interface QueryBoxProps {
  view: LogsView;
  typed: TypedQuery;
  source: LogSource;
  rows: readonly Row[];
  field: RefObject<HTMLInputElement>;
  messageId: string | undefined;
  hasProblem: boolean;
  onKeyDown: (event: KeyboardEvent) => void;
  children: ComponentChildren;
}

/** One field for text to find and for queries, with completion, the last queries, and what it means in words. */
export function QueryBox(props: QueryBoxProps) {
  const { view, typed, field, messageId, children } = props;
  const { text, content, isIncomplete } = typed;
  const noteId = useId();
  const listId = useId();
  const [scrollLeft, setScrollLeft] = useState(0);
  const { list, options, choose, press, input, moved, close } = useList(props);
  const isInvalid = (content.kind === 'invalid' && !isIncomplete) || props.hasProblem;
  const described = [content.kind === 'find' ? undefined : noteId, messageId].filter((id) => id !== undefined);
  const isOpen = options.length > 0;
  const [hasFocus, setFocus] = useState(false);
  const isNeeded = hasFocus || content.kind !== 'find';
  useEffect(() => (isNeeded ? script.watch() : undefined), [isNeeded]);
  return (
    <div class="grow query-box">
      <div class={`flex query-field ${isInvalid ? 'has-problem' : ''}`}>
        <Icon name="search" />
        <span class="grow query-input">
          {view.isRegex ? null : <QueryTokens text={text} scrollLeft={scrollLeft} />}
          <input
            ref={field}
            class="mono"
            type="text"
            role="combobox"
            aria-label="Find in the logs"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && list.index >= 0 ? optionId(listId, list.index) : undefined}
            aria-invalid={isInvalid}
            aria-describedby={described.length > 0 ? described.join(' ') : undefined}
            placeholder={view.isRegex ? 'Regular expression' : 'Find text, or query: level>=warn shard=13'}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            enterkeyhint="search"
            value={text}
            onInput={input}
            onScroll={({ currentTarget }) => setScrollLeft(currentTarget.scrollLeft)}
            onFocus={() => setFocus(true)}
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
        <OptionList
          id={listId}
          label={list.kind === 'history' ? 'Last queries' : 'Completions'}
          class="menu-body is-left query-list"
          options={options.map(({ label, detail }) => (
            <>
              <span class="mono grow">{visibleText(label.slice(0, SHOWN_CHARACTERS))}</span>
              <span class="dim small">{visibleText(detail)}</span>
            </>
          ))}
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
  const isCompleting = list.kind === 'completions' && !view.isRegex;
  const completions = useCompletions(
    { text, caret: Math.min(caret, text.length), isOpen: isCompleting, isChosen: list.index >= 0 },
    { rows, view, source },
  );
  const history = useStore(preferences.queries);
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

/* The list below the query box: completions, or the last queries. */

export interface ListState {
  kind: 'closed' | 'completions' | 'history';
  /** The chosen option; -1: none, so that Enter runs the query as it is typed. */
  index: number;
}

export const CLOSED: ListState = { kind: 'closed', index: -1 };

interface ListSituation {
  count: number;
  isEmpty: boolean;
  hasHistory: boolean;
}

interface PressedKey {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** What a key does to the list; `choose`: it takes the chosen option. `null`: the key is not for the list. */
export function pressInList(
  state: ListState,
  pressed: PressedKey,
  situation: ListSituation,
): { list: ListState; choose?: true } | null {
  const { key, ctrlKey, altKey, shiftKey } = pressed;
  if (ctrlKey && key === ' ') return { list: { kind: 'completions', index: 0 } };
  if (ctrlKey || altKey) return null;
  const isOpen = state.kind !== 'closed' && situation.count > 0;
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  if (step !== 0) {
    if (isOpen) return { list: { ...state, index: moved(state.index, step, situation.count) } };
    if (situation.isEmpty && situation.hasHistory) return { list: { kind: 'history', index: 0 } };
    // Up moves the caret to the start of the text, as in any field.
    return step > 0 ? { list: { kind: 'completions', index: 0 } } : null;
  }
  if (!isOpen) return null;
  // A list that nobody asked for takes no key away.
  if (state.index < 0 || state.index >= situation.count) return null;
  if (key === 'Escape') return { list: CLOSED };
  return (key === 'Enter' || key === 'Tab') && !shiftKey ? { list: CLOSED, choose: true } : null;
}

function moved(index: number, step: number, count: number): number {
  if (index < 0) return step > 0 ? 0 : count - 1;
  return (index + step + count) % count;
}

/** Pause in typing after which the nodes are asked. */
const REQUEST_MS = 300;

/** Completion must not keep a node busy. */
const BUDGET_MS = 1500;

const MAX_FIELDS = 200;

const MAX_VALUES = 10;

/** What could be typed at the caret: from the loaded records at once, from the nodes when they respond. */
function useCompletions(
  { text, caret, isOpen, isChosen }: { text: string; caret: number; isOpen: boolean; isChosen: boolean },
  { rows, view, source }: Pick<QueryBoxProps, 'rows' | 'view' | 'source'>,
): Completion[] {
  const loaded = useStore(script.state).value;
  const field = isOpen ? loaded?.fieldBeingTyped(text, caret) : undefined;
  const remote = useRemoteFields({ view, source }, { isOpen, field });
  // A query without matches must not take away what its correction needs.
  const known = useRef(rows);
  if (rows.length > 0) known.current = rows;
  const found = useMemo(
    () =>
      isOpen && loaded
        ? loaded.findCompletions(text, caret, { loaded: loaded.loadedFields(known.current), remote })
        : [],
    // Rows that arrive meanwhile would move the options under the pointer.
    [text, caret, isOpen, remote, loaded],
  );
  // What arrives while an option is chosen must not put another one in its place.
  const shown = useRef({ key: '', options: found });
  const key = `${isOpen} ${caret} ${text}`;
  if (!isChosen || shown.current.key !== key || shown.current.options.length === 0)
    shown.current = { key, options: found };
  return shown.current.options;
}

/**
 * What the nodes know of all records of the time range: the query being typed does not say what will be typed next.
 * Failures are not worth a message: the loaded records still complete, and the search itself reports them.
 */
function useRemoteFields(
  { view, source }: Pick<QueryBoxProps, 'view' | 'source'>,
  { isOpen, field }: { isOpen: boolean; field: string | undefined },
): RemoteFields {
  const { range, minLevel } = view;
  const key = `${sourceKey(view)} ${JSON.stringify(range)} ${minLevel}`;
  // What was loaded stays when the list is closed.
  const asked = useRef({ fields: '', values: '' }).current;
  if (isOpen) asked.fields = key;
  if (field !== undefined) asked.values = `${key} ${field}`;
  const filter = () => toFilter({ ...ALL_LOGS, range, minLevel }, Date.now());
  const loadFields = async (signal: AbortSignal) => {
    if (asked.fields === '') return [];
    return (await source.fields({ filter: filter(), limit: MAX_FIELDS }, { signal, budgetMs: BUDGET_MS })).fields;
  };
  const loadValues = async (signal: AbortSignal) => {
    if (field === undefined) return [];
    const request = { filter: filter(), by: field, limit: MAX_VALUES };
    return (await source.top(request, { signal, budgetMs: BUDGET_MS })).values;
  };
  const fields = useLoaded(asked.fields, loadFields, { pauseMs: REQUEST_MS, keepsLast: true });
  const values = useLoaded(asked.values, loadValues, { pauseMs: REQUEST_MS });
  const own = field === undefined ? null : values.value;
  return useMemo(() => ({ fields: fields.value ?? [], values: own ?? [] }), [fields.value, own]);
}

/** A longer text is truncated. */
const SHOWN_CHARACTERS = 200;

interface QueryNoteProps {
  id: string;
  content: BoxContent;
  /** No mistake yet. */
  isIncomplete: boolean;
}

/** Below the query box: the query in words, or what is wrong with it. */
function QueryNote({ id, content, isIncomplete }: QueryNoteProps) {
  const loaded = useStore(script.state).value;
  if (content.kind === 'find' || !loaded) return null;
  const isProblem = content.kind === 'invalid' && !isIncomplete;
  // One line: what is below must not jump while something is typed.
  const classes = `small query-note ${isProblem ? 'field-problem' : 'dim'} ${isIncomplete ? 'cut' : 'wraps'}`;
  return (
    <p id={id} class={classes} role="status">
      {content.kind === 'invalid' ? content.message : `Records where ${visibleText(loaded.explainQuery(content.node))}`}
    </p>
  );
}

/** Marks comparisons as units; lies behind the text of the field. */
function QueryTokens({ text, scrollLeft }: { text: string; scrollLeft: number }) {
  const parts = useStore(script.state).value?.comparisonParts(text);
  return (
    <QueryOverlay scrollLeft={scrollLeft}>
      {parts?.map((part, index) => (index % 2 === 1 ? <i key={index}>{part}</i> : part))}
    </QueryOverlay>
  );
}

/** Underlines the character where the query is wrong; lies over the field. */
function QueryMarker({ text, position, scrollLeft }: { text: string; position: number; scrollLeft: number }) {
  const at = Math.min(position, text.length);
  const [character = ' '] = text.slice(at);
  return (
    <QueryOverlay scrollLeft={scrollLeft}>
      {text.slice(0, at)}
      <b>{character}</b>
    </QueryOverlay>
  );
}

/** The text of the field again, invisible, to mark parts of it; scrolls with the field. */
function QueryOverlay({ scrollLeft, children }: { scrollLeft: number; children: ComponentChildren }) {
  return (
    <span class="mono query-marker" aria-hidden="true">
      {/* An object sets the property itself, which the content security policy allows. */}
      <span style={{ transform: `translateX(${-scrollLeft}px)` }}>{children}</span>
    </span>
  );
}
