import { readFile } from 'node:fs/promises';
import type { JSONWebKeySet } from 'jose';
import { usableKeys } from './usable-keys.ts';

/** The key set of an identity provider has a few KiB. */
const MAX_BYTES = 256 * 1024;

/** Providers respond in milliseconds; a client that signs in waits for it. */
const FETCH_TIMEOUT_MS = 5000;

/** Called with the unusable keys, each with the reason; an empty list if all are usable. */
export type OnUnusable = (unusable: readonly string[]) => void;

/** Reads a JWKS file without its unusable keys. Throws if it is invalid. */
export async function readKeyFile(path: string, onUnusable: OnUnusable = () => {}): Promise<JSONWebKeySet> {
  return parseKeySet((await readFile(path)).toString('utf8'), path, onUnusable);
}

/** Fetches a JWKS. Redirects, oversized responses and timeouts are failures. */
export async function fetchKeySet(url: string, onUnusable: OnUnusable = () => {}): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    redirect: 'error',
    credentials: 'omit',
    headers: { accept: 'application/jwk-set+json, application/json' },
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} returned status ${response.status}`);
  }
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error(`the response of ${url} is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return parseKeySet(Buffer.concat(parts).toString('utf8'), url, onUnusable);
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
