import { FILTERED_FILES, searchItems } from '@porthole/logs/testing';
import type { FoundRecord, TopQuery } from '@porthole/logs/types';
import { expect, it } from 'vitest';
import { LogDirNode } from '../../testing/log-dir-node.ts';
import { snapshot } from '../testing/fake-deps.ts';
import { record } from '../testing/fake-node.ts';
import { SnapshotNode } from './snapshot-node.ts';

const ALL = { order: 'newest', limit: 1000, before: 0, after: 0, raw: true } as const;

const TOPS: readonly Omit<TopQuery, 'limit'>[] = [
  { by: 'level' },
  { by: 'context.level' },
  { by: 'component' },
  { by: 'shard', minLevel: 'WARN' },
  { by: 'message', bucketMs: 86_400_000 },
  { by: 'source', bucketMs: 86_400_000, toMs: 1 },
  { by: 'ids', values: ['1', '3', 'no'] },
];

it('counts and fields of a snapshot are those of the member', async () => {
  const node = new LogDirNode();
  const lines = ['{"shard":13,"ids":[1,1,2]}', '{"shard":13,"level":"x","ids":[]}', '{"shard":130,"ids":[3]}', ''].map(
    (context, second) => `2026-06-01 10:00:0${second}.000\tWARN\ta.go:${second}\tcost=${second}ms\t${context}\n`,
  );
  const files = { ...FILTERED_FILES, 'fields.log': lines.join('') };
  for (const [name, text] of Object.entries(files)) node.write(name, text);
  const records: FoundRecord[] = [];
  for await (const items of searchItems(node.logs, ALL))
    for (const item of items) if (item.type === 'record') records.push(item);
  const gone = new SnapshotNode(snapshot('n', { records }));
  for (const query of TOPS)
    for (const limit of [1, 100]) {
      const { end: _end, ...top } = await node.logs.top({ ...query, limit });
      expect(await gone.logTop({ ...query, limit })).toMatchObject(top);
    }
  for (const limit of [2, 100]) {
    const { end: _end, ...fields } = await node.logs.fields({ limit });
    expect(await gone.logFields({ limit })).toMatchObject(fields);
  }
});

it('a snapshot shows that a group is old, but not that it is new', async () => {
  const at = (timeMs: number, source: string) => record('failed', { timeMs, source, level: 'ERROR' });
  const gone = new SnapshotNode(
    snapshot('n', { records: [at(90, 'fresh.go:1'), at(80, 'old.go:2'), at(10, 'old.go:2')] }),
  );
  const { groups, baseline } = await gone.logDigest({ limit: 9, fromMs: 50, newSinceMs: 50 });
  expect(groups.map(({ source, count, isNew, isNewUnknown }) => [source, count, isNew, isNewUnknown])).toEqual([
    ['fresh.go:1', 1, false, true],
    ['old.go:2', 1, false, undefined],
  ]);
  expect(baseline).toMatchObject({ fromMs: 10, isComplete: false });
  expect((await gone.logDigest({ limit: 9, fromMs: 50, newSinceMs: 50, onlyNew: true })).groups).toHaveLength(1);
});
