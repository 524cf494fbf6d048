import { describe, expect, it } from 'vitest';
import { matchesPattern } from './match-pattern.ts';

describe('a pattern', () => {
  it.each([
    ['broker-1', 'broker-1', true],
    ['broker-1', 'broker-*', true],
    ['broker-1', 'broker-?', true],
    ['broker-12', 'broker-?', false],
    ['broker-1', '*', true],
    ['broker-1', '**1', true],
    ['broker-1', 'b*r*1', true],
    ['broker-1', 'b*x*1', false],
    ['abab', '*ab', true],
    ['aab', 'a?b*', true],
    ['a.b', 'a.b', true],
    ['axb', 'a.b', false],
    ['Broker', 'broker', false],
    ['a', '', false],
    ['a', '?*?', false],
  ])('%s against %s: %s', (name, pattern, expected) => {
    expect(matchesPattern(name, pattern)).toBe(expected);
  });
});
