import { parseQuery } from '@porthole/contract';
import type { QueryNode } from '@porthole/logs/types';
import type { QueryCondition } from './client-requests.ts';

type Parsed<Request> = Omit<Request, 'query'> & { query?: QueryNode };

/** The request with its query parsed: a mistake in its text is thrown before anything is sent. */
export function parseRequest<Request extends QueryCondition>(request: Request): Parsed<Request> {
  const { query, ...others } = request;
  const node = typeof query === 'string' ? parseQuery(query) : query;
  return { ...others, ...(node !== undefined && { query: node }) };
}
