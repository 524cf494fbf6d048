import type { CallOptions, NodeConfig, NodeDescription, NodeState, ViewRequest } from '@porthole/contract';
import { scrubTail } from '@porthole/logs';
import { KEPT, Shared } from '@porthole/logs/shared';
import type { ByteStream, LogEntry } from '@porthole/logs/types';
import { type DelegatedCall, DelegatedNode, type Operation } from './delegated-node.ts';
import type { OneMemberMasking } from './member-masking.ts';

/**
 * A member whose responses are masked before the rest of this node sees them. Its configuration is always masked by the rules
 * of this node. Its log text is masked unless it has described itself: it is then a Porthole node that masks its own text and
 * matches queries against the masked text. Otherwise only the operations of the contract are requested from it; all others are
 * served by `ContractNode`, from masked text as well.
 */
export class MaskedNode extends DelegatedNode implements NodeState {
  readonly #node: NodeState;
  readonly #masking: OneMemberMasking;
  #isPorthole = false;
  readonly #learning = new Shared<NodeConfig>({ ...KEPT, endsUnwatched: true });

  constructor(node: NodeState, masking: OneMemberMasking) {
    super();
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

  async viewLog(request: ViewRequest, options?: CallOptions): Promise<ByteStream> {
    if (this.#isPorthole) return this.#node.viewLog(request, options);
    await this.learnSecrets(options);
    const response = await this.#node.viewLog(request, options);
    const chunks = scrubTail(response.chunks, this.#masking.scrubbing.current);
    return { sizeBytes: response.sizeBytes, chunks, close: () => response.close() };
  }

  /** Loads the secrets of the member before any of its text is shown. Once: they do not change while it runs. */
  async learnSecrets(options?: CallOptions): Promise<void> {
    await this.#learning.run((signal) => this.config({ signal }), options);
  }

  /** The member, after it described itself; throws why it did not. */
  protected async nodeFor(_operation: Operation, { options }: DelegatedCall): Promise<NodeState> {
    if (!this.#isPorthole) await this.describe(options);
    return this.#node;
  }
}
