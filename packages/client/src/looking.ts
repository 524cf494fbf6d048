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
  { signal, budgetMs: lookingMs = 0 }: SearchOptions,
  parts: AskParts,
): Promise<Exchange> {
  // It may look all that time without finding anything to tell.
  const exchange = await askStream({ ...question, signal, lookingMs }, parts);
  try {
    refusePage(exchange);
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
