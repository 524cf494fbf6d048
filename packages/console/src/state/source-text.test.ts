import { expect, it } from 'vitest';
import { canHaveLabels, formatChoice, parseChoice, toSelection } from './source-text.ts';
import type { SourceChoice } from './view.ts';

const choices = (...texts: string[]): SourceChoice[] => texts.flatMap((text) => parseChoice(text) ?? []);

it.each([
  [[], { nodes: ['*'], labels: ['zone=a'] }],
  [['n1', 'n-*'], { nodes: ['n1', 'n-*'], labels: ['zone=a'] }],
  [['*/a.log'], { nodes: ['*'], labels: ['zone=a'], src: ['a.log'] }],
  [['n1/a.log', 'n2/a.log'], { nodes: ['n1', 'n2'], labels: ['zone=a'], src: ['a.log'] }],
  [['n1/a.log', 'n1/=a.log.1'], { nodes: ['n1'], labels: ['zone=a'], src: ['a.log', '=a.log.1'] }],
  [['n1', 'n1/a.log', 'n2'], { nodes: ['n1', 'n2'], labels: ['zone=a'] }],
  [['n1/a.log', 'n2'], { src: ['n1/a.log', 'n2/*'] }],
  [['n1/a.log', 'n2/=b.log.1'], { src: ['n1/a.log', 'n2/=b.log.1'] }],
])('the choice %j is the selection %j', (texts, selection) => {
  const sources = choices(...texts);
  expect(toSelection({ sources, labels: ['zone=a'] })).toEqual(selection);
  expect(canHaveLabels(sources)).toBe('labels' in selection);
  expect(sources.map(formatChoice)).toEqual(texts);
});
