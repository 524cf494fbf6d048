import { useLayoutEffect } from 'preact/hooks';
import type { Resource, ResourceState } from '../../state/resource.ts';
import { useStore } from './use-store.ts';

/** What a resource has; it is kept fresh as long as the component is shown. Asked for before anything is painted. */
export function useResource<Value>(resource: Resource<Value>): ResourceState<Value> {
  useLayoutEffect(() => resource.watch(), [resource]);
  return useStore(resource.state);
}
