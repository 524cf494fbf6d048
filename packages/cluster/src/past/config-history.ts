import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingJson, VersionChange } from '@porthole/contract';
import { replaceFile } from '@porthole/logs';

/** More than a person changes a configuration in years; each is a few KiB. */
const MAX_VERSIONS = 500;

const MAX_FILE_BYTES = 8 * 1024 ** 2;

const FILE_NAME = /^([0-9a-f]{16})\.json$/;

/** A configuration as it was served: secrets masked. */
export interface StoredConfig {
  version: string;
  /** TOML. */
  config: string;
  settings: readonly ConfigValue[];
}

export interface ConfigValue {
  key: string;
  value: SettingJson;
  /** Distinguishes secrets without showing them, within this process; never stored. */
  fingerprint?: string;
}

/** Every configuration that the node has had, one file for each content. */
export class ConfigHistory {
  readonly #dir: string;
  readonly #maxVersions: number;

  constructor(dir: string, { maxVersions = MAX_VERSIONS } = {}) {
    this.#dir = dir;
    this.#maxVersions = maxVersions;
  }

  /** Stores a configuration, if it is not known, and returns its version. */
  async add(config: string, values: readonly ConfigValue[]): Promise<StoredConfig> {
    const stored = values.map(({ key, value }) => ({ key, value }));
    const text = JSON.stringify({ config, settings: stored });
    const version = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const path = this.#path(version);
    const now = new Date(); // clock: which version was last in use, by times of the file system
    try {
      // It is the newest again.
      await utimes(path, now, now);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await replaceFile(path, text);
      await this.#dropOldest();
    }
    return { version, config, settings: stored };
  }

  /** `undefined`: not known, or not any more. */
  async get(version: string): Promise<StoredConfig | undefined> {
    if (!FILE_NAME.test(`${version}.json`)) return undefined;
    const text = await readSmall(this.#path(version));
    if (text === undefined) return undefined;
    // Others may write to the disk: the name is the hash of the content.
    if (createHash('sha256').update(text).digest('hex').slice(0, 16) !== version) return undefined;
    const { config, settings } = JSON.parse(text) as Omit<StoredConfig, 'version'>;
    return { version, config, settings };
  }

  #path(version: string): string {
    return join(this.#dir, `${version}.json`);
  }

  async #dropOldest(): Promise<void> {
    const names = (await readdir(this.#dir)).filter((name) => FILE_NAME.test(name));
    if (names.length <= this.#maxVersions) return;
    const aged = await Promise.all(
      names.map(async (name) => ({ name, modifiedMs: (await stat(join(this.#dir, name))).mtimeMs })),
    );
    aged.sort((a, b) => a.modifiedMs - b.modifiedMs);
    for (const { name } of aged.slice(0, names.length - this.#maxVersions))
      await rm(join(this.#dir, name), { force: true });
  }
}

/** The keys whose values differ, in the order of the newer ones. */
export function compareValues(before: readonly ConfigValue[], after: readonly ConfigValue[]): VersionChange[] {
  const old = new Map(before.map((setting) => [setting.key, setting]));
  const changes: VersionChange[] = [];
  for (const { key, value, fingerprint } of after) {
    const known = old.get(key);
    old.delete(key);
    // A secret that is stored has none: then only its mask is compared.
    const isSameSecret = known?.fingerprint === undefined || known.fingerprint === fingerprint;
    if (known && isSameSecret && JSON.stringify(known.value) === JSON.stringify(value)) continue;
    changes.push({ key, before: known?.value ?? null, after: value });
  }
  for (const { key, value } of old.values()) changes.push({ key, before: value, after: null });
  return changes;
}

async function readSmall(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = await handle.stat();
      return size > MAX_FILE_BYTES ? undefined : await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A link is not followed: it counts as missing. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ELOOP';
}
