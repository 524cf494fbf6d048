import type { JSONWebKeySet } from 'jose';
import type { KeySource } from './jwt-check.ts';
import { type OnUnusable, readKeyFile } from './key-set.ts';

/** The keys JWTs are verified with, from a file. */
export class KeyFile implements KeySource {
  readonly usableUntilMs = Number.POSITIVE_INFINITY;
  readonly #path: string;
  readonly #onUnusable: OnUnusable;
  #keys: JSONWebKeySet;

  private constructor(path: string, keys: JSONWebKeySet, onUnusable: OnUnusable) {
    this.#path = path;
    this.#onUnusable = onUnusable;
    this.#keys = keys;
  }

  static async open(path: string, onUnusable: OnUnusable): Promise<KeyFile> {
    return new KeyFile(path, await readKeyFile(path, onUnusable), onUnusable);
  }

  async current(): Promise<JSONWebKeySet> {
    return this.#keys;
  }

  /** The file is reloaded when it changes; an unknown key does not trigger a reload. */
  async renew(): Promise<JSONWebKeySet> {
    return this.#keys;
  }

  /** Keeps the current keys if the file is invalid. */
  async reload(): Promise<void> {
    this.#keys = await readKeyFile(this.#path, this.#onUnusable);
  }
}
