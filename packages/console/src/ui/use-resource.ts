import { useEffect } from 'preact/hooks';
import type { Resource, ResourceState } from '../state/resource.ts';
import { useStore } from './use-store.ts';

/** What a resource has; it is kept fresh as long as the component is shown. */
export function useResource<Value>(resource: Resource<Value>): ResourceState<Value> {
  useEffect(() => resource.watch(), [resource]);
  return useStore(resource.state);
}
