import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Resource, ResourceState } from '../state/resource.ts';

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
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [everyMs]);
  return now;
}

/** The state of a resource, kept fresh while the component is mounted. Loading starts before the first paint. */
export function useResource<Value>(resource: Resource<Value>): ResourceState<Value> {
  useLayoutEffect(() => resource.watch(), [resource]);
  return useStore(resource.state);
}

/** Whether single keys are text there, not shortcuts. */
export function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}
