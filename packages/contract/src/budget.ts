import { parseSpan } from './duration-text.ts';
import { given, parameterInvalid, type Query } from './query.ts';

/** How long the one who asks wants to wait at most; the node's own limit holds beside it. */
export function parseBudget(query: Query, { mostMs }: { mostMs: number }): number {
  const text = given(query, 'budget');
  if (text === undefined) return mostMs;
  const budgetMs = parseSpan(text);
  if (!budgetMs) throw parameterInvalid('budget', text, 'a duration like 5s (units ms, s, m, h, d, w) or milliseconds');
  return Math.min(budgetMs, mostMs);
}
