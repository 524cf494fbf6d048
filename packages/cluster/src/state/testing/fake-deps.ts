import type { Member, MemberClock, NodeState } from '@porthole/contract';
import { isSelected } from '@porthole/contract';
import { createPeers, type Peers, type RegisteredPeer } from '../../fan-out/peers.ts';
import type { MemberSnapshot } from '../../membership/snapshots/member-snapshot.ts';
import { fakeMasking } from '../../testing/fake-masking.ts';
import type { StateDeps } from '../query-members.ts';
import { NODE } from './fake-node.ts';

export const NOW_MS = 1_800_000_000_000;

export function member(id: string, given: Partial<Member> = {}): Member {
  return { id, role: 'node', labels: {}, node: NODE, url: `http://${id}.invalid`, isSelf: false, ...given };
}

export function snapshot(id: string, given: Partial<MemberSnapshot> = {}): MemberSnapshot {
  const nothing = { clock: null, config: null, records: [], files: null, departed: null };
  return { member: member(id), asOfMs: NOW_MS - 60_000, ...nothing, ...given };
}

export interface FakeCluster {
  states: Readonly<Record<string, NodeState>>;
  roles?: Readonly<Record<string, string>>;
  clocks?: Readonly<Record<string, MemberClock>>;
  /** Snapshots of current and former members. */
  snapshots?: readonly MemberSnapshot[];
  timeoutMs?: number;
}

export function fakePeers({ states, roles = {} }: Pick<FakeCluster, 'states' | 'roles'>): Peers {
  const all = Object.entries(states)
    .map(
      ([id, state]): RegisteredPeer => ({
        member: member(id, { role: roles[id] ?? 'node' }),
        state,
        forget: async () => 0,
      }),
    )
    .sort((a, b) => (a.member.id < b.member.id ? -1 : 1));
  const real = createPeers({
    membership: { members: all.map((peer) => peer.member) },
    self: Object.values(states)[0] as NodeState,
    selfId: '',
    masking: fakeMasking(),
    timeoutMs: 1,
  });
  return {
    all: () => all,
    get: (id) => all.find((peer) => peer.member.id === id) ?? real.get(id),
    select: (selection) => {
      real.select(selection);
      return all.filter((peer) => isSelected(peer.member, selection));
    },
  };
}

/** Masks the value of every key that contains `secret`. */
export function mask(text: string): string | undefined {
  return text.includes('not toml') ? undefined : text.replace(/^(\S*secret\S* *= *)(".*"|'.*')$/gm, '$1"******"');
}

export function fakeDeps({
  states,
  roles,
  clocks = {},
  snapshots: known = [],
  timeoutMs = 5000,
}: FakeCluster): StateDeps {
  return {
    peers: fakePeers({ states, ...(roles && { roles }) }),
    clocks: { of: (id) => (Object.hasOwn(clocks, id) ? clocks[id] : undefined) },
    directory: {
      of: (id) => known.find((each) => each.member.id === id),
      has: (id) => known.some((each) => each.member.id === id),
      departed: () =>
        known
          .filter((each) => !Object.hasOwn(states, each.member.id))
          .map((each) => ({ ...each, departed: each.departed ?? { state: 'failed', sinceMs: each.asOfMs } })),
      standingOf: (_id, outcome) => ({ state: outcome === 'ok' ? 'up' : 'unreachable', sinceMs: null }),
    },
    mask,
    timeoutMs,
    maxParallel: 4,
    nowMs: () => NOW_MS,
  };
}
