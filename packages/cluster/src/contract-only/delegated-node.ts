import type {
  CallOptions,
  ConfigHistory,
  ConfigHistoryRequest,
  ConfigVersion,
  FileRequest,
  FollowOptions,
  LogFilesOptions,
  NodeSettings,
  NodeState,
  SearchOptions,
} from '@porthole/contract';
import type {
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogFileDetails,
  OpenLog,
  SearchEnd,
  SearchQuery,
  Top,
  TopQuery,
} from '@porthole/logs/types';
import { isBatch, type RecordBatch } from '@porthole/records';

/** Operations beyond the contract. */
export type Operation = Exclude<keyof NodeState, 'describe' | 'config' | 'listLogs' | 'viewLog'>;

/** An operation with what it was called with. */
export interface DelegatedCall {
  request?: object | undefined;
  options: CallOptions;
}

interface Given {
  request?: object;
  options: CallOptions | undefined;
}

/** Delegates operations beyond the contract to the node that a subclass provides. */
export abstract class DelegatedNode implements Pick<NodeState, Operation> {
  /** The node to delegate to; rejects if there is none. */
  protected abstract nodeFor(operation: Operation, call: DelegatedCall): Promise<NodeState>;

  /** Maps an error of that node. */
  protected toThrown(_operation: Operation, error: unknown): unknown {
    return error;
  }

  /** Maps the end of a response about records. */
  protected toEnd<E extends { limits?: string }>(end: E): E {
    return end;
  }

  settings(options?: CallOptions): Promise<NodeSettings> {
    return this.#call('settings', { options }, (node) => node.settings(options));
  }

  logFiles(options?: LogFilesOptions): Promise<LogFileDetails[]> {
    return this.#call('logFiles', { options }, (node) => node.logFiles(options));
  }

  openLog(request: FileRequest, options?: CallOptions): Promise<OpenLog> {
    return this.#call('openLog', { request, options }, (node) => node.openLog(request, options));
  }

  search(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#search('search', { request, options }, (node) => node.search(request, options));
  }

  followLogs(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]> {
    return this.#stream('followLogs', { request, options }, (node) => node.followLogs(request, options));
  }

  logHistogram(request: HistogramQuery, options?: SearchOptions): Promise<Histogram> {
    return this.#count('logHistogram', { request, options }, (node) => node.logHistogram(request, options));
  }

  logDigest(request: DigestQuery, options?: SearchOptions): Promise<Digest> {
    return this.#count('logDigest', { request, options }, (node) => node.logDigest(request, options));
  }

  logFields(request: FieldsQuery, options?: SearchOptions): Promise<Fields> {
    return this.#count('logFields', { request, options }, (node) => node.logFields(request, options));
  }

  logTop(request: TopQuery, options?: SearchOptions): Promise<Top> {
    return this.#count('logTop', { request, options }, (node) => node.logTop(request, options));
  }

  events(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#search('events', { request, options }, (node) => node.events(request, options));
  }

  followEvents(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]> {
    return this.#stream('followEvents', { request, options }, (node) => node.followEvents(request, options));
  }

  configHistory(request: ConfigHistoryRequest, options?: CallOptions): Promise<ConfigHistory> {
    return this.#call('configHistory', { request, options }, (node) => node.configHistory(request, options));
  }

  configVersion(version: string, options?: CallOptions): Promise<ConfigVersion> {
    return this.#call('configVersion', { options }, (node) => node.configVersion(version, options));
  }

  async #count<T extends { end: { limits?: string } }>(
    operation: Operation,
    given: Given,
    count: (node: NodeState) => Promise<T>,
  ): Promise<T> {
    const counted = await this.#call(operation, given, count);
    return { ...counted, end: this.toEnd(counted.end) };
  }

  async *#search(
    operation: Operation,
    given: Given,
    search: (node: NodeState) => AsyncIterable<RecordBatch | SearchEnd>,
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    for await (const item of this.#stream(operation, given, search)) yield isBatch(item) ? item : this.toEnd(item);
  }

  async #call<T>(operation: Operation, given: Given, call: (node: NodeState) => Promise<T>): Promise<T> {
    const node = await this.nodeFor(operation, { ...given, options: given.options ?? {} });
    try {
      return await call(node);
    } catch (error) {
      throw this.toThrown(operation, error);
    }
  }

  async *#stream<T>(
    operation: Operation,
    given: Given,
    open: (node: NodeState) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    const node = await this.nodeFor(operation, { ...given, options: given.options ?? {} });
    try {
      yield* open(node);
    } catch (error) {
      throw this.toThrown(operation, error);
    }
  }
}
