import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { ScrubRules } from '../scrub/scrubber.ts';
import type { Scrubbing } from '../scrub/scrubbing.ts';
import { KEPT, Shared } from '../shared.ts';
import type { IndexDir } from './index-dir.ts';

/** Changes with every change of what the files contain or mean. */
const VERSION = 1;

/**
 * The names of files depend on the masked secrets. They are kept as a slow, salted hash, so that who gets hold of the
 * directory cannot guess them at the speed of a plain one. Takes some milliseconds.
 */
const ROUNDS = 10_000;
const FINGERPRINT_BYTES = 16;

const derive = promisify(pbkdf2);

/** What is kept: summaries of blocks, or which grams they contain. */
export type IndexKind = 'blocks' | 'text';

/** Names files by what their content depends on: the same in another process with the same rules. */
export class IndexKeys {
  readonly #dir: IndexDir;
  readonly #version: string;
  readonly #scrubbing: Scrubbing;
  #fingerprint: { id: string; value: Shared<string | undefined> } | undefined;

  constructor(dir: IndexDir, { version, scrubbing }: { version: string; scrubbing: Scrubbing }) {
    this.#dir = dir;
    this.#version = `${VERSION}:${version}:${process.versions.tz ?? ''}`;
    this.#scrubbing = scrubbing;
  }

  /**
   * The name of the file for a text with these properties. `scrubId`: of the rules it is masked by, which must be the
   * current ones; empty: none. `undefined`: it has none, or none yet and `create` is not set.
   */
  async name(
    kind: IndexKind,
    { scrubId, parts, create }: { scrubId: string; parts: readonly (string | number)[]; create: boolean },
  ): Promise<string | undefined> {
    const fingerprint = await this.#rulesFingerprint(scrubId, create);
    if (fingerprint === undefined) return undefined;
    const hash = createHash('sha256').update(JSON.stringify([this.#version, kind, fingerprint, ...parts]));
    return `${hash.digest('hex').slice(0, 32)}.${kind}`;
  }

  async #rulesFingerprint(id: string, create: boolean): Promise<string | undefined> {
    if (id === '') return '';
    const rules = this.#scrubbing.current?.rules;
    if (rules?.id !== id) return undefined;
    if (this.#fingerprint?.id !== id) this.#fingerprint = { id, value: new Shared(KEPT) };
    const value = await this.#fingerprint.value.run(() => this.#derive(rules, create));
    if (value === undefined && this.#fingerprint?.id === id) this.#fingerprint = undefined;
    return value;
  }

  async #derive({ table, patterns }: ScrubRules, create: boolean): Promise<string | undefined> {
    if (!table) return JSON.stringify(patterns);
    const salt = await this.#dir.salt({ create });
    if (!salt) return undefined;
    const secrets = Buffer.concat([
      Buffer.from(`${JSON.stringify(patterns)}${table.starts.join()}:`),
      Buffer.from(table.bytes),
    ]);
    return (await derive(secrets, salt, ROUNDS, FINGERPRINT_BYTES, 'sha256')).toString('hex');
  }
}
