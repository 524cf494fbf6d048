import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingJson, VersionChange } from '@porthole/contract';
import { replaceFile } from '@porthole/logs';

/** More than a person changes a configuration in years; each is a few KiB. */
const MAX_VERSIONS = 500;
const MAX_BYTES = 64 * 1024 ** 2;

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

/** A configuration as the history stores it: its version is the hash of that. */
export function toStoredConfig(config: string, values: readonly ConfigValue[]): StoredConfig {
  const settings = values.map(({ key, value }) => ({ key, value }));
  const version = createHash('sha256').update(JSON.stringify({ config, settings })).digest('hex').slice(0, 16);
  return { version, config, settings };
}

/** Every configuration that the node has had, one file for each content. The oldest make room for a new one. */
export class ConfigHistory {
  readonly #dir: string;
  readonly #maxVersions: number;
  readonly #maxBytes: number;

  constructor(dir: string, { maxVersions = MAX_VERSIONS, maxBytes = MAX_BYTES } = {}) {
    this.#dir = dir;
    this.#maxVersions = maxVersions;
    this.#maxBytes = maxBytes;
  }

  /** Stores a configuration, if it is not known, and returns it. */
  async add(config: string, values: readonly ConfigValue[]): Promise<StoredConfig> {
    const stored = toStoredConfig(config, values);
    await this.write(stored);
    return stored;
  }

  /** One that is larger than all of the history may be is not stored. */
  async write({ version, config, settings }: StoredConfig): Promise<void> {
    const path = this.#path(version);
    const now = new Date(); // clock: which version was last in use, by times of the file system
    try {
      // It is the newest again.
      await utimes(path, now, now);
    } catch (error) {
      if (!isMissing(error)) throw error;
      const text = Buffer.from(JSON.stringify({ config, settings }));
      if (text.length > this.#maxBytes) return;
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await this.#makeRoom(text.length);
      await replaceFile(path, text);
    }
  }

  /** The versions that are stored. */
  async versions(): Promise<ReadonlySet<string>> {
    const names = await readdir(this.#dir).catch(noneIfMissing);
    return new Set(names.flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []));
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

  async #makeRoom(bytes: number): Promise<void> {
    const paths = [...(await this.versions())].map((version) => this.#path(version));
    const files = await Promise.all(paths.map(async (path) => ({ path, stats: await stat(path) })));
    files.sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs);
    let total = bytes;
    for (const [index, { path, stats }] of files.entries()) {
      total += stats.size;
      if (index + 1 >= this.#maxVersions || total > this.#maxBytes) await rm(path, { force: true });
    }
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

function noneIfMissing(error: unknown): string[] {
  if (!isMissing(error)) throw error;
  return [];
}

/** A link is not followed: it counts as missing. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ELOOP', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}
