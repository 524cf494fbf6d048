import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeState } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import type { FollowItem, FollowQuery, FoundRecord } from '@porthole/logs/types';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { MemberNode } from '../contract-only/member-node.ts';
import { recordedReport } from '../state/query-members.ts';
import { member, NOW_MS, profile } from '../state/testing/fake-deps.ts';
import { description } from '../state/testing/fake-node.ts';
import { collectResponse } from '../testing/collect-response.ts';
import { LogDirNode, logLines } from '../testing/log-dir-node.ts';
import { PassedRecords } from './passed-records.ts';
import { Recorder } from './recorder.ts';
import { Recordings } from './recordings.ts';

const ALL = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;

/** A member that others record, and a node that it is followed through. */
function startWorld() {
  const node = new LogDirNode();
  Object.assign(node, {
    describe: async () => description({ timeZone: 'UTC' }),
    followLogs: node.logs.follow.bind(node.logs),
  });
  const dir = tempDir();
  const world = { isRecorded: false };
  const clocks = { of: () => ({ offsetMs: 0, uncertaintyMs: 1 }) };
  const nowMs = () => Date.now();
  const peer = { member: member('m'), state: node as NodeState, forget: async () => 0, hasFailed: false };
  const peers = { all: () => [peer], get: () => peer };
  const recordings = new Recordings({
    ...{ dir, limits: { maxBytes: 1_000_000, maxMs: 3_600_000 }, peers, clocks, selfId: 'self' },
    profiles: { get: () => profile('m'), asOfMs: () => NOW_MS, getDeparted: () => null },
    ...{ recorders: { askedFor: () => [] }, zone: createZone('Asia/Tokyo'), timeoutMs: 1000, nowMs },
  });
  const reported: string[] = [];
  const report = (problem: string) => void reported.push(problem);
  const passed = new PassedRecords({ recordings, isRecorded: () => world.isRecorded, clocks, report, nowMs });
  const recorder = new Recorder({
    ...{ recordings, peers, clocks, recorders: { records: () => world.isRecorded, askedFor: () => [] } },
    ...{ directory: { onChange: () => () => {} }, report, nowMs },
  });
  const createContractNode = () => {
    throw new Error('it is not contract-only');
  };
  const keeperFor = (request: FollowQuery) => passed.keeperFor('m', request);
  const followed = new MemberNode({ client: node, createContractNode, keeperFor });
  onTestFinished(async () => {
    await recorder.close();
    await recordings.close();
  });
  const kept = async () => {
    const state = (await recordings.find('m'))?.state;
    return state ? (await collectResponse(state.search(ALL) as never)).records : [];
  };
  return Object.assign(world, { node, dir, recordings, recorder, followed, reported, kept });
}

function follow(node: NodeState, query: Partial<FollowQuery> = {}) {
  const records: FoundRecord[] = [];
  const leaving = new AbortController();
  const run = async () => {
    const request = { start: { back: 2 }, ...query };
    for await (const items of node.followLogs(request, { signal: leaving.signal }))
      records.push(...items.filter((item: FollowItem): item is FoundRecord => item.type === 'record'));
  };
  const done = run();
  const stop = async () => {
    leaving.abort();
    await done;
  };
  onTestFinished(stop);
  return { records, stop };
}

const recent = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => Date.now() - 60_000 + from + index);
const messages = (records: readonly FoundRecord[]) => records.map(({ message }) => message);

it('what somebody follows is kept once, with its cursors, as something that is not complete', async () => {
  const { node, followed, recordings, kept, dir, reported } = startWorld();
  node.write('app.log', logLines('old', recent(0, 5)));
  const first = follow(followed);
  await eventually(() => expect(messages(first.records)).toEqual(['old-3', 'old-4']));
  const second = follow(followed, { start: { back: 4 } });
  await eventually(() => expect(second.records).toHaveLength(4));
  node.append('app.log', logLines('new', recent(100, 3)));
  await eventually(() => expect([first.records, second.records].map(({ length }) => length)).toEqual([5, 7]));
  // The text was only for the recording.
  expect(first.records.filter(({ raw }) => raw !== undefined)).toEqual([]);
  await eventually(async () => expect(messages(await kept())).toEqual(messages(first.records)));
  const pick = ({ file, offset, cursor, timeMs }: FoundRecord) => ({ file, offset, cursor, timeMs });
  expect((await kept()).map(pick)).toEqual(first.records.map(pick));
  for (const entry of readdirSync(join(dir, 'm'), { recursive: true, withFileTypes: true }))
    expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077, entry.name).toBe(0);

  await first.stop();
  node.append('app.log', logLines('later', recent(200, 2)));
  await eventually(async () =>
    expect(messages(await kept())).toEqual([...messages(first.records), 'later-0', 'later-1']),
  );
  const recorded = recordings.known('m');
  expect(recorded).toMatchObject({
    recordedBy: 'self',
    missingMs: null,
    label: expect.stringMatching(/^recorded by self only as it was followed there, until [\d:.]+$/),
  });
  const { end } = await collectResponse(recordings.member('m').search(ALL) as never);
  expect(end).toMatchObject({ coveredFromMs: null, coveredToMs: null, limits: expect.stringContaining('followed') });
  const silent = { id: 'm', outcome: 'left', detail: null, elapsedMs: 0, count: 0, asOfMs: null } as const;
  expect(recorded && recordedReport(silent, recorded)).toMatchObject({ recordedBy: 'self', isPartial: true });
  expect(reported).toEqual([]);
});

it('a follow without a filter is kept rather than one with a filter', async () => {
  const { node, followed, kept } = startWorld();
  node.write('app.log', logLines('a', recent(0, 3)));
  const filtered = follow(followed, { start: 'end', terms: ['b-1'] });
  await eventually(() => expect(filtered.records).toEqual([]));
  follow(followed, { start: 'end' });
  await eventually(async () => {
    node.append('app.log', logLines('b', recent(100, 3)));
    expect(messages(await kept())).toContain('b-2');
  });
});

it('what this node records itself is not kept twice, and replaces what has passed through', async () => {
  const world = startWorld();
  const { node, followed, recordings, recorder, kept } = world;
  node.write('app.log', logLines('a', recent(0, 5)));
  follow(followed, { start: { back: 1 } });
  await eventually(async () => expect(messages(await kept())).toEqual(['a-4']));
  world.isRecorded = true;
  recorder.start();
  const all = ['a-0', 'a-1', 'a-2', 'a-3', 'a-4'];
  await eventually(async () => expect(messages(await kept())).toEqual(all));
  node.append('app.log', logLines('b', recent(100, 1)));
  await eventually(async () => expect(messages(await kept())).toEqual([...all, 'b-0']));
  const label = expect.stringMatching(/^recorded by self, until/);
  await eventually(async () =>
    expect(await recordings.find('m')).toMatchObject({ missingMs: expect.any(Number), label }),
  );
});
