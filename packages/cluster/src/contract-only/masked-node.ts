import type {
  CallOptions,
  FileRequest,
  NodeConfig,
  NodeDescription,
  NodeSettings,
  NodeState,
  SearchOptions,
  ViewRequest,
} from '@porthole/contract';
import { scrubTail } from '@porthole/logs';
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
import { orAborted } from '../fan-out/or-aborted.ts';
import type { OneMemberMasking } from './member-masking.ts';

/**
 * A member as the rest of this node sees it: nothing it sends is passed on before its secrets are masked. Whatever it is,
 * its configuration is masked by the rules of this node. Its log text is masked unless it has described itself: then it is
 * one of us, masks its own text, and matches queries against what it has masked. One that has not is asked for nothing
 * but the operations of the contract; all others are answered by `ContractNode`, from text that is masked as well.
 */
export class MaskedNode implements NodeState {
  readonly #node: NodeState;
  readonly #masking: OneMemberMasking;
  #isPorthole = false;
  #learning: Promise<void> | undefined;

  constructor(node: NodeState, masking: OneMemberMasking) {
    this.#node = node;
    this.#masking = masking;
  }

  async describe(options?: CallOptions): Promise<NodeDescription> {
    const description = await this.#node.describe(options);
    this.#isPorthole = true;
    return description;
  }

  async config(options?: CallOptions): Promise<NodeConfig> {
    return this.#masking.maskConfig(await this.#node.config(options));
  }

  listLogs(options?: CallOptions): Promise<LogEntry[]> {
    return this.#node.listLogs(options);
  }

  async viewLog(request: ViewRequest, options?: CallOptions): Promise<ByteAnswer> {
    if (this.#isPorthole) return this.#node.viewLog(request, options);
    await this.learnSecrets(options);
    const answer = await this.#node.viewLog(request, options);
    const chunks = scrubTail(answer.chunks, this.#masking.scrubbing.current);
    return { sizeBytes: answer.sizeBytes, chunks, close: () => answer.close() };
  }

  /** The secrets of the member must be known before any of its text is shown. Once: they are fixed at its start. */
  async learnSecrets({ signal }: CallOptions = {}): Promise<void> {
    this.#learning ??= this.config().then(
      () => {},
      (error: unknown) => {
        this.#learning = undefined;
        throw error;
      },
    );
    await orAborted(this.#learning, signal);
  }

  async settings(options?: CallOptions): Promise<NodeSettings> {
    return (await this.#described(options)).settings(options);
  }

  async logFiles(options?: CallOptions): Promise<LogFileDetails[]> {
    return (await this.#described(options)).logFiles(options);
  }

  async openLog(request: FileRequest, options?: CallOptions): Promise<OpenLog> {
    return (await this.#described(options)).openLog(request, options);
  }

  async *searchLogs(request: SearchQuery, options?: SearchOptions): AsyncGenerator<SearchItem[], void, undefined> {
    yield* (await this.#described(options)).searchLogs(request, options);
  }

  async *searchLogLines(request: SearchQuery, options?: SearchOptions): AsyncGenerator<Uint8Array, void, undefined> {
    yield* (await this.#described(options)).searchLogLines(request, options);
  }

  async *followLogs(request: FollowQuery, options?: CallOptions): AsyncGenerator<FollowItem[], void, undefined> {
    yield* (await this.#described(options)).followLogs(request, options);
  }

  async logHistogram(request: HistogramQuery, options?: SearchOptions): Promise<Histogram> {
    return (await this.#described(options)).logHistogram(request, options);
  }

  async logDigest(request: DigestQuery, options?: SearchOptions): Promise<Digest> {
    return (await this.#described(options)).logDigest(request, options);
  }

  /** The member, once it has described itself; throws why it has not. */
  async #described(options?: CallOptions): Promise<NodeState> {
    if (!this.#isPorthole) await this.describe(options);
    return this.#node;
  }
}
