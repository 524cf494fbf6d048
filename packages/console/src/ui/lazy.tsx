import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';

/** A component whose script is loaded when it is first shown; nothing is shown until then. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  return function LazyComponent(props: Props) {
    const [problem, setProblem] = useState<unknown>(null);
    const [, draw] = useState(0);
    // The page around it says what to do: the node has another version, or does not respond.
    if (problem) throw problem;
    if (Loaded) return <Loaded {...props} />;
    loading ??= load().then((component) => {
      Loaded = component;
    });
    loading.then(() => draw((count) => count + 1), setProblem);
    return null;
  };
}
