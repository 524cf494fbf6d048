import { describe, expect, it } from 'vitest';
import type { Peer } from '../fan-out/peers.ts';
import { Helpers } from './helpers.ts';
import type { MemberTransport } from './member-transport.ts';

function peer(id: string, hasTransport = true): Peer {
  return { member: { id }, ...(hasTransport && { transport: {} as MemberTransport }) } as Peer;
}

const GROUP = ['a', 'b', 'c', 'd'].map((id) => peer(id));
const ids = (peers: readonly Peer[]) => peers.map(({ member }) => member.id);

describe('the helpers of a group', () => {
  it('are members that were heard of lately, if there are some', () => {
    const isFresh = (id: string) => id === 'c';
    for (const share of [0, 0.3, 0.6, 0.99]) {
      const [first, second] = ids(new Helpers({ isFresh, random: () => share }).choose(GROUP));
      expect(first).toBe('c');
      expect(['a', 'b', 'd']).toContain(second);
    }
    expect(new Helpers({ isFresh: () => false, random: () => 0 }).choose(GROUP)).toHaveLength(2);
  });

  it('are not always the same', () => {
    const shares = [0, 0.3, 0.6, 0.99];
    const first = shares.map((share) => ids(new Helpers({ random: () => share }).choose(GROUP))[0]);
    expect(first).toEqual(['a', 'b', 'c', 'd']);
  });

  it('that failed are not chosen for a while, and this node is none', () => {
    let nowMs = 0;
    const helpers = new Helpers({ random: () => 0, nowMs: () => nowMs });
    helpers.avoid('a', { isUnable: false });
    helpers.avoid('b', { isUnable: true });
    const group = [...GROUP, peer('self', false)];
    expect(ids(helpers.choose(group))).toEqual(['c', 'd']);
    nowMs = 30_000;
    expect(ids(helpers.choose(group))).toEqual(['a', 'c']);
    nowMs = 600_000;
    expect(ids(helpers.choose(group))).toEqual(['a', 'b']);
  });
});
