import { describe, expect, it } from 'vitest';
import { isLabelPattern, MAX_LABELS, matchesLabels, parseLabel, readLabels } from './labels.ts';

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

describe('members selected by labels', () => {
  const labels = { zone: 'eu-1', rack: '7' };
  it.each<[string[], boolean]>([
    [[], true],
    [['zone=eu-1'], true],
    [['zone=eu-*'], true],
    [['zone=eu-?', 'rack=7'], true],
    [['zone=us-1', 'zone=eu-1'], true],
    [['zone=us-1'], false],
    [['zone=eu-1', 'rack=8'], false],
    [['disk=ssd'], false],
    [['constructor=*'], false],
  ])('%j: %s', (patterns, isSelected) => expect(matchesLabels(labels, patterns)).toBe(isSelected));

  it.each(['zone', '=a', 'zone=', 'zone=a b', 'zone=a=b', '__proto__=*', `zone=${'*'.repeat(65)}`])(
    '%j is no pattern',
    (text) => expect(isLabelPattern(text)).toBe(false),
  );
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
