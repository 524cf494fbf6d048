import { describe, expect, it } from 'vitest';
import { steadyRoundMs } from './gossip.ts';
import { clockOffset, type FakeMember, GossipCluster } from './testing/gossip-cluster.ts';
import { fakeSample } from './testing/sample.ts';

/** Enough for news to reach thirty members. */
const SPREAD = 5;

const statesAt = ({ gossip }: FakeMember, ids: Iterable<string>) =>
  [...ids].map((id) => gossip.table.stateOf(id, gossip.nowMs));

describe('members that exchange what they know', () => {
  it('know all of each other after a few rounds, with three requests of each in a round', async () => {
    const cluster = new GossipCluster(30);
    await cluster.rounds(SPREAD);
    for (const member of cluster.all)
      expect(new Set(statesAt(member, cluster.members.keys()))).toEqual(new Set(['fresh']));
    const sent = cluster.all.reduce((sum, { exchanges }) => sum + exchanges, 0);
    expect(sent).toBe(30 * 3 * SPREAD);
    // Each looks only at itself, once in a refresh interval.
    expect(cluster.all.every(({ looks }) => looks <= 2)).toBe(true);
    expect(cluster.get('n000').gossip.table.get('n029')?.sample?.value).toMatchObject({
      recentErrors: 3,
      role: 'node',
    });
  });

  it('know the clocks of all, within the time that the requests on the way took', async () => {
    const cluster = new GossipCluster(20);
    await cluster.rounds(SPREAD);
    const { learned } = cluster.get('n003');
    expect(learned.size).toBe(19);
    for (const [id, { clockMs, uncertaintyMs }] of learned)
      expect(Math.abs(clockMs - clockOffset(id))).toBeLessThanOrEqual(uncertaintyMs + 1);
  });

  it('soon doubt one that is down, and believe it again when it is back', async () => {
    const cluster = new GossipCluster(20);
    await cluster.rounds(SPREAD);
    const dead = cluster.get('n007');
    dead.isDown = true;
    const others = cluster.all.filter((member) => member !== dead);
    await cluster.rounds(SPREAD);
    for (const member of others) expect(statesAt(member, ['n007'])).not.toEqual(['fresh']);
    for (const member of others) expect(statesAt(member, ['n001'])).toEqual(['fresh']);
    cluster.restart('n007');
    await cluster.rounds(SPREAD);
    const believing = cluster.all.filter((member) => statesAt(member, ['n007'])[0] === 'fresh');
    // Those it did not respond to wait until it does.
    for (const member of cluster.all.filter((each) => !believing.includes(each)))
      expect(statesAt(member, ['n007'])).toEqual(['unverified']);
    for (const { gossip } of cluster.all) await gossip.exchange(cluster.peer('n007'));
    for (const member of cluster.all) expect(statesAt(member, ['n007'])).toEqual(['fresh']);
  });

  it('believe no sign of life that is old, even if nobody failed to contact the member', async () => {
    const cluster = new GossipCluster(5);
    await cluster.rounds(SPREAD);
    const { gossip } = cluster.get('n000');
    expect(gossip.table.stateOf('n001', gossip.nowMs)).toBe('fresh');
    cluster.nowMs += 60_000;
    expect(gossip.table.stateOf('n001', gossip.nowMs)).toBe('unverified');
  });

  it('look in turn at one that does not take part: one of them, for all', async () => {
    const cluster = new GossipCluster(10);
    const mute = cluster.get('n004');
    mute.isMute = true;
    await cluster.rounds(4 * SPREAD);
    const others = cluster.all.filter((member) => member !== mute);
    for (const member of others) expect(statesAt(member, ['n004'])).toEqual(['fresh']);
    const looksBefore = mute.looks;
    await cluster.rounds(12);
    // Twelve rounds are two refresh intervals.
    expect(mute.looks - looksBefore).toBeLessThanOrEqual(4);
    expect(others.every(({ gossip }) => gossip.table.get('n004')?.isSampled)).toBe(true);
    expect(cluster.get('n000').learned.has('n004')).toBe(true);
  });

  it('notice another node with their id', async () => {
    const cluster = new GossipCluster(3);
    await cluster.rounds(2);
    const first = cluster.get('n000').gossip;
    cluster.nowMs += 10;
    cluster.restart('n000');
    await cluster.rounds(2);
    expect(first.table.duplicateMs).toBe(-Infinity);
    // The first was not stopped.
    await first.exchange(cluster.peer('n001'));
    expect(first.table.duplicateMs).toBeGreaterThan(0);
    expect(cluster.get('n000').gossip.table.duplicateMs).toBe(-Infinity);
  });

  it('notice it in a small cluster, too, where they learn nothing else from each other', async () => {
    const cluster = new GossipCluster(3, { directMembers: 16 });
    const down = cluster.get('n002');
    down.isDown = true;
    await cluster.rounds(12);
    const first = cluster.get('n000').gossip;
    cluster.nowMs += 10;
    cluster.restart('n000');
    // One exchange in three rounds.
    await cluster.rounds(24);
    for (let round = 0; round < 24; round++) await first.round();
    expect(first.table.duplicateMs).toBeGreaterThan(0);
    expect(cluster.get('n000').gossip.table.duplicateMs).toBe(-Infinity);
    for (const { looks, learned } of cluster.all) expect([looks, learned.size]).toEqual([0, 0]);
    // Those that failed are asked again.
    const before = down.exchanges;
    down.isDown = false;
    await cluster.rounds(24);
    expect(down.exchanges).toBeGreaterThan(before);
    expect(cluster.get('n001').gossip.table.get('n002')).toMatchObject({ failure: undefined });
  });
});

describe('a member that lies', () => {
  const beat = (id: string, run: number, count: number, ageMs = 0) => [id, run, count, ageMs, 1, 0, 0];

  it('cannot make one look alive that did not respond to this node', async () => {
    const cluster = new GossipCluster(4);
    await cluster.rounds(2);
    const { gossip } = cluster.get('n000');
    cluster.get('n001').isDown = true;
    await gossip.exchange(cluster.peer('n001'));
    expect(gossip.table.stateOf('n001', gossip.nowMs)).toBe('failed');
    cluster.nowMs += 10;
    cluster.get('n002').lie = () => ({ beats: beat('n001', 9e15, 1e9), entries: [], failing: [] });
    await gossip.exchange(cluster.peer('n002'));
    expect(gossip.table.stateOf('n001', gossip.nowMs)).toBe('unverified');
  });

  it('cannot silence another with a version that is far ahead', async () => {
    const cluster = new GossipCluster(4);
    await cluster.rounds(2);
    const { gossip } = cluster.get('n000');
    const sample = fakeSample({ recentErrors: 99 });
    const entry = { id: 'n001', run: 9e15, seq: 9e15, ageMs: 0, sample };
    cluster.get('n002').lie = () => ({ beats: beat('n001', 9e15, 9e15), entries: [entry], failing: [] });
    await gossip.exchange(cluster.peer('n002'));
    expect(gossip.table.get('n001')).toMatchObject({ run: 9e15, sample: { value: { recentErrors: 99 } } });
    cluster.nowMs += 10;
    await gossip.exchange(cluster.peer('n001'));
    expect(gossip.table.get('n001')?.run).toBeLessThan(9e15);
    expect(gossip.table.get('n001')).toMatchObject({ sample: { value: { recentErrors: 3 } } });
  });

  it('cannot add members, nor change what this node says about itself', async () => {
    const cluster = new GossipCluster(3);
    await cluster.rounds(2);
    const { gossip } = cluster.get('n000');
    const before = structuredClone(gossip.table.get('n000'));
    const sample = fakeSample({ recentErrors: 99 });
    cluster.get('n001').lie = () => ({
      beats: [...beat('stranger', 1, 1), ...beat('n000', 9e15, 1)],
      entries: [
        { id: 'stranger', run: 1, seq: 1, ageMs: 0, sample },
        { id: 'n000', run: 9e15, seq: 1, ageMs: 0, sample },
      ],
      failing: ['stranger', 0, 'n000', 0],
    });
    await gossip.exchange(cluster.peer('n001'));
    expect(gossip.table.get('stranger')).toBeUndefined();
    expect(gossip.table.get('n000')).toEqual(before);
    expect([...gossip.table.rows()]).toHaveLength(3);
  });

  it('that calls others dead only makes this node look for itself', async () => {
    const cluster = new GossipCluster(4);
    await cluster.rounds(3);
    const { gossip } = cluster.get('n000');
    cluster.get('n001').lie = () => ({ beats: [], entries: [], failing: ['n002', 0, 'n003', 0] });
    await gossip.exchange(cluster.peer('n001'));
    expect(gossip.table.stateOf('n002', gossip.nowMs)).toBe('unverified');
    await gossip.exchange(cluster.peer('n002'));
    expect(gossip.table.stateOf('n002', gossip.nowMs)).toBe('fresh');
  });

  it.each<[string, unknown]>([
    ['no lists', { beats: 1, entries: {}, failing: null }],
    ['nothing', null],
    ['a huge table', { beats: Array(200_000).fill(0), entries: [], failing: [] }],
  ])('with %s is not asked again, and nothing changes', async (_name, response) => {
    const cluster = new GossipCluster(3);
    await cluster.rounds(2);
    const { gossip } = cluster.get('n000');
    const before = structuredClone([...gossip.table.rows()]);
    cluster.get('n001').lie = () => response;
    expect(await gossip.exchange(cluster.peer('n001'))).toBe(false);
    expect([...gossip.table.rows()]).toEqual(before);
  });
});

it.each([
  [17, 5000],
  [1000, 6000],
  [2000, 12_000],
  [10_000, 15_000],
])('rounds are longer among thousands of members: %i', (members, roundMs) => {
  expect(steadyRoundMs(30_000, members)).toBe(roundMs);
});
