import {
  type CallOptions,
  type ClusterConfigHistory,
  type ClusterEnd,
  type ClusterFollowItem,
  type ConfigHistoryRequest,
  type FollowOptions,
  isSelected,
  type MemberSelection,
  type NodeConfig,
  type NodeDescription,
  type NodeState,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import type { ByteStream, FollowItem, FollowQuery, LogEntry, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { isBatch, type RecordBatch } from '@porthole/records';
import { DelegatedNode } from './contract-only/delegated-node.ts';
import type { Peers, RegisteredPeer } from './fan-out/peers.ts';
import { joinEvents, joinFollow } from './joined-events.ts';
import { followCluster } from './records/follow/cluster-follow.ts';
import type { ClusterDeps } from './records/search/cluster-deps.ts';
import { searchCluster } from './records/search/cluster-search.ts';
import { chooseMembers, departedReport, queryMembers, type StateDeps } from './state/query-members.ts';

/** The events of a node in place of its logs: events are records, so whatever merges logs of members merges events. */
class EventsNode extends DelegatedNode implements NodeState {
  readonly #node: NodeState;

  constructor(node: NodeState) {
    super();
    this.#node = node;
  }

  override search(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#node.events(request, options);
  }

  override followLogs(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]> {
    return this.#node.followEvents(request, options);
  }

  describe(options?: CallOptions): Promise<NodeDescription> {
    return this.#node.describe(options);
  }

  config(options?: CallOptions): Promise<NodeConfig> {
    return this.#node.config(options);
  }

  listLogs(options?: CallOptions): Promise<LogEntry[]> {
    return this.#node.listLogs(options);
  }

  viewLog(request: ViewRequest, options?: CallOptions): Promise<ByteStream> {
    return this.#node.viewLog(request, options);
  }

  protected async nodeFor(): Promise<NodeState> {
    return this.#node;
  }
}

/** Nothing stands in for the events of a member that does not respond: only its logs are recorded. */
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
    select: (selection) => peers.select(selection).map(view),
  };
  const known = {
    of: () => undefined,
    has: () => false,
    find: async () => undefined,
    departed: () => [],
    standingOf: directory.standingOf.bind(directory),
  };
  return { ...deps, peers: eventPeers, directory: known };
}

/**
 * The events of all members, merged by time; what several report is one event. Members that left or failed are reported:
 * theirs are not known.
 */
export async function* clusterEvents(
  deps: ClusterDeps,
  request: SearchQuery & MemberSelection,
  options?: SearchOptions,
): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
  const departed = deps.directory.departed().filter(({ member }) => isSelected(member, request));
  const known = eventDeps(deps);
  const search = (asked: SearchQuery & MemberSelection, how?: SearchOptions) => searchCluster(known, asked, how);
  for await (const item of joinEvents(search, request, options)) {
    if (isBatch(item)) yield item;
    else {
      const reports = departed.map((recorded) => ({ ...departedReport(recorded, 0), isPartial: true as const }));
      yield { ...item, members: [...item.members, ...reports] };
    }
  }
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

/** The history of the configuration of each member that responds. */
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
