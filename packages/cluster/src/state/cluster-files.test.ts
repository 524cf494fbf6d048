import { expect, it } from 'vitest';
import { clusterFiles } from './cluster-files.ts';
import { fakeDeps } from './testing/fake-deps.ts';
import { fakeNode, file, hang } from './testing/fake-node.ts';

it('files of all members are listed with their member, in the time of this node', async () => {
  const deps = fakeDeps({
    states: { ahead: fakeNode({ logFiles: async () => [file()] }), silent: fakeNode({ logFiles: hang }) },
    clocks: { ahead: { offsetMs: 500.4, uncertaintyMs: 1 } },
    timeoutMs: 20,
  });
  const { files, members } = await clusterFiles(deps, {});
  expect(files).toEqual([{ ...file(), node: 'ahead', modifiedMs: 2500, firstTimeMs: 500, lastTimeMs: 1500 }]);
  expect(members).toMatchObject([
    { id: 'ahead', outcome: 'ok', count: 1 },
    { id: 'silent', outcome: 'timeout', count: 0 },
  ]);
});

it('a contract-only member has names and sizes, and what follows from the names', async () => {
  const entries = [
    { name: 'lindb-2026-11-15T00-21-26.600.log', size: 7 },
    { name: 'lindb.log', size: 9 },
    { name: 'none.log', size: 0 },
  ];
  const { files, members } = await clusterFiles(
    fakeDeps({ states: { a: fakeNode({ listLogs: async () => entries }) } }),
    {},
  );
  expect(files.map(({ name, family, state, format, modifiedMs }) => [name, family, state, format, modifiedMs])).toEqual(
    [
      ['lindb-2026-11-15T00-21-26.600.log', 'lindb.log', 'rotated', 'unreadable', null],
      ['lindb.log', 'lindb.log', 'live', 'unreadable', null],
      ['none.log', 'none.log', 'live', 'empty', null],
    ],
  );
  expect(members).toMatchObject([{ outcome: 'ok', count: 3 }]);
});

it('members with more files than fit are reported as partial', async () => {
  const many = Array.from({ length: 100_001 }, (_, at) => ({ ...file(), name: `${at}.log` }));
  const state = fakeNode({ logFiles: async () => many });
  const { files, members } = await clusterFiles(
    fakeDeps({ states: { a: state, b: state, c: state, d: state, e: state } }),
    {},
  );
  expect(files).toHaveLength(400_000);
  expect(members.map(({ count, isPartial }) => [count, isPartial])).toEqual([
    ...Array(4).fill([100_000, true]),
    [0, true],
  ]);
  expect(members[4]?.detail).toBe('only 0 of 100001 files listed');
});
