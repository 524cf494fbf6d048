import {
  type CallOptions,
  codeOf,
  type ErrorCode,
  type FollowOptions,
  isPattern,
  type NodeConfig,
  type NodeDescription,
  type NodeObject,
  type NodeState,
  parseLogSource,
  type ViewRequest,
} from '@porthole/contract';
import { assertSafeName } from '@porthole/logs';
import { owned, Shared } from '@porthole/logs/shared';
import type { ByteStream, FollowItem, FollowQuery, LogEntry } from '@porthole/logs/types';
import type { ContractNode } from './contract-node.ts';
import { type DelegatedCall, DelegatedNode, type Operation } from './delegated-node.ts';
import { safeEntries } from './plan-files.ts';

/** Error codes of a member that did not respond. */
const ABSENT_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'DEADLINE_EXCEEDED', 'MEMBER_REFUSED']);

/** How long a route that a member lacks is not requested again: a page that a proxy shows during a restart looks the same. */
const UNSUPPORTED_MS = 60_000;

/** Keeps the records of one follow. */
export interface FollowKeeper {
  /** `zone`: that of the member. Never rejects. */
  keep(items: readonly FollowItem[], zone: string): Promise<void>;
  /** The follow has ended. */
  close(): void;
}

export interface MemberNodeOptions {
  client: NodeState;
  /** Who keeps the records of a follow, besides whoever follows; `undefined`: nobody. */
  keeperFor?: ((request: FollowQuery) => FollowKeeper | undefined) | undefined;
  /** Creates the contract-only variant of the member when needed. */
  createContractNode(): ContractNode;
  onClose?(): void;
  /** Monotonic. */
  nowMs?(): number;
}

/**
 * A member with unknown capabilities. One without `/api/v1/node` that serves `/api/v1/config` only implements the contract: its
 * records come from the newest part of its files. Unsupported routes are remembered for a minute, because each request for one is
 * an error in the log of the member; that it is contract-only, until it registers again, or its configuration shows another
 * version or start time. If it still is, what was read of its files stays, and followers go on.
 */
export class MemberNode extends DelegatedNode implements NodeState {
  readonly #options: MemberNodeOptions;
  readonly #unsupported = new Map<Operation, { error: unknown; untilMs: number }>();
  /** It has described itself. */
  #isPorthole = false;
  /** It responded like a Porthole node, if only with an error: it is not contract-only. */
  #isKnown = false;
  #contract: { node: ContractNode; as: NodeObject; reason: unknown; isDoubted: boolean } | undefined;
  readonly #describing = new Shared<NodeDescription>({ endsUnwatched: true });
  #timeZone = '';

  constructor(options: MemberNodeOptions) {
    super();
    this.#options = options;
  }

  #nowMs(): number {
    return this.#options.nowMs?.() ?? performance.now();
  }

  /** Stops reading its files. */
  async close(): Promise<void> {
    const contract = this.#contract;
    this.#contract = undefined;
    await contract?.node.close();
  }

  /** The member is no longer used. */
  async end(): Promise<void> {
    await this.close();
    this.#options.onClose?.();
  }

  /** Whether it is a Porthole node, which masks its own responses. Asks it, if that is not known. */
  async isPorthole(options: CallOptions = {}): Promise<boolean> {
    if (!this.#isPorthole && !this.#isContractOnly) await this.#detect(options);
    return this.#isPorthole;
  }

  /** Zone of the logs of a contract-only member; `null` if it is not known. */
  get timeZone(): string | null {
    return this.#contract?.node.timeZone ?? null;
  }

  /** Whether it is a contract-only member with times that may be off by hours. */
  get isTimeGuessed(): boolean {
    return this.#contract?.node.isTimeGuessed ?? false;
  }

  /** It runs anew: whether it is still contract-only is asked with the next request. `false` if it was not. */
  restarted(): boolean {
    if (!this.#contract) return false;
    this.#contract.isDoubted = true;
    return true;
  }

  get #isContractOnly(): boolean {
    return this.#contract?.isDoubted === false;
  }

  async describe(options: CallOptions = {}): Promise<NodeDescription> {
    if (this.#isContractOnly) throw this.#contract?.reason;
    if (this.#isKnown) return this.#fetchDescription(options);
    // The first request finds out what the member supports. Its response is not shared: it contains the current time.
    if (this.#describing.isRunning) {
      await this.#describing.last(options);
      return this.describe(options);
    }
    return this.#describing.run((signal) => this.#describeFirst({ ...options, signal }), options);
  }

  async config(options: CallOptions = {}): Promise<NodeConfig> {
    const config = await this.#options.client.config(options);
    const { as } = this.#contract ?? {};
    if (as && (as.onlineTime !== config.node.onlineTime || as.version !== config.node.version)) this.restarted();
    return config;
  }

  async listLogs(options: CallOptions = {}): Promise<LogEntry[]> {
    await this.#identify(options);
    if (this.#contract) return this.#contract.node.listLogs(options);
    return safeEntries(await this.#options.client.listLogs(options), Number.POSITIVE_INFINITY);
  }

  async viewLog(request: ViewRequest, options: CallOptions = {}): Promise<ByteStream> {
    checkFileName(request);
    await this.#identify(options);
    return (this.#contract?.node ?? this.#options.client).viewLog(request, options);
  }

  override async *followLogs(
    request: FollowQuery,
    options: FollowOptions = {},
  ): AsyncGenerator<FollowItem[], void, undefined> {
    checkFileName(request);
    const keeper = (await this.isPorthole(options)) ? this.#options.keeperFor?.(request) : undefined;
    if (!keeper) return yield* super.followLogs(request, options);
    try {
      for await (const items of super.followLogs({ ...request, raw: true }, options)) {
        await keeper.keep(items, this.#timeZone);
        yield request.raw ? items : items.map(withoutText);
      }
    } finally {
      keeper.close();
    }
  }

  /** The node to delegate to, after finding out what the member supports; throws if that fails or it lacks the operation. */
  protected async nodeFor(operation: Operation, { request, options }: DelegatedCall): Promise<NodeState> {
    checkFileName(request);
    if (!this.#isKnown && !this.#isContractOnly) await this.#detect(options);
    if (this.#contract) return this.#contract.node;
    const unsupported = this.#unsupported.get(operation);
    if (unsupported && this.#nowMs() < unsupported.untilMs) throw unsupported.error;
    return this.#options.client;
  }

  protected override toThrown(operation: Operation, error: unknown): unknown {
    if (this.#isPorthole && codeOf(error) === 'NOT_SUPPORTED')
      this.#unsupported.set(operation, { error, untilMs: this.#nowMs() + UNSUPPORTED_MS });
    return error;
  }

  async #fetchDescription(options: CallOptions): Promise<NodeDescription> {
    const description = await this.#options.client.describe(options);
    if (this.#contract) void owned(this.close(), () => {}); // copies that cannot be removed are left to the next process
    this.#isPorthole = true;
    this.#isKnown = true;
    this.#timeZone = description.timeZone ?? '';
    return description;
  }

  async #describeFirst(options: CallOptions): Promise<NodeDescription> {
    const { client, createContractNode } = this.#options;
    try {
      return await this.#fetchDescription(options);
    } catch (reason) {
      if (codeOf(reason) !== 'NOT_SUPPORTED') {
        options.signal?.throwIfAborted();
        this.#isKnown = !ABSENT_CODES.has(codeOf(reason));
        throw reason;
      }
      // A proxy in front of a node that is down may respond 404 to everything: then nothing is known. A configuration
      // that cannot be masked is the reason why the member is not read at all.
      const config = await client.config(options).catch((error: unknown) => {
        if (codeOf(error) === 'BAD_ANSWER') throw error;
        return undefined;
      });
      const node = this.#contract?.node ?? (config && createContractNode());
      if (config && node) this.#contract = { node, as: config.node, reason, isDoubted: false };
      throw reason;
    }
  }

  /** Throws if the response is not that of a node: it may be any service. */
  async #identify(options: CallOptions): Promise<void> {
    if (this.#isPorthole || this.#isContractOnly) return;
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
      // Another attempt would only fail later.
      if (ABSENT_CODES.has(codeOf(error)) || codeOf(error) === 'BAD_ANSWER') throw error;
    }
  }
}

/** Throws for a name that no node serves, however deep its logs lie: the member is not asked at all. */
function checkFileName({ file, src = [] }: { file?: string; src?: readonly string[] } = {}): void {
  const sources = src.map(parseLogSource).filter(({ kind, name }) => kind === 'file' && !isPattern(name));
  for (const name of [...(file === undefined ? [] : [file]), ...sources.map((source) => source.name)])
    assertSafeName(name, Number.POSITIVE_INFINITY);
}

function withoutText(item: FollowItem): FollowItem {
  if (item.type !== 'record') return item;
  const { raw: _raw, ...record } = item;
  return record;
}
