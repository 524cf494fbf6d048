import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { listen } from '../state/listen.ts';
import type { Resource, ResourceState } from '../state/resource.ts';
import { type Problem, toProblem } from '../state/to-problem.ts';

interface Watched<Value> {
  readonly value: Value;
  subscribe(listener: () => void): () => void;
}

/** The value of a store; renders again when it changes. */
export function useStore<Value>(store: Watched<Value>): Value {
  const [value, setValue] = useState(() => store.value);
  useEffect(() => {
    const take = () => setValue(() => store.value);
    // It may have changed since rendering.
    take();
    return store.subscribe(take);
  }, [store]);
  return value;
}

/** The current time, updated at this interval while the page is visible. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setNow(Date.now());
    };
    const timer = setInterval(tick, everyMs);
    const end = listen(document, 'visibilitychange', tick);
    return () => {
      clearInterval(timer);
      end();
    };
  }, [everyMs]);
  return now;
}

/** The state of a resource, kept fresh while the component is mounted. Loading starts before the first paint. */
export function useResource<Value>(resource: Resource<Value>): ResourceState<Value> {
  useLayoutEffect(() => resource.watch(), [resource]);
  return useStore(resource.state);
}

/** Whether a media query matches; renders again when that changes. */
export function useMedia(query: string): boolean {
  const [isMatching, setMatching] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const take = () => setMatching(list.matches);
    take();
    return listen(list, 'change', take);
  }, [query]);
  return isMatching;
}

/** Notices, while it is active, a press or the focus elsewhere, and other events given. */
export function useLeaving(box: RefObject<Element>, onLeave: () => void, { isActive = true, others = '' } = {}): void {
  const latest = useRef(onLeave);
  latest.current = onLeave;
  useEffect(() => {
    if (!isActive) return undefined;
    return listen(document, `pointerdown focusin ${others}`.trim(), ({ target }) => {
      if (!(target instanceof Node && box.current?.contains(target))) latest.current();
    });
  }, [isActive]);
}

/** Whether single keys are text there, not shortcuts. */
export function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}

export interface RequestState<Value> {
  /** The last response, also while the next one is loaded. */
  value: Value | null;
  atMs: number;
  failure: Problem | null;
  /** Whether the response is not, or not yet, that of the current key. */
  isLoading: boolean;
  retry: () => void;
}

/** What nothing has to wait for. */
const NEVER: Watched<boolean> = { value: false, subscribe: () => () => {} };

/**
 * The response to a request that is sent again when its key changes; the previous one is aborted. A request waits for
 * this pause: what changes quickly sends none. While it has to give way, it is aborted, and sent again afterwards.
 */
export function useRequest<Value>(
  key: string,
  pauseMs: number,
  send: (signal: AbortSignal) => Promise<Value>,
  givesWay: Watched<boolean> = NEVER,
): RequestState<Value> {
  const [attempt, setAttempt] = useState(0);
  const wanted = `${attempt} ${key}`;
  const [last, setLast] = useState<Omit<RequestState<Value>, 'isLoading' | 'retry'> & { key: string | null }>({
    ...{ key: null, value: null, atMs: 0, failure: null },
  });
  const latest = useRef(send);
  latest.current = send;
  useEffect(
    () =>
      sendWhenFree(givesWay, pauseMs, async (signal) => {
        const ended = await latest.current(signal).then(
          (value) => ({ value, failure: null }),
          (thrown: unknown) => ({ value: null, failure: toProblem(thrown) }),
        );
        if (!signal.aborted) setLast({ key: wanted, ...ended, atMs: Date.now() });
      }),
    [wanted],
  );
  return { ...last, isLoading: last.key !== wanted, retry: () => setAttempt((count) => count + 1) };
}

/** Sends once, after a pause in which nothing was in the way; what comes in the way later aborts it. The returned function ends it. */
export function sendWhenFree(
  givesWay: Watched<boolean>,
  pauseMs: number,
  send: (signal: AbortSignal) => Promise<void>,
): () => void {
  let control = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDone = false;
  const stop = () => {
    clearTimeout(timer);
    control.abort();
  };
  const begin = () => {
    if (isDone) return;
    stop();
    if (givesWay.value) return;
    control = new AbortController();
    const { signal } = control;
    timer = setTimeout(async () => {
      await send(signal);
      isDone ||= !signal.aborted;
    }, pauseMs);
  };
  begin();
  const end = givesWay.subscribe(begin);
  return () => {
    end();
    stop();
  };
}
