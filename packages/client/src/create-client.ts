import { type ClientOptions, strictOptions } from './client-options.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { HttpNode, type NodeClient } from './http-node.ts';

/** A client for one node. It holds nothing open between questions, so there is nothing to close. */
export function createClient(options: ClientOptions): NodeClient {
  return new HttpNode({ options: strictOptions(options), clock: SYSTEM_CLOCK });
}
