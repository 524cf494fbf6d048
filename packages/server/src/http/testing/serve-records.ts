import type { NodeState } from '@porthole/contract';
import { createRecordRoutes } from '../routes/record-routes.ts';
import { type Served, type ServeOptions, serveRoutes } from './serve-routes.ts';

export type { ServeOptions };

/** The record routes on a port of their own, in front of whatever answers them; stopped when the test ends. */
export function serveRecords(
  state: Partial<Pick<NodeState, 'search' | 'followLogs' | 'logHistogram' | 'logDigest' | 'logFields' | 'logTop'>>,
  options?: ServeOptions,
): Promise<Served> {
  return serveRoutes((policy) => ({ routes: createRecordRoutes(state as NodeState, policy) }), options);
}
