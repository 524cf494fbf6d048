import type { NodeClient } from '@porthole/client';
import type { NodeDescription } from '@porthole/contract';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';

/** What a node that knows queries by field can do; older ones would ignore the query and return every record. */
const SINCE_QUERIES = 'logTop';

export function requireQueries(invocation: Invocation, { url }: NodeClient, { capabilities }: NodeDescription): void {
  if (invocation.text('query') === undefined || capabilities.includes(SINCE_QUERIES)) return;
  throw new ProgramError(`the node at ${url} does not support --query; update it, or use --grep, --level and --regex`);
}
