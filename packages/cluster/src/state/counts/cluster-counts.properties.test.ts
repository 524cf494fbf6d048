import type { NodeState } from '@porthole/contract';
import { scaled } from '@porthole/logs/testing';
import type { Top, TopQuery } from '@porthole/logs/types';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LogDirNode } from '../../testing/log-dir-node.ts';
import { fakeDeps } from '../testing/fake-deps.ts';
import { fakeNode } from '../testing/fake-node.ts';
import { clusterFields } from './cluster-fields.ts';
import { clusterTop } from './cluster-top.ts';

const START_MS = Date.UTC(2026, 5, 1, 10);
const RANGE = { fromMs: START_MS, toMs: START_MS + 60_000, src: ['=a.log'] };

/** A record: how long after the start, and what it contains. */
const record = fc.record({
  atMs: fc.nat({ max: 59_999 }),
  level: fc.constantFrom('INFO', 'WARN', 'ERROR'),
  context: fc.record(
    { shard: fc.constantFrom(1, 13, 130, '13'), ids: fc.subarray([1, 2, 3]), 'http.status': fc.constantFrom(200, 500) },
    { requiredKeys: [] },
  ),
});

type LoggedRecord = ReturnType<typeof record.generate>['value'];

const TOPS: readonly Omit<TopQuery, 'limit'>[] = [
  { by: 'shard' },
  { by: 'level', buckets: 6 },
  { by: 'ids', query: { kind: 'field', field: 'shard', operator: '=', value: '13' } },
  { by: 'http.status', minLevel: 'WARN', bucketMs: 10_000 },
];

function logText(records: readonly LoggedRecord[]): string {
  return records
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, level, context }) => {
      const time = new Date(START_MS + atMs).toISOString().replace('T', ' ').replace('Z', '');
      return `${time}\t${level}\ta.go:1\tdone\t${JSON.stringify(context)}\n`;
    })
    .join('');
}

function counting({ logs }: LogDirNode): NodeState {
  return fakeNode({
    logTop: (query, options) => logs.top(query, options),
    logFields: (query, options) => logs.fields(query, options),
  });
}

it('counts and fields of a cluster are those of one node with the logs of all', async () => {
  const nodes = [new LogDirNode(), new LogDirNode()];
  const whole = new LogDirNode();
  const [a, b] = nodes.map(counting);
  // What a member has not counted by then is missing: a busy machine must not make it late.
  const deps = fakeDeps({ states: { ...(a && { a }), ...(b && { b }) }, timeoutMs: scaled(600_000) });
  await fc.assert(
    fc.asyncProperty(fc.tuple(fc.array(record), fc.array(record)), async (parts) => {
      for (const [index, records] of parts.entries()) nodes[index]?.write('a.log', logText(records));
      whole.write('a.log', logText(parts.flat()));
      for (const query of TOPS)
        for (const limit of [1, 10]) {
          const { end: _end, ...expected }: Top = await whole.logs.top({ ...RANGE, ...query, limit });
          const { values, members, counted, ...top } = await clusterTop(deps, { ...RANGE, ...query, limit });
          expect({ ...top, values: values.map(({ nodes: _nodes, ...value }) => value) }).toEqual(expected);
          expect([members.map(({ outcome }) => outcome), counted]).toEqual([['ok', 'ok'], null]);
        }
      const expected = await whole.logs.fields({ ...RANGE, limit: 100 });
      const found = await clusterFields(deps, { ...RANGE, limit: 100 });
      const names = ({ fields }: { fields: { name: string; records: number }[] }) =>
        fields.map(({ name, records }) => [name, records]);
      expect([names(found), found.records, found.totalFields]).toEqual([
        names(expected),
        expected.records,
        expected.totalFields,
      ]);
    }),
    { numRuns: runs(3) },
  );
});
