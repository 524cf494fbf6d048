import type { QueryNode } from '@porthole/logs/query';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PortholeError } from '../errors/errors.ts';
import { randomQuery, randomQueryText, randomTerm } from '../testing/random-query.ts';
import { readExplanation } from '../testing/read-explanation.ts';
import { explainQuery } from './explain-query.ts';
import { formatQuery } from './format-query.ts';
import { addTerm, parseQuery } from './parse-query.ts';
import { queryContext } from './query-context.ts';

it('a query is formatted as a text that is parsed as the same query', () => {
  fc.assert(
    fc.property(randomQuery, (query) => {
      const text = formatQuery(query);
      const parsed = parseQuery(text);
      expect(parsed, text).toEqual(query);
      expect(parsed && formatQuery(parsed)).toBe(text);
    }),
    { numRuns: runs(250) },
  );
});

it('the words of a query can be read in one way only', () => {
  fc.assert(
    fc.property(randomQuery, (query) => {
      const words = explainQuery(query);
      expect(readExplanation(words), words).toEqual(query);
    }),
    { numRuns: runs(250) },
  );
});

it('any text is a query, or refused at a character of it', () => {
  fc.assert(
    fc.property(randomQueryText, fc.nat(40), (text, caret) => {
      const query = parseOrRefusal(text);
      if (query instanceof PortholeError) {
        expect(query.code).toBe('QUERY_INVALID');
        expect(query.position).toBeGreaterThanOrEqual(0);
        expect(query.position).toBeLessThanOrEqual(text.length);
      } else if (query !== undefined) expect(parseQuery(formatQuery(query))).toEqual(query);
      const { start, end } = queryContext(text, Math.min(caret, text.length));
      expect(0 <= start && start <= end && end <= text.length).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

it('an added condition is there once, and excluding it replaces it', () => {
  fc.assert(
    fc.property(randomQuery, randomTerm, (query, added) => {
      const once = parseOrRefusal(formatQuery(query), (text) => addTerm(text, added, 'include'));
      if (once instanceof PortholeError) return; // it exceeds a limit
      expect(addTerm(once, added, 'include')).toBe(once);
      expect(conditions(once)).toContainEqual(added);
      const excluded = addTerm(once, added, 'exclude');
      expect(addTerm(excluded, added, 'exclude')).toBe(excluded);
      expect(conditions(excluded)).toContainEqual({ kind: 'not', node: added });
      expect(conditions(excluded)).not.toContainEqual(added);
    }),
    { numRuns: runs(125) },
  );
});

function conditions(text: string): readonly (QueryNode | undefined)[] {
  const query = parseQuery(text);
  return query?.kind === 'and' ? query.nodes : [query];
}

function parseOrRefusal<Result>(text: string, parse: (text: string) => Result): Result | PortholeError;
function parseOrRefusal(text: string): ReturnType<typeof parseQuery> | PortholeError;
function parseOrRefusal(text: string, parse: (text: string) => unknown = parseQuery): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof PortholeError) return error;
    throw error;
  }
}
