import { createHash } from 'node:crypto';
import { type NodeConfig, PortholeError } from '@porthole/contract';
import type { Scrubbing } from '@porthole/logs';
import { parseSettings, type Settings, type SettingsDeps } from '../state/settings/fetch-settings.ts';

/** A configuration has some dozens; one with more must not keep us busy with looking for them. */
const MAX_SECRETS = 512;

/** As much as a node reads of its own, unless set otherwise. */
const MAX_CONFIG_BYTES = 1024 ** 2;

export interface MaskingOptions extends SettingsDeps {
  /** Values in a configuration that are secret; empty where log text is not masked. Throws for what is not TOML. */
  findSecrets(configText: string): readonly string[] | Promise<readonly string[]>;
  /** What this node masks in the text of logs. */
  scrubbing: Scrubbing;
  /** A larger configuration is refused before it is masked, which takes seconds for each megabyte. */
  maxConfigBytes?: number | undefined;
}

/** Hides the secrets of members that do not do it themselves: by the rules of this node, and what it knows to be secret. */
export class MemberMasking {
  readonly #options: MaskingOptions;
  /** What a configuration says before it was masked, for those who compare it: fingerprints of its secrets. */
  readonly #settings = new WeakMap<NodeConfig, () => Promise<Settings>>();

  constructor(options: MaskingOptions) {
    this.#options = options;
  }

  /** For one member: its secrets are masked in its own text alone, so that none can hide what another logs. */
  forMember(): OneMemberMasking {
    return new OneMemberMasking(this.#options, (config, settings) => this.#settings.set(config, settings));
  }

  /** The settings of a configuration, with fingerprints of the secrets that were masked in it. */
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

  /** The configuration with its secrets masked, which are masked in the member's log text from then on. */
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
