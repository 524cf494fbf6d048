import { PortholeError } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import type { Peers } from '../../fan-out/peers.ts';
import { type MemberSnapshot, serializeSnapshot } from '../../membership/snapshots/member-snapshot.ts';
import { SnapshotCache } from '../../membership/snapshots/snapshot-cache.ts';
import { NOW_MS, snapshot } from '../testing/fake-deps.ts';
import { record } from '../testing/fake-node.ts';
import { HeldSnapshots } from './held-snapshots.ts';

type Keeper = (id: string) => unknown;

const gone: Keeper = () => {
  throw new PortholeError('UNREACHABLE', 'refused');
};
const none: Keeper = () => {
  throw new PortholeError('MEMBER_NOT_FOUND', 'no snapshot');
};
const content = (id: string, given: Partial<MemberSnapshot> = {}) =>
  snapshot(id, { records: [record('last')], clock: { offsetMs: 100, uncertaintyMs: 2 }, ...given });
const lending =
  (id: string, ageMs = 60_000, text = serializeSnapshot(content(id))): Keeper =>
  () => ({ ageMs, text });

/** A node whose member `x` is kept by others. */
function setUp(keepers: Readonly<Record<string, Keeper>>, { keepsAll = false } = {}) {
  const asked: string[] = [];
  const cache = new SnapshotCache({ store: null, report: () => {}, nowMs: () => NOW_MS });
  const get = (id: string) => {
    const heldSnapshot = async (of: string) => {
      asked.push(id);
      return keepers[id]?.(of);
    };
    return { heldSnapshot };
  };
  const held = new HeldSnapshots({
    snapshots: cache,
    peers: { get } as unknown as Pick<Peers, 'get'>,
    clocks: { of: (id) => (id === 'k2' ? { offsetMs: -30, uncertaintyMs: 5 } : undefined) },
    selfId: 'self',
    keepers: { keepsAll, keepersOf: () => ['self', ...Object.keys(keepers)] },
    timeoutMs: 5000,
    nowMs: () => NOW_MS,
  });
  return { cache, held, asked };
}

describe('the snapshot of a member that others keep', () => {
  it('comes from the first that has it, with its age and its clock as this node sees them', async () => {
    const { held, asked } = setUp({ k1: gone, k2: lending('x', 7000), k3: lending('x') });
    expect(await held.find('x')).toMatchObject({
      member: { id: 'x' },
      asOfMs: NOW_MS - 7000,
      clock: { offsetMs: 70, uncertaintyMs: 7 },
      records: [{ message: 'last' }],
      departed: null,
    });
    expect(asked).toEqual(['k1', 'k2']);
    // Not requested again for every question.
    await held.find('x');
    expect(asked).toHaveLength(2);
  });

  it('is not lost for the others when the first who asked leaves', async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { held, asked } = setUp({ k1: async (id) => answered.then(() => lending(id)(id)) });
    const leaving = new AbortController();
    const first = held.find('x', leaving);
    const second = held.find('x', new AbortController());
    const left = expect(first).rejects.toThrow('gone');
    leaving.abort(new Error('gone'));
    await left;
    answer();
    expect(await second).toMatchObject({ member: { id: 'x' } });
    expect(asked).toEqual(['k1']);
  });

  it('is kept here from then on if the member has departed', async () => {
    const { held, cache, asked } = setUp({ k1: none, k2: lending('x', 7000) });
    const departed = { state: 'failed', sinceMs: NOW_MS - 1000 } as const;
    cache.depart(content('x').member, departed, NOW_MS - 2000);
    expect(cache.get('x')).toMatchObject({ asOfMs: NOW_MS - 2000, records: [], departed });
    expect(held.isElsewhere('x')).toBe(true);
    expect(held.lend('x')).toBeUndefined();
    await held.find('x');
    expect(cache.departed()).toMatchObject([{ asOfMs: NOW_MS - 7000, records: [{ message: 'last' }], departed }]);
    expect(held.isElsewhere('x')).toBe(false);
    expect(held.lend('x')).toMatchObject({ ageMs: 7000 });
    expect(asked).toEqual(['k1', 'k2']);
  });

  it.each<[string, Keeper]>([
    ['is that of another member', lending('x', 1, serializeSnapshot(content('y')))],
    ['is no snapshot', lending('x', 1, '{"version":1}')],
    ['is from the future', lending('x', -1)],
    ['has no age', () => ({ text: serializeSnapshot(content('x')) })],
  ])('that %s is not used', async (_what, lie) => {
    const { held, asked } = setUp({ k1: lie, k3: none });
    expect(await held.find('x')).toBeUndefined();
    expect(asked).toEqual(['k1', 'k3']);
  });

  it('is not looked for where every node keeps all', async () => {
    const { held, asked } = setUp({ k1: lending('x') }, { keepsAll: true });
    expect(await held.find('x')).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
