import type {
  CallOptions,
  FileRequest,
  FollowOptions,
  NodeSettings,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type {
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogFileDetails,
  OpenLog,
  SearchItem,
  SearchQuery,
} from '@porthole/logs/types';

/** Operations beyond the contract. */
export type Operation = Exclude<keyof NodeState, 'describe' | 'config' | 'listLogs' | 'viewLog'>;

/** Delegates operations beyond the contract to the node that a subclass provides. */
export abstract class DelegatedNode implements Pick<NodeState, Operation> {
  /** The node to delegate to; rejects if there is none. */
  protected abstract nodeFor(operation: Operation, options: CallOptions): Promise<NodeState>;

  /** Maps an error of that node. */
  protected toThrown(_operation: Operation, error: unknown): unknown {
    return error;
  }

  settings(options?: CallOptions): Promise<NodeSettings> {
    return this.#call('settings', options, (node) => node.settings(options));
  }

  logFiles(options?: CallOptions): Promise<LogFileDetails[]> {
    return this.#call('logFiles', options, (node) => node.logFiles(options));
  }

  openLog(request: FileRequest, options?: CallOptions): Promise<OpenLog> {
    return this.#call('openLog', options, (node) => node.openLog(request, options));
  }

  searchLogs(request: SearchQuery, options?: SearchOptions): AsyncIterable<SearchItem[]> {
    return this.#stream('searchLogs', options, (node) => node.searchLogs(request, options));
  }

  searchLogLines(request: SearchQuery, options?: SearchOptions): AsyncIterable<Uint8Array> {
    return this.#stream('searchLogLines', options, (node) => node.searchLogLines(request, options));
  }

  followLogs(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]> {
    return this.#stream('followLogs', options, (node) => node.followLogs(request, options));
  }

  logHistogram(request: HistogramQuery, options?: SearchOptions): Promise<Histogram> {
    return this.#call('logHistogram', options, (node) => node.logHistogram(request, options));
  }

  logDigest(request: DigestQuery, options?: SearchOptions): Promise<Digest> {
    return this.#call('logDigest', options, (node) => node.logDigest(request, options));
  }

  async #call<T>(operation: Operation, options: CallOptions = {}, call: (node: NodeState) => Promise<T>): Promise<T> {
    const node = await this.nodeFor(operation, options);
    try {
      return await call(node);
    } catch (error) {
      throw this.toThrown(operation, error);
    }
  }

  async *#stream<T>(
    operation: Operation,
    options: CallOptions = {},
    open: (node: NodeState) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    const node = await this.nodeFor(operation, options);
    try {
      yield* open(node);
    } catch (error) {
      throw this.toThrown(operation, error);
    }
  }
}
