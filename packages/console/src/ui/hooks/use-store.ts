import { useEffect, useState } from 'preact/hooks';

interface Watched<Value> {
  readonly value: Value;
  subscribe(listener: () => void): () => void;
}

/** The store's value; the component is drawn again when it changes. */
export function useStore<Value>(store: Watched<Value>): Value {
  const [value, setValue] = useState(() => store.value);
  useEffect(() => {
    const take = () => setValue(() => store.value);
    // It may have changed between drawing and now.
    take();
    return store.subscribe(take);
  }, [store]);
  return value;
}
