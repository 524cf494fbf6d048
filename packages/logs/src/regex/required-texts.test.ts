import { expect, test } from 'vitest';
import { RegexPrefilter } from './prefilter.ts';

const required: [string, string[][]][] = [
  ['timeout', [['timeout']]],
  ['Timeout (of|for) node', [['timeout of node', 'timeout for node']]],
  [
    '(?:foo|bar)+qux?',
    [
      ['qu', 'qux'],
      ['foo', 'bar'],
    ],
  ],
  ['a{3}b{2,}c', [['aaa'], ['b'], ['c']]],
  ['(panic|error): .*', [['panic: ', 'error: ']]],
  ['x|', []],
  ['\\d+', []],
  ['(a*|b)c?', []],
  // K and S have equivalents beyond ASCII.
  ['disk full', [[' full'], ['di']]],
  ['(?-i)disk full', [['disk full']]],
  ['caf\u00e9 au lait', [[' au lait'], ['caf']]],
  // Unsupported syntax: nothing is required.
  ['\\pLfoo', []],
  ['\\Qfoo\\E', []],
];

test.each(required)('%s requires %j', (pattern, sets) => {
  const { textSets } = new RegexPrefilter(pattern);
  const sorted = (texts: readonly (readonly string[])[]) => texts.map((set) => [...set].sort().join('|')).sort();
  expect(sorted(textSets)).toEqual(sorted(sets));
});
