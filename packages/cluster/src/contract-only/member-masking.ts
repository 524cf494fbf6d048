import { createHash } from 'node:crypto';
import { type NodeConfig, PortholeError } from '@porthole/contract';
import type { Scrubbing } from '@porthole/logs';
import { parseSettings, type Settings, type SettingsDeps } from '../settings/fetch-settings.ts';

/** Real configurations have a few dozen; more would make masking expensive. */
const MAX_SECRETS = 512;

/** Default of config.max-bytes. */
const MAX_CONFIG_BYTES = 1024 ** 2;

export interface MaskingOptions extends SettingsDeps {
  /** The secret values in a configuration; empty if log text is not masked. Throws if it is not TOML. */
  findSecrets(configText: string): readonly string[] | Promise<readonly string[]>;
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

  constructor(options: MaskingOptions) {
    this.#options = options;
  }

  /** For one member: its secrets are masked in its own text only, so that it cannot hide text of other members. */
  forMember(): OneMemberMasking {
    return new OneMemberMasking(this.#options, (config, settings) => this.#settings.set(config, settings));
  }

  /** The settings of a configuration, with fingerprints of its masked secrets. */
  readSettings(config: NodeConfig): Promise<Settings> {
    return this.#settings.get(config)?.() ?? parseSettings(config, this.#options);
  }
}

type RememberSettings = (config: NodeConfig, settings: () => Promise<Settings>) => void;

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
    this.#remember(masked, () => parseSettings(clear, this.#options));
    return masked;
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
