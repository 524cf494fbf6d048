import { PortholeError } from '@porthole/contract';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type MemberEvent, MemberSigns, type MemberSignsDeps } from './member-signs.ts';

const START_MS = Date.parse('2026-11-18T03:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Another node: the start of its run while it responds. */
type Responds = number | 'refused' | 'silent';

function watch(given: { n2?: Responds; isNew?: boolean; past?: MemberSignsDeps['past'] } = {}) {
  const events: MemberEvent[] = [];
  const node: { responds: Responds } = { responds: given.n2 ?? 7 };
  const signs = new MemberSigns({
    contact: async (_id, { timeoutMs }) => {
      if (node.responds === 'refused') throw new Error('connection refused');
      if (node.responds !== 'silent') return node.responds;
      await new Promise((resolve) => setTimeout(resolve, timeoutMs)); // pause: a member that is silent until the timeout
      throw new PortholeError('DEADLINE_EXCEEDED', 'no response');
    },
    write: (event) => events.push(event),
    past: given.past ?? [],
  });
  const { isNew = false } = given;
  signs.listed('n2', { run: 0, isContacted: true, isNew });
  signs.start();
  const facts = () => events.map(({ kind, timeMs, fields }) => ({ kind, atMs: timeMs - START_MS, ...shifted(fields) }));
  return { signs, events, node, facts, wait: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

/** Times of day as milliseconds since the start. */
function shifted(fields: MemberEvent['fields']): Record<string, unknown> {
  const isTime = (value: unknown): value is number => typeof value === 'number' && value > START_MS / 2;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, isTime(value) ? value - START_MS : value]),
  );
}

it('a member that is killed is lost between its last sign of life and the first contact that failed', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(3000);
  signs.sign('n2');
  await wait(300);
  node.responds = 'refused';
  await wait(100);
  signs.failed('n2');
  await wait(1000);
  expect(facts()).toEqual([]);
  await wait(2000);
  expect(facts()).toEqual([
    {
      ...{ kind: 'member-lost', atMs: 3400, member: 'n2', run: 7, why: 'connection refused' },
      ...{ lastSignMs: 3000, firstFailureMs: 3400, uncertaintyMs: 400 },
    },
  ]);
  expect(signs.lossOf('n2')).toEqual({ lastSignMs: START_MS + 3000, firstFailureMs: START_MS + 3400 });
});

it('a member whose stream ended but which responds is not lost, nor one that misses a contact', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(3000);
  signs.failed('n2');
  await wait(3000);
  node.responds = 'silent';
  await wait(4000);
  node.responds = 7;
  await wait(10_000);
  expect(facts()).toEqual([]);
});

it('without any sign a member is asked, and one that stopped responding is lost, and back when it responds', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(1000);
  node.responds = 'silent';
  await wait(20_000);
  expect(facts()).toMatchObject([{ kind: 'member-lost', lastSignMs: 500, why: 'no response' }]);
  node.responds = 7;
  await wait(3000);
  expect(facts().slice(1)).toMatchObject([{ kind: 'member-back', run: 7, isRestarted: false, lastSignMs: 500 }]);
  expect(signs.lossOf('n2')).toBeUndefined();
});

it('a member that sends nothing for a while is slow, not lost: a busy machine, or one that was stopped for a moment', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(3000);
  signs.sign('n2');
  node.responds = 'silent';
  signs.failed('n2');
  await wait(12_000);
  expect(signs.isAlive('n2')).toBe(true);
  node.responds = 7;
  await wait(3000);
  expect(facts()).toEqual([]);
  node.responds = 'silent';
  await wait(25_000);
  expect(facts()).toMatchObject([{ kind: 'member-lost', why: 'no response' }]);
  expect(signs.isAlive('n2')).toBe(false);
});

it('a restart within seconds is no loss: the member is back, with how long it was away', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(3000);
  signs.sign('n2');
  node.responds = 'refused';
  signs.failed('n2');
  await wait(1200);
  node.responds = 8;
  await wait(600);
  expect(facts()).toEqual([
    {
      ...{ kind: 'member-back', atMs: 4500, member: 'n2', run: 8, isRestarted: true, awayMs: 1500 },
      ...{ lastSignMs: 3000, firstFailureMs: 3000 },
    },
  ]);
});

it('a member that says that it stops has left, and is not lost', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(1000);
  signs.left('n2');
  await wait(100);
  node.responds = 'refused';
  signs.failed('n2');
  await wait(10_000);
  expect(facts()).toEqual([{ kind: 'member-left', atMs: 1000, member: 'n2', run: 7, lastSignMs: 500 }]);
  node.responds = 9;
  await wait(3000);
  expect(facts().slice(1)).toMatchObject([{ kind: 'member-back', run: 9, isRestarted: true }]);
});

it('a member that never responded is not lost, and joins with its first response', async () => {
  const { node, facts, wait } = watch({ n2: 'refused', isNew: true });
  await wait(20_000);
  expect(facts()).toEqual([]);
  node.responds = 7;
  await wait(3000);
  expect(facts()).toMatchObject([{ kind: 'member-joined', member: 'n2', run: 7 }]);
});

it('a node that was suspended declares nobody lost for what failed meanwhile', async () => {
  const { signs, node, facts, wait } = watch();
  await wait(3000);
  node.responds = 'silent';
  await wait(3000);
  // The process was stopped: no timer has run, and its requests are too late.
  vi.setSystemTime(Date.now() + 60_000);
  signs.failed('n2');
  await wait(8000);
  expect(facts()).toEqual([]);
  node.responds = 7;
  await wait(20_000);
  expect(facts()).toEqual([]);
  node.responds = 'refused';
  await wait(10_000);
  expect(facts()).toMatchObject([{ kind: 'member-lost' }]);
});

it('what was written before this node was restarted is not written again', async () => {
  const lost = {
    kind: 'member-lost',
    fields: { member: 'n2', run: 7, lastSignMs: START_MS - 9000, firstFailureMs: START_MS - 8000 },
  };
  const { node, facts, wait } = watch({ n2: 'refused', past: [lost] });
  await wait(10_000);
  expect(facts()).toEqual([]);
  node.responds = 8;
  await wait(3000);
  expect(facts()).toMatchObject([{ kind: 'member-back', run: 8, isRestarted: true, firstFailureMs: -8000 }]);
  // It may have been back for long.
  expect(facts()[0]).not.toHaveProperty('awayMs');
});

it('each loss of one run is an event of its own, and one cause is one event', async () => {
  const { events, node, wait } = watch();
  for (let round = 0; round < 2; round++) {
    await wait(4000);
    node.responds = 'refused';
    await wait(8000);
    node.responds = 7;
  }
  await wait(4000);
  expect(events.map(({ kind }) => kind)).toEqual(['member-lost', 'member-back', 'member-lost', 'member-back']);
  expect(new Set(events.map(({ cause }) => cause)).size).toBe(4);
});

it('a member that only the registry knows is lost with its registration', async () => {
  const { signs, facts, wait } = watch();
  signs.listed('n3', { run: 5, isContacted: false, isNew: true });
  await wait(1000);
  signs.unlisted('n3');
  expect(facts()).toEqual([
    { kind: 'member-joined', atMs: 0, member: 'n3', run: 5 },
    {
      kind: 'member-lost',
      atMs: 1000,
      member: 'n3',
      run: 5,
      firstFailureMs: 1000,
      why: 'its registration has expired',
    },
  ]);
});
