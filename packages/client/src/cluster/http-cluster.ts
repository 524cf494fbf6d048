import {
  type CallOptions,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterConfigHistory,
  type ClusterCountResponses,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterNodes,
  type ClusterRecord,
  type ClusterTop,
  type ConfigDiffRequest,
  type ConfigHistoryRequest,
  type CountId,
  type CountRequest,
  type Coverage,
  encodeAround,
  encodeConfigDiff,
  encodeCount,
  encodeEventFollow,
  encodeHistory,
  encodeIncident,
  encodeLogFiles,
  encodeMembers,
  encodeSearch,
  type FollowOptions,
  type ForgottenMember,
  type Incident,
  MEMBER_ID,
  type MemberSelection,
  type NodeState,
  PATHS,
  PortholeError,
  type RecordingHead,
  type SearchOptions,
  selectsMembers,
  withoutSelection,
} from '@porthole/contract';
import { type RecordBatch, toBatches } from '@porthole/records';
import { checkArguments, checkOptions } from '../check-arguments.ts';
import {
  type AroundLogRequest,
  type ClusterClient,
  type ClusterRecordsEvent,
  type DigestRequest,
  type FieldsRequest,
  type FollowRequest,
  type HistogramRequest,
  type IncidentQuery,
  type NodeOperations,
  parseRequest,
  type RecordsOptions,
  type RecordsRequest,
  type SearchRequest,
  type TopRequest,
} from '../client-requests.ts';
import { decodeClusterCount, decodeLists } from '../decode-response.ts';
import type { ClientDeps } from '../exchange.ts';
import { isObject } from '../field-checks.ts';
import { follow, withoutGaps } from '../follow/follow.ts';
import { countLimits, openSearch, searchItems } from '../search-stream.ts';
import { requestJson } from '../send-request.ts';
import { ClusterFollowPosition } from './cluster-follow-position.ts';

/** These two ids would change the path; all other ids are safe. */
const NO_IDS = ['.', '..'];

/** Without a selection, all members: the node that is asked would answer alone. */
function ofMembers<R extends MemberSelection>(request: R): R {
  return selectsMembers(request) ? request : { ...request, nodes: ['*'] };
}

/** All nodes of a cluster, queried through one of them over HTTP. */
export class HttpCluster implements ClusterClient {
  readonly #deps: ClientDeps;
  readonly #nodeAt: (path: string) => NodeOperations;

  /** `nodeAt` creates a node with another base path. */
  constructor(deps: ClientDeps, nodeAt: (path: string) => NodeOperations) {
    this.#deps = deps;
    this.#nodeAt = nodeAt;
  }

  async nodes(options: CallOptions = {}): Promise<ClusterNodes> {
    checkOptions('cluster.nodes', options);
    return requestJson({ path: PATHS.nodes, ...options }, this.#deps, decodeLists<ClusterNodes>('nodes'));
  }

  async config(request: MemberSelection = {}, options: CallOptions = {}): Promise<ClusterConfig> {
    checkArguments('cluster.config', request, options);
    const httpRequest = { path: PATHS.settings, query: encodeMembers(ofMembers(request)), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterConfig>('configs'));
  }

  async configDiff(request: ConfigDiffRequest = {}, options: CallOptions = {}): Promise<ClusterConfigDiff> {
    checkArguments('cluster.configDiff', request, options);
    const httpRequest = { path: PATHS.configDiff, query: encodeConfigDiff(request), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterConfigDiff>('roles', 'members'));
  }

  async logFiles(request: MemberSelection = {}, options: CallOptions = {}): Promise<ClusterLogFiles> {
    checkArguments('cluster.logFiles', request, options);
    const httpRequest = { path: PATHS.logFiles, query: encodeLogFiles(ofMembers(request)), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterLogFiles>('files', 'members'));
  }

  search(
    request: SearchRequest & MemberSelection = {},
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    return toBatches<ClusterRecord, ClusterEnd>(this.searchLogs(request, options));
  }

  async *searchLogs(
    request: SearchRequest & MemberSelection = {},
    options: SearchOptions = {},
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    checkArguments('cluster.searchLogs', request, options);
    const httpRequest = { path: PATHS.logSearch, query: encodeSearch(ofMembers(parseRequest(request)), options) };
    yield* searchItems<ClusterItem>(await openSearch(httpRequest, options, this.#deps), request);
  }

  followLogs(
    request: FollowRequest & MemberSelection = {},
    options: FollowOptions = {},
  ): AsyncIterable<ClusterFollowItem[]> {
    checkArguments('cluster.followLogs', request, options);
    const { gaps = 'load', signal, positions } = options;
    const query = ofMembers({ ...parseRequest(request), start: request.start ?? ('end' as const) });
    const limits = signal ? { signal } : {};
    const { clock } = this.#deps;
    const position = new ClusterFollowPosition(query, clock);
    const followed = follow<ClusterFollowItem>({ path: PATHS.logFollow, position, positions }, this.#deps, limits);
    if (gaps === 'report') return followed;
    return withoutGaps<ClusterFollowItem>(followed, withoutSelection(query), {
      wait: clock.wait,
      ...limits,
      // The cursors are those of the member.
      search: (gap, page) => this.member('node' in gap ? gap.node : '').searchLogs(page, limits),
    });
  }

  async *records(
    request: RecordsRequest & MemberSelection = {},
    options: RecordsOptions<ClusterRecordsEvent> = {},
  ): AsyncGenerator<ClusterRecord, Coverage | undefined, undefined> {
    checkArguments('cluster.records', request, options);
    const { readFollow, readPages } = await import('../read-records.ts');
    const { follow: _, ...query } = request;
    if (!request.follow)
      return yield* readPages<ClusterItem>(
        (page, limits) => this.searchLogs(page, limits),
        query as SearchRequest,
        options,
      );
    yield* readFollow(this.followLogs(query as FollowRequest, options), options.onEvent);
    return undefined;
  }

  async logHistogram(
    request: HistogramRequest & MemberSelection = {},
    options: SearchOptions = {},
  ): Promise<ClusterHistogram> {
    return this.#count('logHistogram', request, options);
  }

  async logDigest(request: DigestRequest & MemberSelection = {}, options: SearchOptions = {}): Promise<ClusterDigest> {
    return this.#count('logDigest', request, options);
  }

  async logFields(request: FieldsRequest & MemberSelection = {}, options: SearchOptions = {}): Promise<ClusterFields> {
    return this.#count('logFields', request, options);
  }

  async logTop(request: TopRequest & MemberSelection, options: SearchOptions = {}): Promise<ClusterTop> {
    return this.#count('logTop', request, options);
  }

  #count<Id extends CountId>(
    id: Id,
    request: CountRequest<Id> & MemberSelection,
    options: SearchOptions,
  ): Promise<ClusterCountResponses[Id]> {
    checkArguments(`cluster.${id}`, request, options);
    const { budget, ...limits } = countLimits(options, this.#deps);
    const query = encodeCount(id, ofMembers(parseRequest(request) as typeof request), budget);
    const httpRequest = { path: PATHS[id], query, ...limits };
    return requestJson(httpRequest, this.#deps, (value) => decodeClusterCount(id, value));
  }

  async *events(
    request: SearchRequest & MemberSelection = {},
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
    checkArguments('cluster.events', request, options);
    const httpRequest = { path: PATHS.events, query: encodeSearch(ofMembers(parseRequest(request)), options) };
    const items = searchItems<ClusterItem>(await openSearch(httpRequest, options, this.#deps), request);
    yield* toBatches<ClusterRecord, ClusterEnd>(items);
  }

  followEvents(
    request: FollowRequest & MemberSelection = {},
    options: FollowOptions = {},
  ): AsyncIterable<ClusterFollowItem[]> {
    checkArguments('cluster.followEvents', request, options);
    const { signal, positions } = options;
    const query = ofMembers({ ...parseRequest(request), start: request.start ?? ('end' as const) });
    const position = new ClusterFollowPosition(query, this.#deps.clock, encodeEventFollow);
    return follow({ path: PATHS.events, position, positions }, this.#deps, signal ? { signal } : {});
  }

  async configHistory(
    request: Partial<ConfigHistoryRequest> & MemberSelection = {},
    options: CallOptions = {},
  ): Promise<ClusterConfigHistory> {
    checkArguments('cluster.configHistory', request, options);
    const httpRequest = { path: PATHS.configHistory, query: encodeHistory(ofMembers(request)), ...options };
    return requestJson(httpRequest, this.#deps, decodeLists<ClusterConfigHistory>('nodes', 'members'));
  }

  async incident(request: IncidentQuery & MemberSelection = {}, options: SearchOptions = {}): Promise<Incident> {
    checkArguments('cluster.incident', request, options);
    const { budget, ...limits } = countLimits(options, this.#deps);
    const query = encodeIncident(ofMembers(parseRequest(request)), budget);
    const httpRequest = { path: PATHS.incident, query, ...limits };
    return requestJson(httpRequest, this.#deps, decodeLists<Incident>('steps', 'standouts', 'members'));
  }

  async *around(request: AroundLogRequest, options: CallOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    checkArguments('cluster.around', request, options);
    const httpRequest = { path: PATHS.logAround, query: encodeAround(ofMembers(request)) };
    // The limit is per member.
    yield* searchItems<ClusterItem>(await openSearch(httpRequest, options, this.#deps), {});
  }

  /** Unknown members fail on the first request. */
  member(id: string): NodeOperations {
    return this.#nodeAt(memberPath(id));
  }

  /** A forwarded request is marked in its headers. */
  async forget(id: string, options: CallOptions = {}): Promise<ForgottenMember> {
    const httpRequest = { path: memberPath(id), method: 'DELETE', ...options } as const;
    return requestJson(httpRequest, this.#deps, decodeLists<ForgottenMember>('members'));
  }

  async recordingHead(id: string, options: CallOptions = {}): Promise<RecordingHead> {
    return requestJson({ path: recordingPath(id), ...options }, this.#deps, decodeRecordingHead);
  }

  /** Members without a recording fail on the first request. */
  recordedMember(id: string): NodeState {
    return this.#nodeAt(recordingPath(id));
  }
}

function decodeRecordingHead(value: unknown): RecordingHead | undefined {
  if (!isObject(value)) return undefined;
  const { ageMs, lostAgeMs = null, sinceMs = null, lastRecordMs = null, clock = null } = value;
  const isNumbers = [lostAgeMs, sinceMs, lastRecordMs].every((time) => time === null || Number.isFinite(time));
  const isClock =
    clock === null || (isObject(clock) && Number.isFinite(clock.offsetMs) && Number.isFinite(clock.uncertaintyMs));
  return Number.isFinite(ageMs) && isNumbers && isClock ? (value as unknown as RecordingHead) : undefined;
}

function recordingPath(id: string): string {
  return memberPath(id).replace(PATHS.nodes, PATHS.recording.slice(0, -'/{id}'.length));
}

function memberPath(id: string): string {
  if (!MEMBER_ID.test(id) || NO_IDS.includes(id))
    throw new PortholeError('MEMBER_NOT_FOUND', `${JSON.stringify(id)} cannot be the id of a member`);
  return `${PATHS.nodes}/${id}`;
}
