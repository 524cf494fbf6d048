import {
  type CallOptions,
  encodeDigest,
  encodeHistogram,
  encodeSearch,
  encodeView,
  type FileRequest,
  type NodeConfig,
  type NodeDescription,
  type NodeSettings,
  type NodeState,
  PATHS,
  type SearchOptions,
  type ViewRequest,
} from '@porthole/contract';
import type {
  ByteAnswer,
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
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
import type { Exchange } from './exchange.ts';
import { follow } from './follow.ts';
import type { AskParts } from './question.ts';
import { AS_IT_IS, openRemoteLog } from './remote-log.ts';
import { searchItems, searchLines } from './search-stream.ts';
import { readConfig, readDescription, readDigest, readFiles, readHistogram, readList, readSettings } from './shapes.ts';

/** Of the time for an answer, what a node may look at logs; the rest is for the way. */
const LOOKING_SHARE = 0.8;

/** A node, asked over HTTP. */
export interface NodeClient extends NodeState {
  /** Base address, without a slash at its end. */
  readonly url: string;
}

export class HttpNode implements NodeClient {
  readonly url: string;
  readonly #parts: AskParts;

  constructor(parts: AskParts) {
    this.#parts = parts;
    this.url = parts.options.base;
  }

  describe(options: CallOptions = {}): Promise<NodeDescription> {
    return askJson({ path: PATHS.node, ...options }, this.#parts, readDescription);
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

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteAnswer> {
    const question = { path: PATHS.logView, query: encodeView(request), headers: AS_IT_IS, ...options };
    return bodyBytes(await askStream(question, this.#parts));
  }

  openLog({ file }: FileRequest, { signal }: CallOptions = {}): Promise<OpenLog> {
    return openRemoteLog(file, this.#parts, signal);
  }

  async *searchLogs(request: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[], void, undefined> {
    yield* searchItems(await this.#search(request, options));
  }

  async *searchLogLines(
    request: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    yield* searchLines(await this.#search(request, options));
  }

  followLogs(request: FollowQuery, options: CallOptions = {}): AsyncIterable<FollowItem[]> {
    return follow(request, this.#parts, options);
  }

  async logHistogram(request: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    const { budget, ...limits } = this.#countLimits(options);
    const query = encodeHistogram(request, budget);
    return askJson({ path: PATHS.logHistogram, query, ...limits }, this.#parts, readHistogram);
  }

  async logDigest(request: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    const { budget, ...limits } = this.#countLimits(options);
    const query = encodeDigest(request, budget);
    return askJson({ path: PATHS.logDigest, query, ...limits }, this.#parts, readDigest);
  }

  /** A count comes as a whole: the node is told to end it in time, and to tell how far it came. */
  #countLimits({ signal, budgetMs }: SearchOptions) {
    const { timeoutMs } = this.#parts.options;
    return budgetMs === undefined
      ? { signal, budget: { budgetMs: timeoutMs * LOOKING_SHARE } }
      : { signal, budget: { budgetMs }, lookingMs: budgetMs };
  }

  async #search(request: SearchQuery, { signal, ...budget }: SearchOptions): Promise<Exchange> {
    const query = encodeSearch(request, budget);
    // It may look all that time without finding anything to tell.
    const { budgetMs: lookingMs = 0 } = budget;
    const exchange = await askStream({ path: PATHS.logSearch, query, signal, lookingMs }, this.#parts);
    try {
      refusePage(exchange);
      return exchange;
    } catch (error) {
      exchange.close();
      throw error;
    }
  }
}
