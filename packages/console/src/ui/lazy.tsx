import type { ComponentType } from 'preact';
import { Resource } from '../state/resource.ts';
import { useResource } from './hooks.ts';
import { FailureNote } from './notes.tsx';

/** A component whose script is loaded when it is first shown; nothing is shown until then. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const script = new Resource(load);
  return function LazyComponent(props: Props) {
    const { value: Loaded, failure } = useResource(script);
    if (Loaded) return <Loaded {...props} />;
    if (!failure) return null;
    return <FailureNote what="This part of the page" failure={failure} asOfMs={null} onRetry={() => script.reload()} />;
  };
}
