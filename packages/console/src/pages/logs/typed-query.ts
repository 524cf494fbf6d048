import type { QueryNode } from '@porthole/logs/query';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { listen } from '../../state/listen.ts';
import { preferences } from '../../state/preferences.ts';
import { type BoxContent, boxChange, boxText, readBox } from '../../state/query-view.ts';
import type { LogsView } from '../../state/view.ts';

/** Pause in typing after which the view changes. */
const FIND_MS = 250;

/** Longer: a query is often valid before it is complete, and each one replaces all rows. */
const QUERY_MS = 600;

export type ChangeView = (change: Partial<LogsView>, options?: { replace?: boolean }) => void;

export interface TypedQuery {
  text: string;
  content: BoxContent;
  /** Something is missing at the end, and more may be typed: no mistake yet. */
  isIncomplete: boolean;
  write: (text: string) => void;
  /** Applies what is typed now, unless it is invalid. */
  commit: () => void;
  /** Empties the box; the view is changed by the caller. */
  clear: () => void;
  /** Whether all of the text is one regex. */
  setRegex: (isRegex: boolean) => void;
}

/** The text of the query box: updates at once; the view, after a pause, and only with a valid text. */
export function useTypedQuery(view: LogsView, change: ChangeView): TypedQuery {
  const { text, setText, made, latest } = useBoxText(view);
  const { plan, forget } = usePlan();
  const [rejected, setRejected] = useState<{ text: string; content: BoxContent } | null>(null);
  // A query of the URL was entered before.
  const [isEntered, setEntered] = useState(true);
  const apply = async (typed: string) => {
    const content = readBox(typed, latest.current);
    if (content.kind === 'invalid') return;
    const problem = content.kind === 'query' ? await regexProblemOf(content.node) : null;
    if (problem) {
      setRejected({ text: typed, content: regexProblem(typed, problem) });
      return;
    }
    const next = boxChange(content, latest.current);
    if (next.query === latest.current.query && next.text === latest.current.text) return;
    made.current = next;
    change(next, { replace: true });
  };
  const write = (next: string) => {
    setText(next);
    setEntered(false);
    const isFind = readBox(next, latest.current).kind === 'find';
    plan(() => void apply(next), isFind ? FIND_MS : QUERY_MS);
  };
  const commit = () => {
    forget();
    setEntered(true);
    void apply(text);
  };
  const clear = () => {
    forget();
    setText('');
  };
  const setRegex = (isRegex: boolean) => {
    forget();
    const content = readBox(text, { isRegex });
    const found = content.kind === 'invalid' ? { query: '', text } : boxChange(content, latest.current);
    made.current = found;
    setText(boxText({ ...found, isRegex }));
    change({ isRegex, ...found });
  };
  const read = useMemo(() => readBox(text, { isRegex: view.isRegex }), [text, view.isRegex]);
  const content = rejected?.text === text ? rejected.content : read;
  const isAtEnd = content.kind === 'invalid' && content.position >= text.trimEnd().length;
  return { text, content, isIncomplete: isAtEnd && !isEntered, write, commit, clear, setRegex };
}

/** Follows the view, except for changes made here: the text that led to them stays as it was typed. */
function useBoxText(view: LogsView) {
  const [text, setText] = useState(() => boxText(view));
  const latest = useRef(view);
  latest.current = view;
  const made = useRef<Pick<LogsView, 'query' | 'text'>>(view);
  useEffect(() => {
    if (made.current.query === view.query && made.current.text === view.text) return;
    made.current = view;
    setText(boxText(view));
  }, [view.query, view.text]);
  return { text, setText, made, latest };
}

/** One action after a pause. */
function usePlan() {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const forget = () => clearTimeout(timer.current);
  // Text typed in one view must not change another one that Back returned to.
  useEffect(() => {
    const end = listen(window, 'popstate', forget);
    return () => {
      forget();
      end();
    };
  }, []);
  const plan = (act: () => void, pauseMs: number) => {
    forget();
    timer.current = setTimeout(act, pauseMs);
  };
  return { plan, forget };
}

async function regexProblemOf(node: QueryNode) {
  // Without the script, the node says what is wrong.
  const script = await import('../../log-view/workspace/text-matcher.ts').catch(() => null);
  return script?.findRegexProblem(node) ?? null;
}

function regexProblem(text: string, { pattern, message }: { pattern: string; message: string }): BoxContent {
  return { kind: 'invalid', message, position: Math.max(0, text.indexOf(pattern)) };
}

/** More are not found by scrolling through them. */
const MAX_QUERIES = 30;

/** A longer one was pasted; it would push the others out of the storage. */
const MAX_LENGTH = 1000;

/** Puts a query in front of the last ones. */
export function rememberQuery(text: string, { queries } = preferences): void {
  const query = text.trim();
  if (query === '' || query.length > MAX_LENGTH) return;
  queries.set([query, ...queries.value.filter((other) => other !== query)].slice(0, MAX_QUERIES));
}
