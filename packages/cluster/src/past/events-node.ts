import type {
  CallOptions,
  FollowOptions,
  NodeConfig,
  NodeDescription,
  NodeState,
  SearchOptions,
  ViewRequest,
} from '@porthole/contract';
import type { ByteStream, FollowItem, FollowQuery, LogEntry, SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { RecordBatch } from '@porthole/records';
import { DelegatedNode } from '../contract-only/delegated-node.ts';

/** The events of a node in place of its logs: events are records, so whatever merges logs of members merges events. */
export class EventsNode extends DelegatedNode implements NodeState {
  readonly #node: NodeState;

  constructor(node: NodeState) {
    super();
    this.#node = node;
  }

  override search(request: SearchQuery, options?: SearchOptions): AsyncIterable<RecordBatch | SearchEnd> {
    return this.#node.events(request, options);
  }

  override followLogs(request: FollowQuery, options?: FollowOptions): AsyncIterable<FollowItem[]> {
    return this.#node.followEvents(request, options);
  }

  describe(options?: CallOptions): Promise<NodeDescription> {
    return this.#node.describe(options);
  }

  config(options?: CallOptions): Promise<NodeConfig> {
    return this.#node.config(options);
  }

  listLogs(options?: CallOptions): Promise<LogEntry[]> {
    return this.#node.listLogs(options);
  }

  viewLog(request: ViewRequest, options?: CallOptions): Promise<ByteStream> {
    return this.#node.viewLog(request, options);
  }

  protected async nodeFor(): Promise<NodeState> {
    return this.#node;
  }
}
