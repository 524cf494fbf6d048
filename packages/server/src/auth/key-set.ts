import { readFile } from 'node:fs/promises';
import type { JSONWebKeySet } from 'jose';
import { usableKeys } from './usable-keys.ts';

/** A set of keys of an identity provider has a few KiB. */
const MAX_BYTES = 256 * 1024;

/** Providers answer in milliseconds; who logs in waits for it. */
const FETCH_TIMEOUT_MS = 5000;

/** Is given the keys that cannot be used, each with the reason; none if all can. */
export type OnUnusable = (unusable: readonly string[]) => void;

/** Reads a JWKS without the keys that cannot be used. Throws what is wrong with it. */
export async function readKeyFile(path: string, onUnusable: OnUnusable = () => {}): Promise<JSONWebKeySet> {
  return parseKeySet((await readFile(path)).toString('utf8'), path, onUnusable);
}

/** Fetches a JWKS from this very address: a redirect is a failure, and so are too many bytes or too much time. */
export async function fetchKeySet(url: string, onUnusable: OnUnusable = () => {}): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    redirect: 'error',
    credentials: 'omit',
    headers: { accept: 'application/jwk-set+json, application/json' },
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answers ${response.status}`);
  }
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error(`${url} sends more than ${MAX_BYTES} bytes`);
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
  // Shared secrets could be used by no algorithm that is accepted; they have no place among public keys at all.
  const open = keys.filter(({ kty }) => kty !== 'oct');
  if (open.length === 0) throw new Error(`${where}: holds no public key`);
  const { set, unusable } = await usableKeys(open);
  if (set.keys.length === 0) throw new Error(`${where}: holds no usable key (${unusable.join('; ')})`);
  onUnusable(unusable);
  return set;
}

function isKey(value: unknown): value is { kty: string } {
  return typeof value === 'object' && value !== null && 'kty' in value && typeof value.kty === 'string';
}
