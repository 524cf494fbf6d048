import type { Member, MemberClock, NodeState } from '@porthole/contract';
import type { Clocks } from '../fan-out/clock.ts';
import { createPeers, type RegisteredPeer } from '../fan-out/peers.ts';
import type { ClusterDeps, ClusterLimits } from '../records/search/cluster-deps.ts';
import { CursorKeeper } from '../records/search/cursor-keeper.ts';
import { fakeMasking } from './fake-masking.ts';

export interface FakeCluster extends ClusterDeps {
  /** Adds, replaces or (with `undefined`) removes a member, and notifies listeners. */
  set(id: string, state: NodeState | undefined): void;
}

/** In-process members with given clocks. */
export function fakeCluster(
  states: Readonly<Record<string, NodeState>>,
  {
    clocks = {},
    limits = {},
  }: { clocks?: Readonly<Record<string, MemberClock>>; limits?: Partial<ClusterLimits> } = {},
): FakeCluster {
  const known = new Map(Object.entries(states));
  let runs = 0;
  const members = new Map([...known.keys()].map((id) => [id, fakeMember(id)]));
  const listeners = new Set<() => void>();
  const membership = {
    get members() {
      return [...members.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    state: { kind: 'static', state: 'ok', detail: null, asOfMs: 0 } as const,
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const exact: Clocks = { of: (id) => clocks[id] ?? { offsetMs: 0, uncertaintyMs: 0 } };
  return {
    peers: fakePeers(membership, known),
    clocks: exact,
    cursors: new CursorKeeper(''),
    membership,
    directory: {
      of: () => undefined,
      has: () => false,
      find: async () => undefined,
      departed: () => [],
      standingOf: (_id, outcome) => ({ state: outcome === 'ok' ? 'up' : 'unreachable', sinceMs: null }),
    },
    limits: { firstBatchMs: 2000, memberTimeoutMs: 5000, maxParallel: 64, ...limits },
    set(id, state) {
      if (state) known.set(id, state);
      else known.delete(id);
      if (state) members.set(id, fakeMember(id, ++runs));
      else members.delete(id);
      for (const listener of listeners) listener();
    },
  };
}

/** Real peers with fake clients. */
function fakePeers(membership: { members: readonly Member[] }, known: ReadonlyMap<string, NodeState>) {
  const self = {} as NodeState;
  const peers = createPeers({ membership, self, selfId: '', masking: fakeMasking(), timeoutMs: 1000 });
  const kept = new WeakMap<object, RegisteredPeer>();
  const withState = (peer: { member: Member }) => {
    const state = known.get(peer.member.id);
    if (!state) throw new Error(`no such member: ${peer.member.id}`);
    const before = kept.get(peer);
    // A restarted member gets a new client.
    const seen = before?.state === state ? before : { member: peer.member, state, forget: async () => 0 };
    kept.set(peer, seen);
    return seen;
  };
  return {
    all: () => peers.all().map(withState),
    get: (id: string) => withState(peers.get(id)),
    select: (...selected: Parameters<typeof peers.select>) => peers.select(...selected).map(withState),
  };
}

function fakeMember(id: string, onlineTime = 0): Member {
  const node = { hostIp: '127.0.0.1', hostName: id, grpcPort: 0, httpPort: 0, version: '', onlineTime };
  return { id, role: 'node', labels: {}, node, url: `http://${id}.invalid`, isSelf: false };
}
