import type { FunctionComponent } from 'preact';
import { Resource } from '../state/resource.ts';
import { useResource } from './hooks.ts';
import { FailureNote, Loading } from './notes.tsx';

/** A component whose script is loaded when it is first shown. `what` names it while it loads, and if that fails. */
export function lazy<Props extends object>(
  what: string,
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const script = new Resource(load);
  return function LazyComponent(props: Props) {
    const { value: Shown, asOfMs, failure } = useResource(script);
    if (Shown) return <Shown {...props} />;
    return failure ? (
      <FailureNote what={`The ${what}`} failure={failure} asOfMs={asOfMs} onRetry={() => script.reload()} />
    ) : (
      <Loading what={`the ${what}`} />
    );
  };
}
