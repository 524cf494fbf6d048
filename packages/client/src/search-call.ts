import type { SearchOptions } from '@porthole/contract';
import type { Exchange } from './exchange.ts';
import type { ClientDeps, ClientRequest } from './request.ts';
import { rejectPage, sendRequest } from './send-request.ts';

/* Questions for which a node looks at logs, which takes a time of its own. */

/** Of the time for an answer, what a node may look at logs; the rest is for the way. */
const SCAN_SHARE = 0.8;

/** An answer that comes line by line. */
export async function openSearch(
  request: Pick<ClientRequest, 'path' | 'query'>,
  { signal, budgetMs }: SearchOptions,
  deps: ClientDeps,
): Promise<Exchange> {
  // It may look all that time without finding anything to tell.
  const limits = budgetMs === undefined ? {} : { lookingMs: budgetMs, isPaced: true };
  const exchange = await sendRequest({ ...request, signal, ...limits }, deps);
  try {
    rejectPage(exchange);
    if (exchange.contentType !== 'application/x-ndjson')
      throw exchange.badResponse(`the response of ${exchange.path} is not a stream of records`);
    return exchange;
  } catch (error) {
    exchange.close();
    throw error;
  }
}

/** A count comes as a whole: the node is told to end it in time, and to tell how far it came. */
export function countLimits({ signal, budgetMs }: SearchOptions, { options: { timeoutMs } }: ClientDeps) {
  return budgetMs === undefined
    ? { signal, budget: { budgetMs: timeoutMs * SCAN_SHARE } }
    : { signal, budget: { budgetMs }, lookingMs: budgetMs };
}
