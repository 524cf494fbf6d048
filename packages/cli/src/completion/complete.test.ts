import { expect, it } from 'vitest';
import { splitLine } from './complete.ts';

it.each([
  ['porthole', [], 'porthole'],
  ['porthole ', [], ''],
  ['porthole logs -c prod a', ['logs', '-c', 'prod'], 'a'],
  ['porthole logs "a b" ', ['logs', 'a b'], ''],
  ["porthole logs 'it\"s' x\\ y z", ['logs', 'it"s', 'x y'], 'z'],
  ['porthole logs "open', ['logs'], 'open'],
  ['porthole logs a\\ ', ['logs'], 'a '],
  ['porthole logs --url="http://a" b:c', ['logs', '--url=http://a'], 'b:c'],
  ['', [], ''],
])('splits %j', (line, words, last) => {
  expect(splitLine(line)).toEqual({ words, last });
});
