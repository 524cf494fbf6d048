import type { Member, MemberClock, NodeState } from '@porthole/contract';
import { isSelected, PortholeError } from '@porthole/contract';
import { createPeers, type Peers, type RegisteredPeer } from '../../fan-out/peers.ts';
import type { MemberProfile } from '../../membership/profiles/member-profile.ts';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { fakeMasking } from '../../testing/fake-masking.ts';
import type { StateDeps } from '../query-members.ts';
import { fakeNode, NODE } from './fake-node.ts';

export const NOW_MS = 1_800_000_000_000;

export function member(id: string, given: Partial<Member> = {}): Member {
  return { id, role: 'node', labels: {}, node: NODE, url: `http://${id}.invalid`, isSelf: false, ...given };
}

export function profile(id: string, given: Partial<MemberProfile> = {}): MemberProfile {
  const nothing = { clock: null, config: null, files: null, departed: null };
  return { member: member(id), asOfMs: NOW_MS - 60_000, ...nothing, ...given };
}

/** A member of which another node has recorded what it knows. */
function recordedOf(known: MemberProfile): RecordedMember {
  const { member: of, config, files, clock, asOfMs, departed } = known;
  const refuse = () => Promise.reject(new PortholeError('UNREACHABLE', 'not recorded'));
  const state = fakeNode({
    config: async () => config ?? refuse(),
    logFiles: async () => files ?? refuse(),
  });
  const label = 'recorded by other, until 07:59:00.000 (0.5 s before it was lost)';
  return { member: of, departed, clock, asOfMs, missingMs: 500, recordedBy: 'other', label, lastRecordMs: null, state };
}

export interface FakeCluster {
  states: Readonly<Record<string, NodeState>>;
  roles?: Readonly<Record<string, string>>;
  clocks?: Readonly<Record<string, MemberClock>>;
  /** What is kept of current and former members. */
  profiles?: readonly MemberProfile[];
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
    select: (selection, departed) => {
      real.select(selection, departed);
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
  profiles: known = [],
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
          .map((each) => recordedOf({ ...each, departed: each.departed ?? { state: 'failed', sinceMs: each.asOfMs } })),
      find: async (id) => known.filter((each) => each.member.id === id).map(recordedOf)[0],
      standingOf: (_id, outcome) => ({ state: outcome === 'ok' ? 'up' : 'unreachable', sinceMs: null }),
    },
    mask,
    timeoutMs,
    maxParallel: 4,
    nowMs: () => NOW_MS,
  };
}
