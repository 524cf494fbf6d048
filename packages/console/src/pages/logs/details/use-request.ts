import { useEffect, useState } from 'preact/hooks';
import { toProblem } from '../../../state/resource.ts';

export interface RequestState<Value> {
  value: Value | null;
  failure: { code: string; detail: string } | null;
}

/** Who moves on quickly asks nothing on the way. */
const PAUSE_MS = 200;

/** The answer to a question that is asked again whenever its key changes; an earlier one is given up. */
export function useRequest<Value>(key: string, ask: (signal: AbortSignal) => Promise<Value>): RequestState<Value> {
  const [answer, setAnswer] = useState<RequestState<Value> & { key: string }>({ key, value: null, failure: null });
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(() => {
      ask(control.signal).then(
        (value) => control.signal.aborted || setAnswer({ key, value, failure: null }),
        (thrown: unknown) => control.signal.aborted || setAnswer({ key, value: null, failure: toProblem(thrown) }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [key]);
  return answer.key === key ? answer : { value: null, failure: null };
}
