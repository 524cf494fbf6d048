import { describe, expect, it } from 'vitest';
import { describeRefusal } from '../testing/describe-refusal.ts';
import { parseBudget } from './record-requests.ts';

const parse = (text: string) => parseBudget(new URLSearchParams(text), { mostMs: 10_000 });

describe('the budget of a request', () => {
  it.each([
    ['', 10_000],
    ['budget=', 10_000],
    ['budget=5s', 5000],
    ['budget=250', 250],
    ['budget=1h', 10_000],
  ])('%j is %d ms', (text, budgetMs) => {
    expect(parse(text)).toBe(budgetMs);
  });

  it.each(['budget=0', 'budget=soon', 'budget=-1s', 'budget=1.5'])('%j is refused', (text) => {
    expect(describeRefusal(() => parse(text))).toMatch(/^PARAMETER_INVALID: invalid "budget" /);
  });
});
