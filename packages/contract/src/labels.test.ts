import { describe, expect, it } from 'vitest';
import { MAX_LABELS, parseLabel, readLabels } from './labels.ts';

describe('a label', () => {
  it.each([
    ['zone=a', ['zone', 'a']],
    ['topology.kubernetes.io/zone=eu-west-1a', ['topology.kubernetes.io/zone', 'eu-west-1a']],
    ['url=http://x:1', ['url', 'http://x:1']],
  ])('%s', (text, label) => expect(parseLabel(text)).toEqual(label));

  it.each([
    '',
    'zone',
    'zone=',
    '=a',
    '1=a',
    'zo ne=a',
    'zone=a b',
    'zone=a,b',
    'zone=a=b',
    '__proto__=a',
    'constructor=a',
  ])('is not %j', (text) => expect(parseLabel(text)).toBeUndefined());
});

describe('labels from outside', () => {
  it('are ordered by name, and invalid ones are left out', () => {
    const given = JSON.parse(
      '{"zone":"a","rack":"7","__proto__":"x","bad name":"x","n":1,"o":{},"empty":"","long":""}',
    );
    given.long = 'x'.repeat(65);
    expect(Object.entries(readLabels(given))).toEqual([
      ['rack', '7'],
      ['zone', 'a'],
    ]);
  });

  it.each([undefined, null, 'zone=a', 7, ['zone=a'], []])('are none if they are %j', (given) =>
    expect(readLabels(given)).toEqual({}),
  );

  it('are limited in number and size', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`n${at}`, 'x']));
    expect(Object.keys(readLabels(many))).toHaveLength(MAX_LABELS);
    const large = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`n${at}`, 'x'.repeat(64)]));
    expect(JSON.stringify(readLabels(large)).length).toBeLessThan(620);
  });
});
