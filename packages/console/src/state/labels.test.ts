import { describe, expect, test } from 'vitest';
import {
  groupByLabel,
  hasLabels,
  labelNameProblem,
  labelNames,
  labelProblem,
  offeredLabels,
  parseLabelName,
  parseLabels,
  toggleLabel,
} from './labels.ts';

const node = (id: string, labels?: Record<string, string>) => ({ id, ...(labels && { labels }) });
const NODES = [
  node('a', { zone: 'eu-2', rack: '10' }),
  node('b', { zone: 'eu-1', rack: '2' }),
  node('c'),
  node('d', { zone: 'eu-1' }),
];
const ids = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => id).join('');

describe('labels of nodes', () => {
  test('group them by value, those without the label last', () => {
    const groups = groupByLabel(NODES, 'zone').map(({ label, nodes }) => [label, ids(nodes)]);
    expect(groups).toEqual([
      ['zone=eu-1', 'bd'],
      ['zone=eu-2', 'a'],
      [null, 'c'],
    ]);
    expect(groupByLabel(NODES, 'rack').map(({ label }) => label)).toEqual(['rack=2', 'rack=10', null]);
    expect(groupByLabel(NODES, null)).toEqual([{ label: null, nodes: NODES }]);
    expect(groupByLabel(NODES, 'constructor')).toHaveLength(1);
    expect(groupByLabel([], 'zone')).toEqual([]);
  });

  test('select them: of each name one value must match', () => {
    const found = (...labels: string[]) => ids(NODES.filter((each) => hasLabels(each, labels)));
    expect(found()).toBe('abcd');
    expect(found('zone=eu-1')).toBe('bd');
    expect(found('zone=eu-1', 'zone=eu-2')).toBe('abd');
    expect(found('zone=eu-*', 'rack=2')).toBe('b');
    expect(found('row=1')).toBe('');
    expect(hasLabels({ id: 'e', labels: {}, role: 'unknown' }, ['zone=eu-1'])).toBe(true);
  });

  test('are offered sorted, each once', () => {
    expect(labelNames(NODES)).toEqual(['rack', 'zone']);
    expect(offeredLabels(NODES)).toEqual(['rack=2', 'rack=10', 'zone=eu-1', 'zone=eu-2']);
    const many = Array.from({ length: 500 }, (_, index) => node(`n${index}`, { rack: `${index}` }));
    expect(offeredLabels(many)).toHaveLength(200);
  });

  test('of a URL are used if they are valid', () => {
    const query = new URLSearchParams('label=zone=eu-*&label=nonsense&label=zone=eu-*&label=__proto__=1&label=rack=7');
    expect(parseLabels(query)).toEqual(['zone=eu-*', 'rack=7']);
    expect([labelProblem('zone=a'), labelProblem('zone')]).toEqual([null, expect.stringContaining('NAME=VALUE')]);
    expect([parseLabelName('zone'), parseLabelName('a b'), parseLabelName(null)]).toEqual(['zone', null, null]);
    expect([labelNameProblem('zone'), labelNameProblem('')]).toEqual([
      null,
      expect.stringContaining('name of a label'),
    ]);
  });

  test('are added to the filter and removed from it', () => {
    expect(toggleLabel(['zone=a'], 'rack=7')).toEqual(['zone=a', 'rack=7']);
    expect(toggleLabel(['zone=a', 'rack=7'], 'zone=a')).toEqual(['rack=7']);
  });
});
