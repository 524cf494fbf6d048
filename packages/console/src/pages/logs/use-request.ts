import { useEffect, useState } from 'preact/hooks';
import { toProblem } from '../../state/to-problem.ts';

interface RequestState<Value> {
  value: Value | null;
  failure: { code: string; detail: string } | null;
}

/** Delay before a request: stepping through records quickly sends none. */
const PAUSE_MS = 200;

/** The response to a request that is repeated when its key changes; the previous one is aborted. */
export function useRequest<Value>(key: string, send: (signal: AbortSignal) => Promise<Value>): RequestState<Value> {
  const [response, setResponse] = useState<RequestState<Value> & { key: string }>({ key, value: null, failure: null });
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(() => {
      send(control.signal).then(
        (value) => control.signal.aborted || setResponse({ key, value, failure: null }),
        (thrown: unknown) => control.signal.aborted || setResponse({ key, value: null, failure: toProblem(thrown) }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [key]);
  return response.key === key ? response : { value: null, failure: null };
}
