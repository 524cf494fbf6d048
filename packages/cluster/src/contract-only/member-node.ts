import {
  type CallOptions,
  codeOf,
  type ErrorCode,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeState,
  type ViewRequest,
} from '@porthole/contract';
import type { ByteStream, LogEntry } from '@porthole/logs/types';
import { orAborted } from '../fan-out/or-aborted.ts';
import type { ContractNode } from './contract-node.ts';
import { DelegatedNode, type Operation } from './delegated-node.ts';
import { viewFailure } from './fetch-tail.ts';

/** What is said of a member that gave no answer. */
const ABSENT_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'DEADLINE_EXCEEDED', 'MEMBER_REFUSED']);

export interface MemberNodeOptions {
  client: NodeState;
  /** The same member when it only speaks the contract; made when that is known. */
  createContractNode(): ContractNode;
  onClose?(): void;
}

/**
 * A member, whatever it supports. One without `/api/v1/node` that does answer `/api/v1/config` only speaks the contract:
 * its records come from the newest part of its files. What a member does not support is remembered, because a request for
 * a route it lacks is an error in its log; until it is registered anew, which makes another `MemberNode`, or its
 * configuration names another version or start.
 */
export class MemberNode extends DelegatedNode implements NodeState {
  readonly #options: MemberNodeOptions;
  readonly #unsupported = new Map<Operation, unknown>();
  /** It has described itself. */
  #isPorthole = false;
  /** It has answered, if only with an error of its own: it is no node of the contract alone. */
  #isKnown = false;
  #contract: { node: ContractNode; as: NodeObject; reason: unknown } | undefined;
  #describing: Promise<NodeDescription> | undefined;

  constructor(options: MemberNodeOptions) {
    super();
    this.#options = options;
  }

  /** Ends what is read from its files. */
  async close(): Promise<void> {
    const contract = this.#contract;
    this.#contract = undefined;
    await contract?.node.close();
  }

  /** The member is not asked any more. */
  async end(): Promise<void> {
    await this.close();
    this.#options.onClose?.();
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    if (this.#contract) throw this.#contract.reason;
    if (this.#isKnown) return this.#options.client.describe(options);
    // The first request says what the member is. Not shared: the answer has a time, which must be of this request.
    if (this.#describing !== undefined) {
      await orAborted(
        this.#describing.catch(() => {}), // told to who asked
        options.signal,
      );
      return this.describe(options);
    }
    const describing = this.#describeFirst(options).finally(() => {
      this.#describing = undefined;
    });
    this.#describing = describing;
    return describing;
  }

  async config(options: CallOptions = {}): Promise<NodeConfig> {
    const config = await this.#options.client.config(options);
    const { as } = this.#contract ?? {};
    const isRestarted = as && (as.onlineTime !== config.node.onlineTime || as.version !== config.node.version);
    if (isRestarted) void this.close();
    return config;
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    await this.#identify(options);
    return this.#options.client.listLogs(options);
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    const { client } = this.#options;
    await this.#identify(options);
    try {
      return await client.viewLog(request, options);
    } catch (error) {
      throw this.#isPorthole ? error : await viewFailure(client, { file: request.file, error, ...options });
    }
  }

  /** Who is asked. What the member is, is found out first; throws what it is known to lack, or that it is not there. */
  protected async nodeFor(operation: Operation, options: CallOptions): Promise<NodeState> {
    if (!this.#isKnown && !this.#contract) await this.#detect(options);
    if (this.#contract) return this.#contract.node;
    if (this.#unsupported.has(operation)) throw this.#unsupported.get(operation);
    return this.#options.client;
  }

  protected override toThrown(operation: Operation, error: unknown): unknown {
    if (this.#isPorthole && codeOf(error) === 'NOT_SUPPORTED') this.#unsupported.set(operation, error);
    return error;
  }

  async #describeFirst(options: CallOptions): Promise<NodeDescription> {
    const { client, createContractNode } = this.#options;
    try {
      const description = await client.describe(options);
      this.#isPorthole = true;
      this.#isKnown = true;
      return description;
    } catch (reason) {
      if (codeOf(reason) !== 'NOT_SUPPORTED') {
        options.signal?.throwIfAborted();
        this.#isKnown = !ABSENT_CODES.has(codeOf(reason));
        throw reason;
      }
      // A proxy in front of a node that is just down answers 404 to everything: then nothing is known. A configuration
      // that cannot be masked is the reason why the member is not read at all.
      const config = await client.config(options).catch((error: unknown) => {
        if (codeOf(error) === 'BAD_ANSWER') throw error;
        return undefined;
      });
      if (config) this.#contract = { node: createContractNode(), as: config.node, reason };
      throw reason;
    }
  }

  /** Throws for what does not say that it is a node: its texts may be those of any service. */
  async #identify(options: CallOptions): Promise<void> {
    if (this.#isPorthole || this.#contract) return;
    try {
      await this.describe(options);
      this.#isPorthole = true;
    } catch (error) {
      if (!this.#contract) throw error;
    }
  }

  async #detect(options: CallOptions): Promise<void> {
    try {
      await this.describe(options);
    } catch (error) {
      options.signal?.throwIfAborted();
      // Asked once more it would only fail later.
      if (ABSENT_CODES.has(codeOf(error)) || codeOf(error) === 'BAD_ANSWER') throw error;
    }
  }
}
