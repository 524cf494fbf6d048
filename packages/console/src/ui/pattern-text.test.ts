import { expect, it } from 'vitest';
import { patternParts } from './pattern-text.ts';

const sample = { message: '' } as Parameters<typeof patternParts>[0]['sample'];

it.each([
  ['connection * closed', ['connection ', ' closed']],
  ['* connections opened', ['', ' connections opened']],
  ['* - - [* *] "GET /orders/* HTTP/*" * *', ['', ' "GET /orders/', ' HTTP/', '" ', '']],
  ['* * *', ['', '']],
  ['- - done', ['- - done']],
])('the parts of %s', (shape, parts) => {
  expect(patternParts({ shape, sample })).toEqual(parts);
});

it('without a shape, the numbers of a message are what varies', () => {
  const message = 'took 17 ms\nand more';
  expect(patternParts({ shape: null, sample: { ...sample, message } })).toEqual(['took ', ' ms']);
});
