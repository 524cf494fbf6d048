import type { SearchOptions } from '@porthole/contract';
import { askStream, refusePage } from './ask.ts';
import type { Exchange } from './exchange.ts';
import type { AskParts, Question } from './question.ts';

/* Questions for which a node looks at logs, which takes a time of its own. */

/** Of the time for an answer, what a node may look at logs; the rest is for the way. */
const LOOKING_SHARE = 0.8;

/** An answer that comes line by line. */
export async function openSearch(
  question: Pick<Question, 'path' | 'query'>,
  { signal, budgetMs }: SearchOptions,
  parts: AskParts,
): Promise<Exchange> {
  // It may look all that time without finding anything to tell.
  const limits = budgetMs === undefined ? {} : { lookingMs: budgetMs, isPaced: true };
  const exchange = await askStream({ ...question, signal, ...limits }, parts);
  try {
    refusePage(exchange);
    if (exchange.contentType !== 'application/x-ndjson')
      throw exchange.badAnswer(`the response of ${exchange.path} is not a stream of records`);
    return exchange;
  } catch (error) {
    exchange.close();
    throw error;
  }
}

/** A count comes as a whole: the node is told to end it in time, and to tell how far it came. */
export function countLimits({ signal, budgetMs }: SearchOptions, { options: { timeoutMs } }: AskParts) {
  return budgetMs === undefined
    ? { signal, budget: { budgetMs: timeoutMs * LOOKING_SHARE } }
    : { signal, budget: { budgetMs }, lookingMs: budgetMs };
}
