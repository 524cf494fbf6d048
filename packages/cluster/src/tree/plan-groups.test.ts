import type { Member } from '@porthole/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_GROUP, planGroups } from './plan-groups.ts';

function peer(id: string, { zone, role = 'node' }: { zone?: string; role?: string } = {}) {
  const member = { id, role, labels: zone === undefined ? {} : { zone } } as unknown as Member;
  return { member };
}

const peers = (count: number) => Array.from({ length: count }, (_, index) => peer(`n${index}`));

describe('groups of members', () => {
  it('there are none below the limit, or if it is 0', () => {
    expect(planGroups(peers(64), { from: 65, groupSize: 0 })).toEqual([]);
    expect(planGroups(peers(65), { from: 65, groupSize: 0 })).toHaveLength(8);
    expect(planGroups(peers(5000), { from: 0, groupSize: 0 })).toEqual([]);
  });

  it('are about as many as each has members', () => {
    const groups = planGroups(peers(1000), { from: 65, groupSize: 0 });
    expect(groups).toHaveLength(32);
    expect(planGroups(peers(10_000), { from: 65, groupSize: 0 })).toHaveLength(100);
  });

  it('are in one zone where zones are large, and in one role otherwise', () => {
    const members = ['b', 'a', 'c'].flatMap((zone) =>
      Array.from({ length: 20 }, (_, index) => peer(`${zone}${index}`, { zone })),
    );
    const zones = planGroups(members, { from: 1, groupSize: 10 }).map(
      (group) => new Set(group.map(({ member }) => member.id[0])),
    );
    expect(zones).toEqual([['a'], ['a'], ['b'], ['b'], ['c'], ['c']].map((each) => new Set(each)));
  });

  it('have every member once and are never larger than allowed', () => {
    const one = fc.record({ zone: fc.constantFrom('a', 'b', 'c'), role: fc.constantFrom('x', 'y') });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 300 }), fc.integer({ min: 0, max: 300 }), (given, groupSize) => {
        const members = given.map((facts, index) => peer(`n${index}`, facts));
        const groups = planGroups(members, { from: 1, groupSize });
        const size = groupSize || Math.max(8, Math.ceil(Math.sqrt(given.length)));
        expect(new Set(groups.flat())).toEqual(new Set(members));
        expect(groups.flat()).toHaveLength(members.length);
        for (const group of groups) expect(group.length).toBeLessThanOrEqual(Math.min(size, MAX_GROUP));
        expect(groups.length).toBeLessThanOrEqual(Math.ceil((2 * given.length) / Math.min(size, MAX_GROUP)) + 1);
      }),
    );
  });
});
