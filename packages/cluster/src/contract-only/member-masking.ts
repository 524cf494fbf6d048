import { createHash } from 'node:crypto';
import {
  type CallOptions,
  type ConfigOptions,
  type NodeConfig,
  type NodeDescription,
  type NodeState,
  PortholeError,
  type ViewRequest,
} from '@porthole/contract';
import { type Scrubbing, scrubTail } from '@porthole/logs';
import { KEPT, Shared } from '@porthole/logs/shared';
import type { ByteStream, LogEntry } from '@porthole/logs/types';
import { parseSettings, type Settings, type SettingsDeps } from '../settings/fetch-settings.ts';
import { rememberByText } from '../settings/secrets.ts';
import { type DelegatedCall, DelegatedNode, type Operation } from './delegated-node.ts';

/** Real configurations have a few dozen; more would make masking expensive. */
const MAX_SECRETS = 512;

/** Default of config.max-bytes. */
const MAX_CONFIG_BYTES = 1024 ** 2;

export interface MaskingOptions extends SettingsDeps {
  /** The secret values in a configuration; empty if log text is not masked. Throws if it is not TOML. */
  findSecrets(configText: string): readonly string[] | Promise<readonly string[]>;
  /** The text of a configuration in any format, with its secrets masked. */
  maskSource(text: string): Promise<string>;
  /** The log masking of this node. */
  scrubbing: Scrubbing;
  /** Larger configurations are rejected: masking takes seconds per megabyte. */
  maxConfigBytes?: number | undefined;
}

/** Masks the secrets of members that do not mask them: by the rules and known secrets of this node. */
export class MemberMasking {
  readonly #options: MaskingOptions;
  /** Fingerprints of the secrets of masked configurations, for comparing them. */
  readonly #settings = new WeakMap<NodeConfig, () => Promise<Settings>>();
  /** Those of members with the same text are the same object, which is compared with others only once. */
  readonly #parsed: (clear: string) => Promise<Settings>;

  constructor(options: MaskingOptions) {
    this.#options = options;
    this.#parsed = rememberByText((config) => parseSettings({ config }, options));
  }

  /** For one member: its secrets are masked in its own text only, so that it cannot hide text of other members. */
  forMember(): OneMemberMasking {
    return new OneMemberMasking(this.#options, (config, clear) =>
      this.#settings.set(config, () => this.#parsed(clear)),
    );
  }

  /** The settings of a configuration, with fingerprints of its masked secrets. */
  readSettings(config: NodeConfig): Promise<Settings> {
    return this.#settings.get(config)?.() ?? this.#parsed(config.config);
  }
}

type RememberSettings = (masked: NodeConfig, clear: string) => void;

export class OneMemberMasking {
  readonly scrubbing: Scrubbing;
  readonly #options: MaskingOptions;
  readonly #remember: RememberSettings;
  /** Hash of the configuration whose secrets are known. */
  #learned = '';

  constructor(options: MaskingOptions, remember: RememberSettings) {
    this.#options = options;
    this.#remember = remember;
    this.scrubbing = options.scrubbing.derive();
  }

  close(): void {
    this.scrubbing.close();
  }

  /** Masks the configuration, and from then on its secrets in the log text of the member. */
  async maskConfig(clear: NodeConfig): Promise<NodeConfig> {
    const { maxConfigBytes = MAX_CONFIG_BYTES } = this.#options;
    const bytes = Buffer.byteLength(clear.config);
    if (bytes > maxConfigBytes) throw tooLarge(bytes, maxConfigBytes);
    const config = await this.#options.mask(clear.config);
    if (config === undefined) throw notToml();
    await this.#learn(clear.config);
    const masked = { ...clear, config };
    this.#remember(masked, clear.config);
    return masked;
  }

  /** The text of files in any format. Their secrets are those of the configuration, and learned from it. */
  async maskSource(clear: NodeConfig): Promise<NodeConfig> {
    const { maxConfigBytes = MAX_CONFIG_BYTES } = this.#options;
    const bytes = Buffer.byteLength(clear.config);
    if (bytes > maxConfigBytes) throw tooLarge(bytes, maxConfigBytes);
    return { ...clear, config: await this.#options.maskSource(clear.config) };
  }

  async #learn(text: string): Promise<void> {
    const hash = createHash('sha256').update(text).digest('base64');
    if (hash === this.#learned) return;
    this.scrubbing.add((await this.#options.findSecrets(text)).slice(0, MAX_SECRETS));
    this.#learned = hash;
  }
}

function tooLarge(bytes: number, maxBytes: number): PortholeError {
  const detail = `its configuration has ${bytes} bytes, more than config.max-bytes (${maxBytes}) of this node`;
  return new PortholeError('BAD_ANSWER', detail);
}

function notToml(): PortholeError {
  return new PortholeError(
    'BAD_ANSWER',
    'its configuration is not TOML: its secrets cannot be masked, so it is not shown',
  );
}

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

  async config(options?: ConfigOptions): Promise<NodeConfig> {
    const config = await this.#node.config(options);
    return options?.format === 'source' ? this.#masking.maskSource(config) : this.#masking.maskConfig(config);
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
