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
import { askJson, askStream, refusePage } from './ask.ts';
import { bodyBytes } from './body-bytes.ts';
import { HttpCluster } from './cluster/http-cluster.ts';
import type { Exchange } from './exchange.ts';
import { follow } from './follow.ts';
import { FollowPlace } from './follow-place.ts';
import { countLimits, openSearch } from './looking.ts';
import type { AskParts } from './question.ts';
import { AS_IT_IS, openRemoteLog } from './remote-log.ts';
import { searchItems } from './search-stream.ts';
import { readConfig, readDescription, readDigest, readFiles, readHistogram, readList, readSettings } from './shapes.ts';

/** Beside the usual silence: a node that makes a bundle may wait for its members before it goes on. */
const BUNDLE_PAUSE_MS = 60_000;

/** Who a node is takes some hundred bytes, and is asked for in the background. */
const MAX_DESCRIPTION_BYTES = 256 * 1024;

/** Ten thousand buckets, and what could not be read. */
const MAX_HISTOGRAM_BYTES = 4 * 1024 ** 2;

const ENCODER = new TextEncoder();

/** A node, asked over HTTP. */
export interface NodeClient extends NodeState {
  /** Base address, without a slash at its end. */
  readonly url: string;
  /** What the node answers for all nodes of its cluster. Whether it does shows when it is asked. */
  readonly cluster: ClusterState;
  /**
   * A support bundle of all nodes of its cluster: a ZIP archive, while it is made. Its last file is a `BundleManifest`.
   * The caller closes the answer.
   */
  bundle(request: BundleRequest, options?: CallOptions): Promise<ByteStream>;
}

export class HttpNode implements NodeClient {
  readonly url: string;
  readonly #parts: AskParts;

  constructor(parts: AskParts) {
    this.#parts = parts;
    this.url = parts.options.base;
  }

  get cluster(): ClusterState {
    const parts = this.#parts;
    return new HttpCluster(parts, (below) => new HttpNode({ ...parts, below }));
  }

  describe(options: CallOptions = {}): Promise<NodeDescription> {
    return askJson({ path: PATHS.node, maxBytes: MAX_DESCRIPTION_BYTES, ...options }, this.#parts, readDescription);
  }

  config(options: CallOptions = {}): Promise<NodeConfig> {
    return askJson({ path: PATHS.config, ...options }, this.#parts, readConfig);
  }

  settings(options: CallOptions = {}): Promise<NodeSettings> {
    return askJson({ path: PATHS.settings, ...options }, this.#parts, readSettings);
  }

  listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    return askJson({ path: PATHS.logList, ...options }, this.#parts, readList);
  }

  logFiles(options: CallOptions = {}): Promise<LogFileDetails[]> {
    return askJson({ path: PATHS.logFiles, ...options }, this.#parts, readFiles);
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    const question = { path: PATHS.logView, query: encodeView(request), headers: AS_IT_IS, isPaced: true, ...options };
    // A newline may be added to a last line without.
    return bodyBytes(await askStream(question, this.#parts), { maxBytes: request.sizeBytes + 1 });
  }

  openLog(request: FileRequest, { signal }: CallOptions = {}): Promise<OpenLog> {
    return openRemoteLog(request, this.#parts, signal);
  }

  async *searchLogs(request: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[], void, undefined> {
    yield* searchItems(await this.#search(request, options), request);
  }

  async *searchLogLines(
    request: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    // Decoded and written anew: what a node sends is passed on only as far as it is understood.
    for await (const items of this.searchLogs(request, options)) {
      yield ENCODER.encode(items.map((item) => `${exactJson(item)}\n`).join(''));
    }
  }

  followLogs(request: FollowQuery, { signal, gaps = 'load' }: FollowOptions = {}): AsyncIterable<FollowItem[]> {
    const options = signal ? { signal } : {};
    const place = new FollowPlace(request);
    const followed = follow({ path: PATHS.logFollow, place }, this.#parts, options);
    const onLoaded = (records: readonly FoundRecord[]) => {
      place.note([...records], { heartbeat: false, ids: [] });
    };
    if (gaps === 'report') return followed;
    const { wait } = this.#parts.clock;
    const search = (_: unknown, query: SearchQuery) => this.searchLogs(query, options);
    return loadGaps(followed, request, { wait, ...options, search, onLoaded });
  }

  async logHistogram(request: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    const { budget, ...limits } = countLimits(options, this.#parts);
    const query = encodeHistogram(request, budget);
    const question = { path: PATHS.logHistogram, query, maxBytes: MAX_HISTOGRAM_BYTES, ...limits };
    return askJson(question, this.#parts, readHistogram);
  }

  async logDigest(request: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    const { budget, ...limits } = countLimits(options, this.#parts);
    const query = encodeDigest(request, budget);
    const question = { path: PATHS.logDigest, query, ...limits };
    return askJson(question, this.#parts, (value) => readDigest(value, request));
  }

  async bundle(request: BundleRequest, options: CallOptions = {}): Promise<ByteStream> {
    const asked = { path: PATHS.bundle, query: encodeBundle(request), headers: AS_IT_IS, lookingMs: BUNDLE_PAUSE_MS };
    const exchange = await askStream({ ...asked, ...options }, this.#parts);
    try {
      refusePage(exchange);
      return bodyBytes(exchange);
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  #search(request: SearchQuery, options: SearchOptions): Promise<Exchange> {
    return openSearch({ path: PATHS.logSearch, query: encodeSearch(request, options) }, options, this.#parts);
  }
}
