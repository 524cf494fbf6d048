import type { CallOptions, NodeConfig, NodeDescription, NodeState } from '@porthole/contract';
import type { ByteStream, LogEntry } from '@porthole/logs/types';
import { DelegatedNode } from '../../contract-only/delegated-node.ts';

/** The snapshot of a member that another one keeps: it is fetched with the first request. */
export class LazySnapshotNode extends DelegatedNode implements NodeState {
  readonly #load: (options: CallOptions) => Promise<NodeState>;

  constructor(load: (options: CallOptions) => Promise<NodeState>) {
    super();
    this.#load = load;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    return (await this.#load(options)).describe(options);
  }

  async config(options: CallOptions = {}): Promise<NodeConfig> {
    return (await this.#load(options)).config(options);
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    return (await this.#load(options)).listLogs(options);
  }

  async viewLog(request: Parameters<NodeState['viewLog']>[0], options: CallOptions = {}): Promise<ByteStream> {
    return (await this.#load(options)).viewLog(request, options);
  }

  protected nodeFor(_operation: unknown, { options }: { options: CallOptions }): Promise<NodeState> {
    return this.#load(options);
  }
}
