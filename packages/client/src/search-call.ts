import type { SearchOptions } from '@porthole/contract';
import type { Exchange } from './exchange.ts';
import type { ClientDeps, ClientRequest } from './request.ts';
import { rejectPage, sendRequest } from './send-request.ts';

/* Requests for which a node scans logs. */

/** The share of the timeout that the node may scan; the rest is for the network. */
const SCAN_SHARE = 0.8;

/** Opens a response of lines. */
export async function openSearch(
  request: Pick<ClientRequest, 'path' | 'query'>,
  { signal, budgetMs }: SearchOptions,
  deps: ClientDeps,
): Promise<Exchange> {
  // It may scan all that time without finding anything.
  const limits = budgetMs === undefined ? {} : { scanMs: budgetMs, isPaced: true };
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

/** A count is one response: the budget lets the node end it in time, with its coverage. */
export function countLimits({ signal, budgetMs }: SearchOptions, { options: { timeoutMs } }: ClientDeps) {
  return budgetMs === undefined
    ? { signal, budget: { budgetMs: timeoutMs * SCAN_SHARE } }
    : { signal, budget: { budgetMs }, scanMs: budgetMs };
}
