import { isDistinctMinimum } from '@porthole/contract';
import type { FieldSummary, Fields } from '@porthole/logs/types';
import { expect, it } from 'vitest';
import { fakeDeps } from '../testing/fake-deps.ts';
import { end, fakeNode } from '../testing/fake-node.ts';
import { clusterFields } from './cluster-fields.ts';

const { type: _type, cursor: _cursor, ...END } = end();

function field(name: string, given: Partial<FieldSummary> = {}): FieldSummary {
  return { name, types: ['text'], records: 1, distinct: 1, isDistinctExact: true, examples: ['x'], ...given };
}

function nodeWith(fields: readonly FieldSummary[], given: Partial<Fields> = {}) {
  const whole = { fields: [...fields], totalFields: fields.length, records: 10, isSample: false, end: END, ...given };
  return fakeNode({ logFields: async () => whole });
}

it('a field of several members is one, with the share of each; its number of values is a minimum then', async () => {
  const a = nodeWith([
    field('shard', { types: ['number'], records: 8, distinct: 3, examples: ['13', '7'] }),
    field('cost', { types: ['duration'], records: 2 }),
  ]);
  const b = nodeWith(
    [field('shard', { types: ['text', 'number'], records: 2, distinct: 5, examples: ['7', 'none'] })],
    {
      isSample: true,
      totalFields: 40,
    },
  );
  expect(await clusterFields(fakeDeps({ states: { a, b } }), { limit: 10 })).toEqual({
    fields: [
      {
        name: 'shard',
        types: ['number', 'text'],
        records: 10,
        distinct: 5,
        isDistinctExact: false,
        examples: ['13', '7', 'none'],
        nodes: { a: 8, b: 2 },
      },
      { ...field('cost', { types: ['duration'], records: 2 }), nodes: { a: 2 } },
    ],
    totalFields: 40,
    records: 20,
    isSample: true,
    counted: null,
    members: [expect.objectContaining({ id: 'a', count: 10 }), expect.objectContaining({ id: 'b', count: 10 })],
  });
});

it('the number of values is exact where all members show all of theirs, and a minimum otherwise', async () => {
  const all = { distinct: 2, examples: ['x', 'y'] };
  const a = nodeWith([field('level', all), field('trace', all), field('cut', { examples: ['x…'] }), field('one', all)]);
  const b = nodeWith([
    field('level', { distinct: 2, examples: ['y', 'z'] }),
    field('trace', { distinct: 900, examples: ['z'] }),
    field('cut', { examples: ['x…'] }),
  ]);
  const { fields } = await clusterFields(fakeDeps({ states: { a, b } }), { limit: 10 });
  const counts = fields.map((each) => [each.name, each.distinct, each.isDistinctExact, isDistinctMinimum(each)]);
  expect(counts.sort()).toEqual([
    ['cut', 1, false, true],
    ['level', 3, true, false],
    ['one', 2, true, false],
    ['trace', 900, false, true],
  ]);
});

it('members are asked for more fields than are returned; one without the route or with an invalid response is reported and left out', async () => {
  const limits: number[] = [];
  const a = fakeNode({
    async logFields({ limit }) {
      limits.push(limit);
      return { fields: [field('x'), field('y')], totalFields: 2, records: 1, isSample: false, end: END };
    },
  });
  const odd = nodeWith([field('z', { records: -1 })]);
  const deps = fakeDeps({ states: { a, b: fakeNode(), odd } });
  const { fields, totalFields, members } = await clusterFields(deps, { limit: 1 });
  expect(fields.map(({ name }) => name)).toEqual(['x']);
  expect([totalFields, limits]).toEqual([2, [1000]]);
  expect(members.map(({ outcome }) => outcome)).toEqual(['ok', 'not supported', 'version']);
});
