import { useEffect, useState } from 'preact/hooks';
import { type Problem, toProblem } from '../../state/to-problem.ts';

interface Counted<Value> {
  /** The last response, also while the next one is loaded. */
  value: Value | null;
  /** Of the response. */
  atMs: number;
  failure: Problem | null;
  /** Whether the response is not, or not yet, about what is selected now. */
  isLoading: boolean;
  retry: () => void;
}

/** Rows come first, and what changes quickly is not counted in between. */
const PAUSE_MS = 400;

/** The response to a request that is sent again when its key changes; the previous one is aborted. */
export function useCounted<Value>(key: string, send: (signal: AbortSignal) => Promise<Value>): Counted<Value> {
  const [attempt, setAttempt] = useState(0);
  const wanted = `${attempt} ${key}`;
  const [last, setLast] = useState<Omit<Counted<Value>, 'isLoading' | 'retry'> & { key: string | null }>({
    ...{ key: null, value: null, atMs: 0, failure: null },
  });
  useEffect(() => {
    const control = new AbortController();
    const end = (value: Value | null, failure: Problem | null) => {
      if (!control.signal.aborted) setLast({ key: wanted, value, atMs: Date.now(), failure });
    };
    const timer = setTimeout(() => {
      send(control.signal).then(
        (value) => end(value, null),
        (thrown: unknown) => end(null, toProblem(thrown)),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [wanted]);
  return { ...last, isLoading: last.key !== wanted, retry: () => setAttempt((count) => count + 1) };
}
