import {
  type BundleRequest,
  type CallOptions,
  type ClientSession,
  type ConfigHistory,
  type ConfigHistoryRequest,
  type ConfigOptions,
  type ConfigVersion,
  type CountId,
  type CountRequest,
  type CountResponses,
  type Coverage,
  encodeBundle,
  encodeConfig,
  encodeCount,
  encodeEventFollow,
  encodeHistory,
  encodeIncident,
  encodeLogFiles,
  encodeSearch,
  encodeView,
  type FileRequest,
  type FollowOptions,
  type Incident,
  type LogFilesOptions,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  ONLY_RAW,
  PATHS,
  RECORDS_HEADER,
  RECORDS_TYPE,
  type SavedViews,
  type SearchOptions,
} from '@porthole/contract';
import { ONCE, Shared } from '@porthole/logs/shared';
import type {
  ByteStream,
  Digest,
  Fields,
  FollowItem,
  FoundRecord,
  Histogram,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchEnd,
  SearchItem,
  SearchQuery,
  Top,
} from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import { bodyBytes } from './body-bytes.ts';
import { checkArguments, checkOptions } from './check-arguments.ts';
import { type ClientOptions, IDENTITY_ENCODING, strictOptions } from './client-options.ts';
import {
  type ClusterClient,
  type DigestRequest,
  type FieldsRequest,
  type FollowRequest,
  type HistogramRequest,
  type IncidentQuery,
  type NodeClient,
  parseRequest,
  type RecordsEvent,
  type RecordsOptions,
  type RecordsRequest,
  type SearchRequest,
  type TopRequest,
  type ViewLogRequest,
} from './client-requests.ts';
import { HttpCluster } from './cluster/http-cluster.ts';
import {
  decodeConfig,
  decodeConfigVersion,
  decodeCount,
  decodeDescription,
  decodeLists,
  decodeLogList,
  decodeOwnFiles,
  decodeOwnHistory,
  decodeOwnSettings,
} from './decode-response.ts';
import type { ClientDeps, Exchange } from './exchange.ts';
import { follow, withoutGaps } from './follow/follow.ts';
import { NodeFollowPosition } from './follow/node-follow-position.ts';
import { SYSTEM_CLOCK } from './retry.ts';
import { countLimits, openSearch, searchItems } from './search-stream.ts';
import { rejectPage, requestJson, sendRequest } from './send-request.ts';

/** Additional stall time: a node may wait for its members while it creates a bundle. */
const BUNDLE_PAUSE_MS = 60_000;

/** Records as the node itself has them; other implementations send the lines they have. */
const OWN_RECORDS = `${RECORDS_TYPE}, application/x-ndjson`;

/** A node description has some hundred bytes and is requested in the background. */
const MAX_DESCRIPTION_BYTES = 256 * 1024;

/** Ten thousand buckets and the problems; a thousand fields with their examples. */
const MAX_COUNT_BYTES: Partial<Record<CountId, number>> = { logHistogram: 4 * 1024 ** 2, logFields: 8 * 1024 ** 2 };

export class HttpNode implements NodeClient {
  /**
   * Pages in browsers, which load all of the client first, have no use for lines. Kept: an import that is done already still
   * takes as long as a small part of a short request.
   */
  static readonly #batches = new Shared<typeof import('./search-batches.ts')>(ONCE);
  readonly url: string;
  readonly #deps: ClientDeps;

  constructor(deps: ClientDeps) {
    this.#deps = deps;
    this.url = deps.options.base;
  }

  get cluster(): ClusterClient {
    const deps = this.#deps;
    return new HttpCluster(deps, (pathPrefix) => new HttpNode({ ...deps, pathPrefix }));
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    checkOptions('describe', options);
    const httpRequest = { path: PATHS.node, maxBytes: MAX_DESCRIPTION_BYTES, ...options };
    return requestJson(httpRequest, this.#deps, decodeDescription);
  }

  async config({ format, ...options }: ConfigOptions = {}): Promise<NodeConfig> {
    checkOptions('config', { format, ...options });
    return requestJson({ path: PATHS.config, query: encodeConfig({ format }), ...options }, this.#deps, decodeConfig);
  }

  async settings(options: CallOptions = {}): Promise<NodeSettings> {
    checkOptions('settings', options);
    return requestJson({ path: PATHS.settings, ...options }, this.#deps, decodeOwnSettings);
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    checkOptions('listLogs', options);
    return requestJson({ path: PATHS.logList, ...options }, this.#deps, decodeLogList);
  }

  async logFiles({ src, ...options }: LogFilesOptions = {}): Promise<LogFileDetails[]> {
    checkOptions('logFiles', options);
    const httpRequest = { path: PATHS.logFiles, query: encodeLogFiles(src ? { src } : {}), ...options };
    return requestJson(httpRequest, this.#deps, decodeOwnFiles);
  }

  async viewLog(request: ViewLogRequest, options: CallOptions = {}): Promise<ByteStream> {
    checkArguments('viewLog', request, options);
    const query = encodeView(request);
    const how = { headers: IDENTITY_ENCODING, isPaced: true, awaitsBody: true };
    const httpRequest = { path: PATHS.logView, query, ...how, ...options };
    // A newline may be added to the last line.
    const maxBytes = (request.sizeBytes ?? Number.POSITIVE_INFINITY) + 1;
    return bodyBytes(await sendRequest(httpRequest, this.#deps), { maxBytes });
  }

  async openLog(request: FileRequest, options: CallOptions = {}): Promise<OpenLog> {
    checkArguments('openLog', request, options);
    const { openRemoteLog } = await import('./remote-log.ts');
    return openRemoteLog(request, this.#deps, options.signal);
  }

  async *searchLogs(
    request: SearchRequest = {},
    options: SearchOptions = {},
  ): AsyncGenerator<SearchItem[], void, undefined> {
    checkArguments('searchLogs', request, options);
    yield* searchItems(await this.#search(request, options), request);
  }

  async *search(
    request: SearchRequest = {},
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    checkArguments('search', request, options);
    const { searchBatches } = await HttpNode.#batches.run(() => import('./search-batches.ts'));
    yield* searchBatches(await this.#search(request, options), request);
  }

  followLogs(request: FollowRequest = {}, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    checkArguments('followLogs', request, options);
    const { gaps = 'load', signal, heartbeatMs, texts, positions } = options;
    const query = { ...parseRequest(request), start: request.start ?? 'end' };
    const limits = signal ? { signal } : {};
    const position = new NodeFollowPosition(query);
    const target = { path: PATHS.logFollow, position, heartbeatMs, texts, positions, isOwn: true };
    const followed = follow(target, this.#deps, limits);
    const onLoaded = (records: readonly FoundRecord[]) => {
      position.track([...records], { heartbeat: false, ids: [] });
    };
    if (gaps === 'report') return followed;
    const { wait } = this.#deps.clock;
    const search = (_: unknown, page: SearchQuery) => this.searchLogs(page, limits);
    return withoutGaps(followed, query, { wait, ...limits, search, onLoaded });
  }

  async *records(
    request: RecordsRequest = {},
    options: RecordsOptions<RecordsEvent> = {},
  ): AsyncGenerator<FoundRecord, Coverage | undefined, undefined> {
    checkArguments('records', request, options);
    const { readFollow, readPages } = await import('./read-records.ts');
    const { follow: _, ...query } = request;
    if (!request.follow)
      return yield* readPages<SearchItem>(
        (page, limits) => this.searchLogs(page, limits),
        query as SearchRequest,
        options,
      );
    yield* readFollow(this.followLogs(query as FollowRequest, options), options.onEvent);
    return undefined;
  }

  async logHistogram(request: HistogramRequest = {}, options: SearchOptions = {}): Promise<Histogram> {
    return this.#count('logHistogram', request, options);
  }

  async logDigest(request: DigestRequest = {}, options: SearchOptions = {}): Promise<Digest> {
    return this.#count('logDigest', request, options);
  }

  async logFields(request: FieldsRequest = {}, options: SearchOptions = {}): Promise<Fields> {
    return this.#count('logFields', request, options);
  }

  async logTop(request: TopRequest, options: SearchOptions = {}): Promise<Top> {
    return this.#count('logTop', request, options);
  }

  async *events(
    request: SearchRequest = {},
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    checkArguments('events', request, options);
    const { searchBatches } = await HttpNode.#batches.run(() => import('./search-batches.ts'));
    const headers = { accept: OWN_RECORDS };
    const httpRequest = { path: PATHS.events, query: encodeSearch(parseRequest(request), options), headers };
    yield* searchBatches(await openSearch(httpRequest, options, this.#deps), request);
  }

  followEvents(request: FollowRequest = {}, options: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    checkArguments('followEvents', request, options);
    const { signal, heartbeatMs, positions } = options;
    const query = { ...parseRequest(request), start: request.start ?? 'end' };
    const position = new NodeFollowPosition(query, encodeEventFollow);
    const target = { path: PATHS.events, position, heartbeatMs, positions, isOwn: true };
    return follow(target, this.#deps, signal ? { signal } : {});
  }

  async configHistory(request: Partial<ConfigHistoryRequest> = {}, options: CallOptions = {}): Promise<ConfigHistory> {
    checkArguments('configHistory', request, options);
    const httpRequest = { path: PATHS.configHistory, query: encodeHistory(request), ...options };
    return requestJson(httpRequest, this.#deps, decodeOwnHistory);
  }

  async configVersion(version: string, options: CallOptions = {}): Promise<ConfigVersion> {
    checkOptions('configVersion', options);
    const path = `${PATHS.configHistory}/${encodeURIComponent(version)}`;
    return requestJson({ path, ...options }, this.#deps, decodeConfigVersion);
  }

  async incident(request: IncidentQuery = {}, options: SearchOptions = {}): Promise<Incident> {
    checkArguments('incident', request, options);
    const { budget, ...limits } = countLimits(options, this.#deps);
    const httpRequest = { path: PATHS.incident, query: encodeIncident(parseRequest(request), budget), ...limits };
    return requestJson(httpRequest, this.#deps, decodeLists<Incident>('steps', 'standouts', 'members'));
  }

  async session(options: CallOptions = {}): Promise<ClientSession> {
    checkOptions('session', options);
    return requestJson({ path: PATHS.session, ...options }, this.#deps, decodeLists<ClientSession>('roles'));
  }

  async views(options: CallOptions = {}): Promise<SavedViews> {
    checkOptions('views', options);
    return requestJson({ path: PATHS.views, ...options }, this.#deps, decodeViews);
  }

  async saveView(name: string, query: string, options: CallOptions = {}): Promise<SavedViews> {
    checkOptions('saveView', options);
    const body = JSON.stringify({ query });
    return requestJson({ path: viewPath(name), method: 'PUT', body, ...options }, this.#deps, decodeViews);
  }

  async deleteView(name: string, options: CallOptions = {}): Promise<SavedViews> {
    checkOptions('deleteView', options);
    return requestJson({ path: viewPath(name), method: 'DELETE', ...options }, this.#deps, decodeViews);
  }

  async bundle(request: Partial<BundleRequest> = {}, options: CallOptions = {}): Promise<ByteStream> {
    checkArguments('bundle', request, options);
    const httpRequest = {
      path: PATHS.bundle,
      query: encodeBundle(request),
      headers: IDENTITY_ENCODING,
      scanMs: BUNDLE_PAUSE_MS,
    };
    const exchange = await sendRequest({ ...httpRequest, ...options }, this.#deps);
    try {
      rejectPage(exchange);
      return bodyBytes(exchange);
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  #count<Id extends CountId>(id: Id, request: CountRequest<Id>, options: SearchOptions): Promise<CountResponses[Id]> {
    checkArguments(id, request, options);
    const { budget, ...limits } = countLimits(options, this.#deps);
    const query = encodeCount(id, parseRequest(request) as CountRequest<Id>, budget);
    const httpRequest = { path: PATHS[id], query, maxBytes: MAX_COUNT_BYTES[id] ?? Infinity, ...limits };
    return requestJson(httpRequest, this.#deps, (value) => decodeCount(id, value, request as { limit?: number }));
  }

  #search(request: SearchRequest, options: SearchOptions): Promise<Exchange> {
    const query = encodeSearch(parseRequest(request), options);
    const headers = { accept: OWN_RECORDS, ...(options.onlyRaw && { [RECORDS_HEADER]: ONLY_RAW }) };
    return openSearch({ path: PATHS.logSearch, query, headers }, options, this.#deps);
  }
}

const decodeViews = decodeLists<SavedViews>('views');

function viewPath(name: string): string {
  return `${PATHS.views}/${encodeURIComponent(name)}`;
}

/** Creates a client for one node. It keeps nothing open between requests, so there is nothing to close. */
export function createClient(options: ClientOptions): NodeClient {
  return new HttpNode({ options: strictOptions(options), clock: SYSTEM_CLOCK });
}
