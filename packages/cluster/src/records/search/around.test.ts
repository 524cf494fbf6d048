import { PortholeError } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { endItem, FakeNode, record, recordsAt, silence } from '../../testing/fake-node.ts';
import { searchAround } from './around.ts';

const AROUND = { beforeMs: 50, afterMs: 50, limit: 10 };

describe('a moment', () => {
  it('is what every member logged around a record, by true time and oldest first', async () => {
    const deps = fakeCluster(
      {
        a: new FakeNode({ records: recordsAt('a', [100, 140, 160, 200, 260]) }),
        b: new FakeNode({ records: recordsAt('b', [10_090, 10_150, 10_170, 10_300]) }),
      },
      { clocks: { b: { offsetMs: 10_000, uncertaintyMs: 1 } } },
    );
    const { messages, end } = await collectResponse(searchAround(deps, { ...AROUND, at: { node: 'b', cursor: 'c1' } }));
    expect(messages).toEqual(['a0', 'a1', 'b1', 'a2', 'b2', 'a3']);
    expect(end).toMatchObject({ reason: 'exhausted', records: 6, cursor: null });
    expect(end.members.map(({ count }) => count)).toEqual([4, 2]);
  });

  it('of too many records is those nearest to it', async () => {
    const deps = fakeCluster({
      a: new FakeNode({
        records: recordsAt(
          'a',
          Array.from({ length: 100 }, (_, index) => index),
        ),
      }),
    });
    const { messages, end } = await collectResponse(searchAround(deps, { ...AROUND, limit: 5, at: { timeMs: 60 } }));
    expect(messages).toEqual(['a58', 'a59', 'a60', 'a61', 'a62']);
    expect(end.reason).toBe('limit');
  });

  it('asks for records of one log with a certain content', async () => {
    const a = new FakeNode({ records: recordsAt('a', [1]) });
    const request = { ...AROUND, at: { timeMs: 1 }, src: ['a.log'], terms: ['text'], store: 'nodes' } as const;
    await collectResponse(searchAround(fakeCluster({ a }), request));
    const asked = { src: ['a.log'], terms: ['text'], before: 0, after: 0, limit: 5 };
    expect(a.searches).toEqual([
      { ...asked, order: 'newest', fromMs: -49, toMs: 1 },
      { ...asked, order: 'oldest', fromMs: 1, toMs: 52 },
    ]);
  });

  it('of a record without a time is that of the one before it', async () => {
    const records = [record('timed', 100, 0), record('untimed', Number.NaN, 1), record('far', 500, 2)];
    const deps = fakeCluster({ a: new FakeNode({ records }) });
    const { messages } = await collectResponse(searchAround(deps, { ...AROUND, at: { node: 'a', cursor: 'c1' } }));
    expect(messages).toEqual(['timed']);
    const untimed = fakeCluster({ a: new FakeNode({ records: [record('untimed', Number.NaN)] }) });
    const response = collectResponse(searchAround(untimed, { ...AROUND, at: { node: 'a', cursor: 'c0' } }));
    await expect(response).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
  });

  it('is returned without the members that fail', async () => {
    const dead = new FakeNode({ search: (_query, { signal }) => silence(signal) });
    const deps = fakeCluster(
      { a: new FakeNode({ records: recordsAt('a', [1]) }), dead },
      { limits: { firstBatchMs: 20 } },
    );
    const { messages, end } = await collectResponse(searchAround(deps, { ...AROUND, at: { timeMs: 1 } }));
    expect(messages).toEqual(['a0']);
    expect(end.members.map(({ outcome }) => outcome)).toEqual(['ok', 'timeout']);
  });

  it('of a record of a member that is gone is found in what was recorded of it', async () => {
    const a = new FakeNode({ records: recordsAt('a', [100, 140]) });
    const b = new FakeNode({
      // biome-ignore lint/correctness/useYield: it never gets that far
      search: async function* () {
        const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        throw new PortholeError('UNREACHABLE', 'connect ECONNREFUSED', { cause });
      },
    });
    const deps = fakeCluster({ a, b });
    const recorded: RecordedMember = {
      ...{ departed: null, clock: null, asOfMs: 200, missingMs: 1, recordedBy: 'a', lastRecordMs: 150 },
      member: deps.peers.get('b').member,
      label: 'recorded by a',
      state: new FakeNode({ records: recordsAt('b', [90, 150]) }),
    };
    const directory = { ...deps.directory, has: (id: string) => id === 'b', find: async () => recorded };
    const request = { ...AROUND, at: { node: 'b', cursor: 'c1' } };
    const { messages, end } = await collectResponse(searchAround({ ...deps, directory }, request));
    expect(messages).toEqual(['a0', 'a1', 'b1']);
    expect(end.members).toMatchObject([{ outcome: 'ok' }, { outcome: 'refused', recordedBy: 'a', asOfMs: 200 }]);
  });

  it('says which file was not read, also if only the search before it missed it', async () => {
    const problems = [{ file: 'a.log.2.gz', code: 'LOG_FILE_CORRUPT', detail: 'it is damaged' }];
    const a: FakeNode = new FakeNode({
      records: recordsAt('a', [1, 5]),
      search: async function* (query) {
        for await (const items of a.respond(query)) {
          const end = items.find(({ type }) => type === 'end');
          yield end && query.order === 'newest' ? [endItem({ ...end, problems } as object)] : items;
        }
      },
    });
    const { messages, end } = await collectResponse(searchAround(fakeCluster({ a }), { ...AROUND, at: { timeMs: 5 } }));
    expect(messages).toEqual(['a0', 'a1']);
    expect(end.members).toMatchObject([{ isPartial: true, detail: expect.stringContaining('a.log.2.gz') }]);
  });

  it('needs a member, and a record that is there', async () => {
    const deps = fakeCluster({ a: new FakeNode() });
    const unknown = collectResponse(searchAround(deps, { ...AROUND, at: { node: 'x', cursor: 'c0' } }));
    await expect(unknown).rejects.toMatchObject({ code: 'MEMBER_NOT_FOUND' });
    const gone = collectResponse(searchAround(deps, { ...AROUND, at: { node: 'a', cursor: 'c0' } }));
    await expect(gone).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  });
});
