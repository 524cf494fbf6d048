import {
  type AroundRequest,
  type CallOptions,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterDigest,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterNodes,
  type ClusterState,
  encodeAround,
  encodeClusterDigest,
  encodeClusterHistogram,
  encodeClusterSearch,
  encodeMembers,
  type FollowOptions,
  type ForgottenMember,
  loadGaps,
  MEMBER_ID,
  type MemberSelection,
  type NodeState,
  PATHS,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import { decodeClusterDigest, decodeClusterHistogram, decodeLists } from '../decode-response.ts';
import { follow } from '../follow.ts';
import type { ClientDeps } from '../request.ts';
import { countLimits, openSearch, searchItems } from '../search-stream.ts';
import { requestJson } from '../send-request.ts';
import { ClusterFollowPosition } from './cluster-follow-position.ts';

/** These two ids would change the path; all other ids are safe. */
const NO_IDS = ['.', '..'];

/** All nodes of a cluster, queried through one of them over HTTP. */
export class HttpCluster implements ClusterState {
  readonly #deps: ClientDeps;
  readonly #nodeAt: (path: string) => NodeState;

  /** `nodeAt` creates a node with another base path. */
  constructor(deps: ClientDeps, nodeAt: (path: string) => NodeState) {
    this.#deps = deps;
    this.#nodeAt = nodeAt;
  }

  nodes(options: CallOptions = {}): Promise<ClusterNodes> {
    return requestJson({ path: PATHS.clusterNodes, ...options }, this.#deps, decodeLists<ClusterNodes>('nodes'));
  }

  config(request: MemberSelection, options: CallOptions = {}): Promise<ClusterConfig> {
    const httpRequest = { path: PATHS.clusterConfig, query: encodeMembers(request), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterConfig>('configs'));
  }

  configDiff(request: MemberSelection, options: CallOptions = {}): Promise<ClusterConfigDiff> {
    const httpRequest = { path: PATHS.clusterConfigDiff, query: encodeMembers(request), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterConfigDiff>('roles', 'members'));
  }

  logFiles(request: MemberSelection, options: CallOptions = {}): Promise<ClusterLogFiles> {
    const httpRequest = { path: PATHS.clusterLogFiles, query: encodeMembers(request), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterLogFiles>('files', 'members'));
  }

  async *searchLogs(
    request: SearchQuery & MemberSelection,
    options: SearchOptions = {},
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    const httpRequest = { path: PATHS.clusterLogSearch, query: encodeClusterSearch(request, options) };
    yield* searchItems<ClusterItem>(await openSearch(httpRequest, options, this.#deps), request);
  }

  followLogs(
    request: FollowQuery & MemberSelection,
    { signal, gaps = 'load' }: FollowOptions = {},
  ): AsyncIterable<ClusterFollowItem[]> {
    const options = signal ? { signal } : {};
    const { clock } = this.#deps;
    const position = new ClusterFollowPosition(request, clock);
    const followed = follow<ClusterFollowItem>({ path: PATHS.clusterLogFollow, position }, this.#deps, options);
    if (gaps === 'report') return followed;
    const { nodes: _nodes, role: _role, ...wanted } = request;
    return loadGaps<ClusterFollowItem>(followed, wanted, {
      wait: clock.wait,
      ...options,
      // The cursors are those of the member.
      search: (gap, query) => this.member('node' in gap ? gap.node : '').searchLogs(query, options),
    });
  }

  logHistogram(request: HistogramQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterHistogram> {
    const { budget, ...limits } = countLimits(options, this.#deps);
    const httpRequest = { path: PATHS.clusterLogHistogram, query: encodeClusterHistogram(request, budget), ...limits };
    return requestJson(httpRequest, this.#deps, decodeClusterHistogram);
  }

  logDigest(request: DigestQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterDigest> {
    const { budget, ...limits } = countLimits(options, this.#deps);
    const httpRequest = { path: PATHS.clusterLogDigest, query: encodeClusterDigest(request, budget), ...limits };
    return requestJson(httpRequest, this.#deps, decodeClusterDigest);
  }

  async *around(request: AroundRequest, options: CallOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    const httpRequest = { path: PATHS.clusterLogMoment, query: encodeAround(request) };
    // The limit is per member.
    yield* searchItems<ClusterItem>(await openSearch(httpRequest, options, this.#deps), { limit: Infinity });
  }

  /** Unknown members fail on the first request. */
  member(id: string): NodeState {
    return this.#nodeAt(memberPath(id));
  }

  /** A forwarded request is marked in its headers. */
  async forget(id: string, options: CallOptions = {}): Promise<ForgottenMember> {
    const httpRequest = { path: memberPath(id), method: 'DELETE', ...options } as const;
    return requestJson(httpRequest, this.#deps, decodeLists<ForgottenMember>('members'));
  }
}

function memberPath(id: string): string {
  if (!MEMBER_ID.test(id) || NO_IDS.includes(id))
    throw new PortholeError('MEMBER_NOT_FOUND', `${JSON.stringify(id)} cannot be the id of a member`);
  return `${PATHS.clusterNodes}/${id}`;
}
