import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTooLarge, parseBoundedJson } from './bounded-json.ts';

const RUNS = 150;

/** Nested so deep, with brackets in strings that mean nothing. */
const nested = (depth: number) => `${'["]{\\"[",'.repeat(depth - 1)}[]${']'.repeat(depth - 1)}`;

describe('JSON of another node', () => {
  it('is parsed as ever, whatever stands in its strings', () => {
    const text = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\\\', ',', 'ä', 'x') });
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('value')),
        fc.dictionary(text, tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(value, fc.constantFrom('', '['.repeat(300)), (given, filler) => {
        // With a filler there are so many brackets that they are counted one by one.
        const json = JSON.stringify([given, filler]);
        expect(parseBoundedJson(json)).toEqual(JSON.parse(json));
      }),
      { seed: 11, numRuns: runs(RUNS) },
    );
  });

  it('is refused before it is parsed where it is nested too deeply', () => {
    expect(parseBoundedJson(nested(260))).toEqual(JSON.parse(nested(260)));
    expect(() => parseBoundedJson(nested(261))).toThrow(JsonTooLarge);
    // Not even JSON: it would be read to its end to find that out.
    expect(() => parseBoundedJson('['.repeat(1_000_000))).toThrow('nested more than 260 levels deep');
    expect(() => parseBoundedJson('{"a":'.repeat(1_000_000))).toThrow(JsonTooLarge);
  });

  it('is refused where it has too many objects, lists or values', () => {
    const many = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`;
    expect(parseBoundedJson(many('{}', 200_000))).toHaveLength(200_000);
    expect(() => parseBoundedJson(many('{}', 300_000))).toThrow('objects and lists');
    expect(() => parseBoundedJson(many('[]', 300_000))).toThrow('objects and lists');
    expect(() => parseBoundedJson(many('1', 2_200_000))).toThrow('values');
  });

  it('that is no JSON is still that', () => {
    for (const text of ['', '"', '[', '"\\', '{"a"', ']]', 'nul'])
      expect(() => parseBoundedJson(text)).toThrow(SyntaxError);
  });
});
