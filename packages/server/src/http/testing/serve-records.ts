import type { NodeState } from '@porthole/contract';
import { createRecordRoutes } from '../routes/record-routes.ts';
import { Scope } from '../routes/scope.ts';
import { type Served, type ServeOptions, serveRoutes } from './serve-routes.ts';

export type { ServeOptions };

/** The record routes on a port of their own, in front of whatever answers them; stopped when the test ends. */
export function serveRecords(
  state: Partial<Pick<NodeState, 'search' | 'followLogs' | 'logHistogram' | 'logDigest' | 'logFields' | 'logTop'>>,
  options?: ServeOptions,
): Promise<Served> {
  const node = state as NodeState;
  const scope = new Scope(node, undefined, async () => 'self');
  return serveRoutes((policy) => ({ routes: createRecordRoutes(node, scope, policy) }), options);
}
