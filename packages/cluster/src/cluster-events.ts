import type {
  CallOptions,
  ClusterConfigHistory,
  ClusterEnd,
  ClusterFollowItem,
  ConfigHistoryRequest,
  FollowOptions,
  MemberSelection,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type { FollowQuery, SearchQuery } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import type { Peers, RegisteredPeer } from './fan-out/peers.ts';
import { joinEvents, joinFollow } from './joined-events.ts';
import { EventsNode } from './past/events-node.ts';
import type { RecordedMember } from './recorder/recordings.ts';
import { followCluster } from './records/follow/cluster-follow.ts';
import type { ClusterDeps } from './records/search/cluster-deps.ts';
import { searchCluster } from './records/search/cluster-search.ts';
import { chooseMembers, type KnownMembers, queryMembers, type StateDeps } from './state/query-members.ts';

/** The same members, and what was recorded of them, by their events. */
function eventDeps({ peers, directory, ...deps }: ClusterDeps): ClusterDeps {
  const nodes = new WeakMap<NodeState, NodeState>();
  const eventsOf = (state: NodeState) => {
    const known = nodes.get(state) ?? new EventsNode(state);
    nodes.set(state, known);
    return known;
  };
  const view = (peer: RegisteredPeer): RegisteredPeer =>
    Object.create(peer, { state: { get: () => eventsOf(peer.state) } });
  const eventPeers: Peers = {
    ...peers,
    all: () => peers.all().map(view),
    get: (id) => view(peers.get(id)),
    select: (selection, departed) => peers.select(selection, departed).map(view),
  };
  const recorded = (member: RecordedMember): RecordedMember => ({ ...member, state: eventsOf(member.state) });
  const known: KnownMembers = {
    ...directory,
    departed: () => directory.departed().map(recorded),
    find: async (id) => {
      const member = await directory.find(id);
      return member && recorded(member);
    },
  };
  return { ...deps, peers: eventPeers, directory: known };
}

/** The events of all members, merged by time; what several report is one event. */
export function clusterEvents(
  deps: ClusterDeps,
  request: SearchQuery & MemberSelection,
  options?: SearchOptions,
): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
  const known = eventDeps(deps);
  const search = (asked: SearchQuery & MemberSelection, how?: SearchOptions) => searchCluster(known, asked, how);
  return joinEvents(search, request, options);
}

export async function* followClusterEvents(
  deps: ClusterDeps,
  request: FollowQuery & MemberSelection,
  options: FollowOptions = {},
): AsyncGenerator<ClusterFollowItem[], void, undefined> {
  const join = joinFollow();
  for await (const items of followCluster(eventDeps(deps), request, options)) {
    const joined = join(items);
    yield options.positions ? joined : joined.filter(({ type }) => type !== 'position');
  }
}

/** The history of the configuration of each member; of one that does not respond, as far as it was recorded. */
export async function clusterConfigHistory(
  deps: StateDeps,
  { key, atMs, limit, ...selection }: ConfigHistoryRequest & MemberSelection,
  options: CallOptions = {},
): Promise<ClusterConfigHistory> {
  const request = { limit, ...(key !== undefined && { key }), ...(atMs !== undefined && { atMs }) };
  const responses = await queryMembers(
    deps,
    chooseMembers(deps, selection),
    ({ state, clock: { offsetMs } }, call) =>
      state.configHistory(atMs === undefined ? request : { ...request, atMs: atMs + offsetMs }, call),
    { ...options, countOf: ({ periods }) => periods.length },
  );
  return {
    nodes: responses.map(({ peer: { member }, value = null }) => ({ id: member.id, history: value })),
    members: responses.map(({ report }) => report),
  };
}
