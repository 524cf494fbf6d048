import { readFile } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import { Shared, unneeded } from '@porthole/logs/shared';
import type { JSONWebKeySet } from 'jose';
import type { KeySource } from './jwt-check.ts';

/** Keys are fetched again after this time, so that withdrawn keys are dropped. */
const FRESH_MS = 10 * 60_000;

interface JwtKeysOptions {
  fetchKeys(): Promise<JSONWebKeySet>;
  /** Minimum time between two fetches. */
  refetchMs: number;
  /** How long keys stay valid after they were last fetched. */
  keepMs: number;
  /** Called once each time fetching starts to fail. */
  onFailure(error: unknown): void;
  now?: () => number;
}

/** The keys JWTs are verified with, fetched from a URL. */
export class JwtKeys {
  readonly #options: Required<JwtKeysOptions>;
  #keys: { set: JSONWebKeySet; text: string; fetchedMs: number } | undefined;
  readonly #fetching = new Shared<void>();
  #triedMs = Number.NEGATIVE_INFINITY;
  #failure: string | undefined;

  constructor(options: JwtKeysOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Why the last fetch failed; `undefined` when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** How long the current keys stay valid without another fetch; monotonic. */
  get usableUntilMs(): number {
    return this.#keys ? this.#keys.fetchedMs + this.#options.keepMs : 0;
  }

  /** The keys if they are still valid. Returns the same object while they have not changed. */
  async current(): Promise<JSONWebKeySet | undefined> {
    const { now } = this.#options;
    const ageMs = this.#keys ? now() - this.#keys.fetchedMs : Number.POSITIVE_INFINITY;
    if (ageMs >= FRESH_MS) {
      const fetching = this.#fetchSoon();
      // The old keys are good enough meanwhile; only without keys the caller must wait.
      if (now() >= this.usableUntilMs) await fetching;
    }
    return now() < this.usableUntilMs ? this.#keys?.set : undefined;
  }

  /** A JWT names an unknown key: fetches, but not more often than allowed. */
  async renew(): Promise<JSONWebKeySet | undefined> {
    await this.#fetchSoon();
    return this.current();
  }

  #fetchSoon(): Promise<void> {
    const { now, refetchMs } = this.#options;
    if (!this.#fetching.isRunning) {
      if (now() - this.#triedMs < refetchMs) return Promise.resolve();
      this.#triedMs = now();
    }
    return this.#fetching.run(() => this.#fetch());
  }

  async #fetch(): Promise<void> {
    const { fetchKeys, now, onFailure } = this.#options;
    try {
      const set = await fetchKeys();
      const text = JSON.stringify(set);
      this.#keys = { set: this.#keys?.text === text ? this.#keys.set : set, text, fetchedMs: now() };
      this.#failure = undefined;
    } catch (error) {
      const isNew = this.#failure === undefined;
      this.#failure = withCause(error);
      if (isNew) onFailure(error);
    }
  }
}

/** `fetch failed` says nothing; the reason is in its cause. */
function withCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${errorMessage(error)}: ${cause.message}` : errorMessage(error);
}

/** The key set of an identity provider has a few KiB. */
const MAX_BYTES = 256 * 1024;

/** Providers respond in milliseconds; a client that signs in waits for it. */
const FETCH_TIMEOUT_MS = 5000;

/** Called with the unusable keys, each with the reason; an empty list if all are usable. */
type OnUnusable = (unusable: readonly string[]) => void;

/** Reads a JWKS file without its unusable keys. Throws if it is invalid. */
export async function readKeyFile(path: string, onUnusable: OnUnusable = () => {}): Promise<JSONWebKeySet> {
  return parseKeySet((await readFile(path)).toString('utf8'), path, onUnusable);
}

/** Fetches a JWKS. Redirects, oversized responses and timeouts are failures. */
export async function fetchKeySet(url: string, onUnusable: OnUnusable = () => {}): Promise<JSONWebKeySet> {
  const late = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const timer = setTimeout(() => {
    late.abort(new Error(`${url} did not respond within ${FETCH_TIMEOUT_MS} ms`));
    // Once a response is collected, `fetch` does not notice the signal any more, and the read would never end.
    void unneeded(reader?.cancel()); // rejects with the reason of the signal
  }, FETCH_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      redirect: 'error',
      credentials: 'omit',
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: late.signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`${url} returned status ${response.status}`);
    }
    reader = response.body?.getReader();
    const text = reader === undefined ? '' : await readText(reader, url);
    late.signal.throwIfAborted();
    return await parseKeySet(text, url, onUnusable);
  } finally {
    clearTimeout(timer);
  }
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>, url: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    parts.push(part.value);
    if (bytes <= MAX_BYTES) continue;
    await reader.cancel();
    throw new Error(`the response of ${url} is larger than ${MAX_BYTES} bytes`);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function parseKeySet(text: string, where: string, onUnusable: OnUnusable): Promise<JSONWebKeySet> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${where}: not JSON`, { cause: error });
  }
  const { keys } = (typeof value === 'object' && value !== null ? value : {}) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every(isKey)) throw new Error(`${where}: not a set of keys ({"keys": [...]})`);
  // Shared secrets do not belong into a set of public keys, and no accepted algorithm uses them.
  const open = keys.filter(({ kty }) => kty !== 'oct');
  if (open.length === 0) throw new Error(`${where}: contains no public key`);
  const { set, unusable } = await usableKeys(open);
  if (set.keys.length === 0) throw new Error(`${where}: contains no usable key (${unusable.join('; ')})`);
  onUnusable(unusable);
  return set;
}

function isKey(value: unknown): value is { kty: string } {
  return typeof value === 'object' && value !== null && 'kty' in value && typeof value.kty === 'string';
}

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

/** More than any provider uses at a time; each key costs the verification of a signature. */
const MAX_KEYS = 100;

/** Names of keys are shown to operators, but chosen by whoever serves the keys. */
const MAX_NAME_CHARS = 64;

/** An algorithm for each type and curve of keys, to test whether the library can use the key. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'RSA ': 'RS256',
  'EC P-256': 'ES256',
  'EC P-384': 'ES384',
  'EC P-521': 'ES512',
  'OKP Ed25519': 'EdDSA',
};

interface UsableKeys {
  set: JSONWebKeySet;
  /** The unusable keys with the reason, for operators. */
  unusable: string[];
}

type Key = JSONWebKeySet['keys'][number];

/**
 * The keys that the library can verify a signature with: otherwise an unusable key would only be noticed when a client
 * sends a JWT that names it. Each key is tried with an invalid signature.
 */
async function usableKeys(keys: readonly Key[]): Promise<UsableKeys> {
  const usable: Key[] = [];
  const unusable: string[] = [];
  for (const [index, key] of keys.entries()) {
    const reason = index < MAX_KEYS ? await findDefect(key) : `only ${MAX_KEYS} keys are used`;
    if (reason === undefined) usable.push(key);
    else unusable.push(`${keyName(key, index)}: ${reason}`);
  }
  return { set: { keys: usable }, unusable };
}

async function findDefect(key: Key): Promise<string | undefined> {
  const { compactVerify, errors, importJWK } = await import('jose');
  if ('d' in key) return 'it is a private key: everyone who can fetch it can sign';
  const algorithm = typeof key.alg === 'string' ? key.alg : ALGORITHMS[`${key.kty} ${key.crv ?? ''}`];
  if (algorithm === undefined) return 'its type is not supported';
  try {
    const head = Buffer.from(JSON.stringify({ alg: algorithm })).toString('base64url');
    await compactVerify(`${head}.e30.${Buffer.alloc(64).toString('base64url')}`, await importJWK(key, algorithm));
    return 'it accepts an invalid signature';
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
    return error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read';
  }
}

function keyName({ kid }: Key, index: number): string {
  return typeof kid === 'string' ? `key ${JSON.stringify(kid.slice(0, MAX_NAME_CHARS))}` : `key ${index + 1}`;
}
