import {
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
  encodeClusterDigest,
  encodeClusterHistogram,
  encodeClusterSearch,
  encodeMembers,
  encodeMoment,
  type FollowOptions,
  type ForgottenMember,
  loadGaps,
  MEMBER_ID,
  type MemberSelection,
  type MomentRequest,
  type NodeState,
  PATHS,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { DigestQuery, FollowQuery, HistogramQuery, SearchQuery } from '@porthole/logs/types';
import { askJson } from '../ask.ts';
import { follow } from '../follow.ts';
import { countLimits, openSearch } from '../looking.ts';
import type { AskParts } from '../question.ts';
import { searchItems } from '../search-stream.ts';
import { hasList, readClusterDigest, readClusterHistogram } from '../shapes.ts';
import { ClusterFollowPlace } from './cluster-follow-place.ts';

/** In a path these two would lead elsewhere; whatever else an id may hold stands for itself. */
const NO_IDS = ['.', '..'];

/** All nodes of a cluster, asked through one of them over HTTP. */
export class HttpCluster implements ClusterState {
  readonly #parts: AskParts;
  readonly #nodeBelow: (path: string) => NodeState;

  /** `nodeBelow` makes a node whose routes are asked below another path. */
  constructor(parts: AskParts, nodeBelow: (path: string) => NodeState) {
    this.#parts = parts;
    this.#nodeBelow = nodeBelow;
  }

  nodes(options: CallOptions = {}): Promise<ClusterNodes> {
    return askJson({ path: PATHS.clusterNodes, ...options }, this.#parts, hasList<ClusterNodes>('nodes'));
  }

  config(request: MemberSelection, options: CallOptions = {}): Promise<ClusterConfig> {
    const question = { path: PATHS.clusterConfig, query: encodeMembers(request), ...options };
    return askJson(question, this.#parts, hasList<ClusterConfig>('configs'));
  }

  configDiff(request: MemberSelection, options: CallOptions = {}): Promise<ClusterConfigDiff> {
    const question = { path: PATHS.clusterConfigDiff, query: encodeMembers(request), ...options };
    return askJson(question, this.#parts, hasList<ClusterConfigDiff>('roles', 'members'));
  }

  logFiles(request: MemberSelection, options: CallOptions = {}): Promise<ClusterLogFiles> {
    const question = { path: PATHS.clusterLogFiles, query: encodeMembers(request), ...options };
    return askJson(question, this.#parts, hasList<ClusterLogFiles>('files', 'members'));
  }

  async *searchLogs(
    request: SearchQuery & MemberSelection,
    options: SearchOptions = {},
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    const question = { path: PATHS.clusterLogSearch, query: encodeClusterSearch(request, options) };
    yield* searchItems<ClusterItem>(await openSearch(question, options, this.#parts), request);
  }

  followLogs(
    request: FollowQuery & MemberSelection,
    { signal, gaps = 'load' }: FollowOptions = {},
  ): AsyncIterable<ClusterFollowItem[]> {
    const options = signal ? { signal } : {};
    const { clock } = this.#parts;
    const place = new ClusterFollowPlace(request, clock);
    const followed = follow<ClusterFollowItem>({ path: PATHS.clusterLogFollow, place }, this.#parts, options);
    if (gaps === 'report') return followed;
    const { nodes: _nodes, role: _role, ...wanted } = request;
    return loadGaps<ClusterFollowItem>(followed, wanted, {
      wait: clock.wait,
      ...options,
      // Its cursors are those of the member.
      search: (gap, query) => this.member('node' in gap ? gap.node : '').searchLogs(query, options),
    });
  }

  logHistogram(request: HistogramQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterHistogram> {
    const { budget, ...limits } = countLimits(options, this.#parts);
    const question = { path: PATHS.clusterLogHistogram, query: encodeClusterHistogram(request, budget), ...limits };
    return askJson(question, this.#parts, readClusterHistogram);
  }

  logDigest(request: DigestQuery & MemberSelection, options: SearchOptions = {}): Promise<ClusterDigest> {
    const { budget, ...limits } = countLimits(options, this.#parts);
    const question = { path: PATHS.clusterLogDigest, query: encodeClusterDigest(request, budget), ...limits };
    return askJson(question, this.#parts, readClusterDigest);
  }

  async *moment(request: MomentRequest, options: CallOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    const question = { path: PATHS.clusterLogMoment, query: encodeMoment(request) };
    // Its limit counts for each member.
    yield* searchItems<ClusterItem>(await openSearch(question, options, this.#parts), { limit: Infinity });
  }

  /** Whether there is such a member shows when it is asked. */
  member(id: string): NodeState {
    return this.#nodeBelow(pathOf(id));
  }

  /** Who passes an order on says so in its headers. */
  async forget(id: string, options: CallOptions = {}): Promise<ForgottenMember> {
    const question = { path: pathOf(id), method: 'DELETE', ...options } as const;
    return askJson(question, this.#parts, hasList<ForgottenMember>('members'));
  }
}

function pathOf(id: string): string {
  if (!MEMBER_ID.test(id) || NO_IDS.includes(id))
    throw new PortholeError('MEMBER_NOT_FOUND', `${JSON.stringify(id)} cannot be the id of a member`);
  return `${PATHS.clusterNodes}/${id}`;
}
