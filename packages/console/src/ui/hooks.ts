import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { listen } from '../state/listen.ts';
import { Resource, type ResourceOptions, type ResourceState } from '../state/resource.ts';

interface Watched<Value> {
  readonly value: Value;
  subscribe(listener: () => void): () => void;
}

/** The value of a store; renders again when it changes. */
export function useStore<Value>(store: Watched<Value>): Value {
  const [, setValue] = useState(() => store.value);
  useEffect(() => {
    const take = () => setValue(() => store.value);
    // It may have changed since rendering.
    take();
    return store.subscribe(take);
  }, [store]);
  // Not that of the state: it is of another store when the store was just replaced.
  return store.value;
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

/** What is loaded, and the way to load it again. */
export interface Loaded<Value> extends ResourceState<Value> {
  reload: () => void;
}

/** A resource, kept fresh while the component is mounted. Loading starts before the first paint. */
export function useResource<Value>(resource: Resource<Value>): Loaded<Value> {
  useLayoutEffect(() => resource.watch(), [resource]);
  return { ...useStore(resource.state), reload: () => resource.reload() };
}

interface LoadOptions extends Omit<ResourceOptions, 'env'> {
  /** Until the response for another key is there, the value of the one before stays. */
  keepsLast?: boolean;
  /** A name by which the last response outlives the component, so that returning to a page shows data at once. */
  kept?: string;
}

const kept = new Map<string, { key: string; resource: Resource<unknown> }>();

/** What a component loads for itself: again for another key, which names all that the request depends on. */
export function useLoaded<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { keepsLast = false, kept: name, ...options }: LoadOptions = {},
): Loaded<Value> {
  const resource = useMemo(() => {
    const known = name === undefined ? undefined : kept.get(name);
    if (known?.key === key) return known.resource as Resource<Value>;
    const own = new Resource(load, options);
    if (name !== undefined) kept.set(name, { key, resource: own });
    return own;
  }, [key]);
  const loaded = useResource(resource);
  const last = useRef<Value | null>(null);
  const hasEnded = loaded.asOfMs !== null || loaded.failure !== null;
  if (hasEnded) last.current = loaded.value;
  return keepsLast && !hasEnded ? { ...loaded, value: last.current } : loaded;
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
