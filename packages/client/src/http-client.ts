import {
  type BundleRequest,
  type CallOptions,
  type ClientSession,
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterConfigHistory,
  type ClusterDigest,
  type ClusterFields,
  type ClusterFollowItem,
  type ClusterHistogram,
  type ClusterItem,
  type ClusterLogFiles,
  type ClusterNodes,
  type ClusterRecord,
  type ClusterTop,
  type ConfigDiffRequest,
  type ConfigVersion,
  type Coverage,
  encodeAround,
  encodeEventFollow,
  encodeFollow,
  encodeParameters,
  encodeSearch,
  encodeVersionNode,
  type FollowOptions,
  type ForgottenMember,
  type Incident,
  type MemberSelection,
  type NodeDescription,
  PATHS,
  REQUEST_ROWS,
  type RequestId,
  type SavedViews,
  type SearchOptions,
  selectsMembers,
  withoutSelection,
} from '@porthole/contract';
import type { ByteStream } from '@porthole/logs/types';
import { bodyBytes } from './body-bytes.ts';
import { checkArguments, checkOptions, invalid } from './check-arguments.ts';
import {
  type AroundLogRequest,
  type Client,
  type DigestRequest,
  type FieldsRequest,
  type FollowRequest,
  type HistogramRequest,
  type HistoryRequest,
  type IncidentQuery,
  type NodeClient,
  parseRequest,
  type QueryCondition,
  type RecordsOptions,
  type RecordsRequest,
  type SearchRequest,
  type TopRequest,
} from './client.ts';
import { type ClientOptions, IDENTITY_ENCODING, strictOptions } from './client-options.ts';
import { decodeConfigVersion, decodeLists } from './decode-response.ts';
import { type DocumentId, type Documents, forgetMember, memberPath, requestDocument } from './documents.ts';
import type { ClientDeps } from './exchange.ts';
import { follow, withoutGaps } from './follow/follow.ts';
import { FollowPosition } from './follow/follow-position.ts';
import { HttpContract } from './http-contract.ts';
import { SYSTEM_CLOCK } from './retry.ts';
import { openSearch, type SearchBounds, searchItems } from './search-stream.ts';
import { rejectPage, requestJson, sendRequest } from './send-request.ts';

/** Additional stall time: a node may wait for its members while it creates a bundle. */
const BUNDLE_PAUSE_MS = 60_000;

/** The operations on nodes over HTTP: of any, or of one that was chosen. */
class HttpNodes extends HttpContract implements NodeClient {
  protected readonly deps: ClientDeps;
  /** The node that was chosen. */
  readonly #id: string | undefined;

  constructor(deps: ClientDeps, id?: string) {
    super(id === undefined ? deps : { ...deps, pathPrefix: memberPath(id) });
    this.deps = deps;
    this.#id = id;
  }

  async settings(request: MemberSelection = {}, options: CallOptions = {}): Promise<ClusterConfig> {
    return this.#ask('settings', request, options);
  }

  async configDiff(request: ConfigDiffRequest = {}, options: CallOptions = {}): Promise<ClusterConfigDiff> {
    return this.#ask('configDiff', request, options);
  }

  async configHistory(request: HistoryRequest = {}, options: CallOptions = {}): Promise<ClusterConfigHistory> {
    return this.#ask('configHistory', request, options);
  }

  async configVersion(version: string, options: CallOptions = {}): Promise<ConfigVersion> {
    checkOptions('configVersion', options);
    const path = `${PATHS.configHistory}/${encodeURIComponent(version)}`;
    return requestJson({ path, query: encodeVersionNode(this.#id), ...options }, this.deps, decodeConfigVersion);
  }

  async logFiles(request: MemberSelection = {}, options: CallOptions = {}): Promise<ClusterLogFiles> {
    return this.#ask('logFiles', request, options);
  }

  async histogram(request: HistogramRequest = {}, options: SearchOptions = {}): Promise<ClusterHistogram> {
    return this.#ask('histogram', request, options);
  }

  async digest(request: DigestRequest = {}, options: SearchOptions = {}): Promise<ClusterDigest> {
    return this.#ask('digest', request, options);
  }

  async fields(request: FieldsRequest = {}, options: SearchOptions = {}): Promise<ClusterFields> {
    return this.#ask('fields', request, options);
  }

  async top(request: TopRequest, options: SearchOptions = {}): Promise<ClusterTop> {
    return this.#ask('top', request, options);
  }

  async incident(request: IncidentQuery = {}, options: SearchOptions = {}): Promise<Incident> {
    return this.#ask('incident', request, options);
  }

  async *search(
    request: SearchRequest = {},
    options: SearchOptions = {},
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    const query = encodeSearch(this.#checked('search', request, options), options);
    if (this.#id === undefined || !isInOneNode(request))
      return yield* this.#records({ path: PATHS.logSearch, query }, request, options);
    for (const name of ['nodes', 'role', 'label']) query.delete(name);
    yield* this.#records({ path: PATHS.logSearch, query }, request, options, this.#forwarded(this.#id));
  }

  async *events(
    request: SearchRequest = {},
    options: SearchOptions = {},
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    const query = encodeSearch(this.#checked('events', request, options), options);
    yield* this.#records({ path: PATHS.events, query }, request, options);
  }

  async *around(request: AroundLogRequest, options: CallOptions = {}): AsyncGenerator<ClusterItem[], void, undefined> {
    const query = encodeAround(this.#checked('around', request, options));
    // The limit is per member.
    yield* this.#records({ path: PATHS.logAround, query }, {}, options);
  }

  follow(request: FollowRequest = {}, options: FollowOptions = {}): AsyncIterable<ClusterFollowItem[]> {
    const { gaps = 'load', signal, heartbeatMs, positions } = options;
    const query = { ...this.#checked('follow', request, options), start: request.start ?? ('end' as const) };
    const limits = signal ? { signal } : {};
    const { clock } = this.deps;
    const position = new FollowPosition<ClusterFollowItem>(query, { clock, encode: encodeFollow });
    const followed = follow<ClusterFollowItem>(
      { path: PATHS.logFollow, position, heartbeatMs, positions },
      this.deps,
      limits,
    );
    if (gaps === 'report') return followed;
    return withoutGaps<ClusterFollowItem>(followed, withoutSelection(query), {
      wait: clock.wait,
      ...limits,
      search: (gap, page) => this.#nodesOf(gap, query).search(page, limits),
      onLoaded: (records) => position.loaded(records),
    });
  }

  followEvents(request: FollowRequest = {}, options: FollowOptions = {}): AsyncIterable<ClusterFollowItem[]> {
    const { signal, heartbeatMs, positions } = options;
    const query = { ...this.#checked('followEvents', request, options), start: request.start ?? ('end' as const) };
    const position = new FollowPosition<ClusterFollowItem>(query, {
      clock: this.deps.clock,
      encode: encodeEventFollow,
    });
    return follow({ path: PATHS.events, position, heartbeatMs, positions }, this.deps, signal ? { signal } : {});
  }

  async *records(
    request: RecordsRequest = {},
    options: RecordsOptions = {},
  ): AsyncGenerator<ClusterRecord, Coverage | undefined, undefined> {
    checkArguments('records', request, options);
    const { readFollow, readPages } = await import('./read-records.ts');
    const { follow: follows, ...query } = request;
    if (!follows) return yield* readPages((page, limits) => this.search(page, limits), query as SearchRequest, options);
    yield* readFollow(this.follow(query as FollowRequest, options), options.onEvent);
    return undefined;
  }

  async bundle(request: Partial<BundleRequest> = {}, options: CallOptions = {}): Promise<ByteStream> {
    const query = encodeParameters(REQUEST_ROWS.bundle, this.#checked('bundle', request, options));
    const httpRequest = { path: PATHS.bundle, query, headers: IDENTITY_ENCODING, scanMs: BUNDLE_PAUSE_MS, ...options };
    const exchange = await sendRequest(httpRequest, this.deps);
    try {
      rejectPage(exchange);
      return bodyBytes(exchange);
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  #ask<Id extends DocumentId & RequestId>(id: Id, request: object, options: SearchOptions): Promise<Documents[Id]> {
    return requestDocument(id, { request: this.#checked(id, request, options), options }, this.deps);
  }

  /** The request with its query parsed, and of the node that was chosen. */
  #checked<Request extends QueryCondition & MemberSelection>(id: RequestId, request: Request, options: object) {
    checkArguments(id, request, options);
    const parsed = parseRequest(request);
    if (this.#id === undefined) return parsed;
    if (selectsMembers(request))
      throw invalid(`${id}() of one node: leave out "nodes", "role", "labels" and nodes in "src"`);
    return { ...parsed, nodes: [this.#id] };
  }

  /** Who is asked for the records of a gap: the node of the log, which alone knows their cursors. */
  #nodesOf(gap: object, query: MemberSelection): NodeClient {
    const isOther = selectsMembers(query) && 'node' in gap && typeof gap.node === 'string';
    return isOther ? new HttpNodes(this.deps, String(gap.node)) : this;
  }

  /** To the node itself, through the one that is asked. */
  #forwarded(id: string): ClientDeps {
    return { ...this.deps, pathPrefix: memberPath(id) };
  }

  async *#records(
    route: { path: string; query: URLSearchParams },
    bounds: SearchBounds,
    options: SearchOptions,
    deps = this.deps,
  ): AsyncGenerator<ClusterItem[], void, undefined> {
    yield* searchItems<ClusterItem>(await openSearch(route, options, deps), bounds);
  }
}

/** Whether a search begins or ends at a position that only the node of the log knows. */
function isInOneNode({ start, until }: SearchRequest): boolean {
  return until !== undefined || (start !== undefined && ('record' in start || 'offset' in start));
}

/** A node over HTTP, and through it all nodes of its cluster. */
export class HttpClient extends HttpNodes implements Client {
  readonly url: string;

  constructor(deps: ClientDeps) {
    super(deps);
    this.url = deps.options.base;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    return this.#own('describe', options);
  }

  async session(options: CallOptions = {}): Promise<ClientSession> {
    return this.#own('session', options);
  }

  async nodes(options: CallOptions = {}): Promise<ClusterNodes> {
    return this.#own('nodes', options);
  }

  node(id: string): NodeClient {
    return new HttpNodes(this.deps, id);
  }

  async forget(id: string, options: CallOptions = {}): Promise<ForgottenMember> {
    checkOptions('forget', options);
    return forgetMember(id, options, this.deps);
  }

  async views(options: CallOptions = {}): Promise<SavedViews> {
    return this.#own('views', options);
  }

  async saveView(name: string, query: string, options: CallOptions = {}): Promise<SavedViews> {
    checkOptions('saveView', options);
    const body = JSON.stringify({ query });
    return requestJson({ path: viewPath(name), method: 'PUT', body, ...options }, this.deps, decodeViews);
  }

  async deleteView(name: string, options: CallOptions = {}): Promise<SavedViews> {
    checkOptions('deleteView', options);
    return requestJson({ path: viewPath(name), method: 'DELETE', ...options }, this.deps, decodeViews);
  }

  #own<Id extends DocumentId>(id: Id, options: CallOptions): Promise<Documents[Id]> {
    checkOptions(id, options);
    return requestDocument(id, { options }, this.deps);
  }
}

const decodeViews = decodeLists<SavedViews>('views');

function viewPath(name: string): string {
  return `${PATHS.views}/${encodeURIComponent(name)}`;
}

/** Creates a client for a node. It keeps nothing open between requests, so there is nothing to close. */
export function createClient(options: ClientOptions): Client {
  return new HttpClient({ options: strictOptions(options), clock: SYSTEM_CLOCK });
}
