import { describe, expect, test } from 'vitest';
import { groupByLabel, groupedBy, hasLabels, labelNames, labelProblem, offeredLabels, parseLabels } from './labels.ts';

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
    const texts = ['zone=eu-*', 'nonsense', 'zone=eu-*', '__proto__=1', 'rack=7'];
    expect(parseLabels(texts)).toEqual(['zone=eu-*', 'rack=7']);
    expect([labelProblem('zone=a'), labelProblem('zone')]).toEqual([null, expect.stringContaining('NAME=VALUE')]);
  });

  test('group many nodes by role, or by zone if that is all there is to tell them apart', () => {
    const many = (roles: readonly string[], zones: readonly string[]) =>
      Array.from({ length: 13 }, (_, index) => ({
        ...node(`n${index}`, { zone: zones[index % zones.length] ?? '' }),
        role: roles[index % roles.length] ?? '',
      }));
    const mixed = many(['broker', 'storage'], ['eu-1', 'eu-2']);
    expect([groupedBy(mixed, null), groupedBy(mixed.slice(1), null)]).toEqual(['role', null]);
    expect(groupedBy(many(['broker'], ['eu-1', 'eu-2']), null)).toBe('zone');
    expect(groupedBy(many(['broker'], ['eu-1']), null)).toBeNull();
    expect([groupedBy(mixed, 'none'), groupedBy(mixed, 'zone')]).toEqual([null, 'zone']);
    const urgent = groupByLabel(mixed, 'role', (own) => own.some(({ id }) => id === 'n1'));
    expect(urgent.map(({ label }) => label)).toEqual(['role=storage', 'role=broker']);
  });
});
