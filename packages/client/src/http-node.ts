import {
  type BundleRequest,
  type CallOptions,
  type ClusterState,
  encodeBundle,
  encodeDigest,
  encodeHistogram,
  encodeSearch,
  encodeView,
  exactJson,
  type FileRequest,
  type FollowOptions,
  loadGaps,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  PATHS,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import type {
  ByteStream,
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
  FoundRecord,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  OpenLog,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';
import { bodyBytes } from './body-bytes.ts';
import { type ClientOptions, strictOptions } from './client-options.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { HttpCluster } from './cluster/http-cluster.ts';
import {
  decodeConfig,
  decodeDescription,
  decodeDigest,
  decodeHistogram,
  decodeLogFiles,
  decodeLogList,
  decodeSettings,
} from './decode-response.ts';
import type { Exchange } from './exchange.ts';
import { follow } from './follow.ts';
import { NodeFollowPosition } from './node-follow-position.ts';
import { IDENTITY_ENCODING, openRemoteLog } from './remote-log.ts';
import type { ClientDeps } from './request.ts';
import { countLimits, openSearch, searchItems } from './search-stream.ts';
import { rejectPage, requestJson, sendRequest } from './send-request.ts';

/** Additional stall time: a node may wait for its members while it creates a bundle. */
const BUNDLE_PAUSE_MS = 60_000;

/** A node description has some hundred bytes and is requested in the background. */
const MAX_DESCRIPTION_BYTES = 256 * 1024;

/** Ten thousand buckets and the problems. */
const MAX_HISTOGRAM_BYTES = 4 * 1024 ** 2;

const ENCODER = new TextEncoder();

/** A node over HTTP. */
export interface NodeClient extends NodeState {
  /** Base address without a trailing slash. */
  readonly url: string;
  /** Queries over all nodes of its cluster. Nodes without cluster support fail on the first request. */
  readonly cluster: ClusterState;
  /**
   * A support bundle of all nodes of its cluster: a ZIP archive, streamed while it is created. Its last file is a `BundleManifest`.
   * The caller closes the response.
   */
  bundle(request: BundleRequest, options?: CallOptions): Promise<ByteStream>;
}

export class HttpNode implements NodeClient {
  readonly url: string;
  readonly #deps: ClientDeps;

  constructor(deps: ClientDeps) {
    this.#deps = deps;
    this.url = deps.options.base;
  }

  get cluster(): ClusterState {
    const deps = this.#deps;
    return new HttpCluster(deps, (pathPrefix) => new HttpNode({ ...deps, pathPrefix }));
  }

  describe(options: CallOptions = {}): Promise<NodeDescription> {
    return requestJson(
      { path: PATHS.node, maxBytes: MAX_DESCRIPTION_BYTES, ...options },
      this.#deps,
      decodeDescription,
    );
  }

  config(options: CallOptions = {}): Promise<NodeConfig> {
    return requestJson({ path: PATHS.config, ...options }, this.#deps, decodeConfig);
  }

  settings(options: CallOptions = {}): Promise<NodeSettings> {
    return requestJson({ path: PATHS.settings, ...options }, this.#deps, decodeSettings);
  }

  listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    return requestJson({ path: PATHS.logList, ...options }, this.#deps, decodeLogList);
  }

  logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return requestJson({ path: PATHS.logFiles, ...options }, this.#deps, decodeLogFiles);
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    const httpRequest = {
      path: PATHS.logView,
      query: encodeView(request),
      headers: IDENTITY_ENCODING,
      isPaced: true,
      ...options,
    };
    // A newline may be added to the last line.
    return bodyBytes(await sendRequest(httpRequest, this.#deps), { maxBytes: request.sizeBytes + 1 });
  }

  openLog(request: FileRequest, { signal }: CallOptions = {}): Promise<OpenLog> {
    return openRemoteLog(request, this.#deps, signal);
  }

  async *searchLogs(request: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[], void, undefined> {
    yield* searchItems(await this.#search(request, options), request);
  }

  async *searchLogLines(
    request: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    // Decoded and re-encoded: only understood fields are passed on.
    for await (const items of this.searchLogs(request, options)) {
      yield ENCODER.encode(items.map((item) => `${exactJson(item)}\n`).join(''));
    }
  }

  followLogs(request: FollowQuery, { signal, gaps = 'load' }: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    const options = signal ? { signal } : {};
    const position = new NodeFollowPosition(request);
    const followed = follow({ path: PATHS.logFollow, position }, this.#deps, options);
    const onLoaded = (records: readonly FoundRecord[]) => {
      position.track([...records], { heartbeat: false, ids: [] });
    };
    if (gaps === 'report') return followed;
    const { wait } = this.#deps.clock;
    const search = (_: unknown, query: SearchQuery) => this.searchLogs(query, options);
    return loadGaps(followed, request, { wait, ...options, search, onLoaded });
  }

  async logHistogram(request: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    const { budget, ...limits } = countLimits(options, this.#deps);
    const query = encodeHistogram(request, budget);
    const httpRequest = { path: PATHS.logHistogram, query, maxBytes: MAX_HISTOGRAM_BYTES, ...limits };
    return requestJson(httpRequest, this.#deps, decodeHistogram);
  }

  async logDigest(request: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    const { budget, ...limits } = countLimits(options, this.#deps);
    const query = encodeDigest(request, budget);
    const httpRequest = { path: PATHS.logDigest, query, ...limits };
    return requestJson(httpRequest, this.#deps, (value) => decodeDigest(value, request));
  }

  async bundle(request: BundleRequest, options: CallOptions = {}): Promise<ByteStream> {
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

  #search(request: SearchQuery, options: SearchOptions): Promise<Exchange> {
    return openSearch({ path: PATHS.logSearch, query: encodeSearch(request, options) }, options, this.#deps);
  }
}

/** Creates a client for one node. It keeps nothing open between requests, so there is nothing to close. */
export function createClient(options: ClientOptions): NodeClient {
  return new HttpNode({ options: strictOptions(options), clock: SYSTEM_CLOCK });
}
