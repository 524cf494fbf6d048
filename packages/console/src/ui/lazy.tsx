import type { ComponentChildren, ComponentType } from 'preact';
import { Resource } from '../state/resource.ts';
import { useResource } from './hooks.ts';
import { FailureNote } from './notes.tsx';

/** A component whose script is loaded when it is first shown; until then, nothing or what takes its place is shown. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ComponentChildren = null,
): ComponentType<Props> {
  const script = new Resource(load);
  return function LazyComponent(props: Props) {
    const { value: Component, failure, reload } = useResource(script);
    if (Component) return <Component {...props} />;
    if (!failure) return <>{meanwhile}</>;
    return <FailureNote what="This part of the page" failure={failure} asOfMs={null} onRetry={reload} />;
  };
}
