import type { JSONWebKeySet } from 'jose';
import type { KeySource } from './jwt-check.ts';
import { type OnUnusable, readKeyFile } from './key-set.ts';

/** The keys JWTs are checked with, from a file. */
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

  /** Whoever writes the file has it read again; a JWT cannot. */
  async renew(): Promise<JSONWebKeySet> {
    return this.#keys;
  }

  /** Keeps what it has when the file cannot be used. */
  async reload(): Promise<void> {
    this.#keys = await readKeyFile(this.#path, this.#onUnusable);
  }
}
