import { parseSpan } from '../time/duration-text.ts';
import { optionalValue, parameterInvalid, type Query } from './query.ts';

/** How long the one who asks wants to wait at most; the node's own limit holds beside it. */
export function parseBudget(query: Query, { mostMs }: { mostMs: number }): number {
  const text = optionalValue(query, 'budget');
  if (text === undefined) return mostMs;
  const budgetMs = parseSpan(text);
  if (!budgetMs) throw parameterInvalid('budget', text, 'a duration like 5s (units ms, s, m, h, d, w) or milliseconds');
  return Math.min(budgetMs, mostMs);
}
