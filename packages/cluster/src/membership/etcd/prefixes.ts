import { status } from '@grpc/grpc-js';
import {
  type EtcdConnection,
  grpcCode,
  type MethodRequest,
  type MethodResponse,
  readStream,
} from './etcd-connection.ts';
import type { EventMessage, KeyValueMessage } from './generated/messages.ts';

/** Keys per response, some hundred bytes each. Fewer if the response would be too large. */
const PAGE_KEYS = 256;

export interface ListedKey {
  key: string;
  /** `undefined` if it exceeds the maximum response size. */
  value: Uint8Array | undefined;
}

export interface ListedPage {
  /** The revision of the whole list, regardless of concurrent writes. */
  revision: string;
  keys: ListedKey[];
  /** There are more keys than are read. */
  isCut: boolean;
}

interface ListOptions {
  prefixes: readonly string[];
  /** Per prefix; the rest is ignored. */
  maxKeys: number;
  signal: AbortSignal;
}

/** All keys below the prefixes, page by page: values may be large, so they are never in memory together. */
export async function* listPrefixes(
  connection: EtcdConnection,
  { prefixes, maxKeys, signal }: ListOptions,
): AsyncGenerator<ListedPage, void, undefined> {
  let revision = '0';
  for (const prefix of prefixes) {
    const { key, range_end } = prefixRange(prefix);
    let from: Uint8Array | undefined = key;
    let limit = PAGE_KEYS;
    for (let count = 0; from !== undefined && count < maxKeys; ) {
      const page: Page = await readPage(connection, { key: from, range_end, limit: String(limit), revision }, signal);
      const { header, kvs, more } = page.response;
      if (revision === '0') revision = header?.revision ?? '0';
      count += kvs.length;
      limit = page.limit;
      yield { revision, keys: kvs.map((kv) => toListed(kv, page)), isCut: more && count >= maxKeys };
      const last: Uint8Array | undefined = kvs.at(-1)?.key;
      from = more && last !== undefined ? Buffer.concat([last, Buffer.alloc(1)]) : undefined;
    }
  }
}

interface Page {
  response: MethodResponse<'Range'>;
  /** The page size that worked; also used for the next page. */
  limit: number;
  /** Not even one value fits: returns only its key. */
  isTooLarge: boolean;
}

async function readPage(
  connection: EtcdConnection,
  request: MethodRequest<'Range'>,
  signal: AbortSignal,
): Promise<Page> {
  for (let limit = Number(request.limit); limit >= 1; limit = Math.floor(limit / 2)) {
    try {
      const response = await connection.call('Range', { ...request, limit: String(limit) }, { signal });
      return { response: response, limit, isTooLarge: false };
    } catch (error) {
      if (grpcCode(error) !== status.RESOURCE_EXHAUSTED) throw error;
    }
  }
  const response = await connection.call('Range', { ...request, limit: '1', keys_only: true }, { signal });
  return { response: response, limit: 1, isTooLarge: true };
}

function toListed({ key, value }: KeyValueMessage, { isTooLarge }: Page): ListedKey {
  return { key: Buffer.from(key).toString(), value: isTooLarge ? undefined : value };
}

/** The etcd range of all keys with a prefix: up to the first key after them. */
function prefixRange(prefix: string): { key: Buffer; range_end: Buffer } {
  const key = Buffer.from(prefix);
  const end = Buffer.from(key);
  // Prefixes end with "/", so the last byte can always be incremented.
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
  return { key, range_end: end };
}

export interface KeyChange {
  key: string;
  /** `undefined` if the key was deleted. */
  value: Uint8Array | undefined;
}

interface WatchOptions {
  prefixes: readonly string[];
  /** Changes after this revision are emitted. */
  afterRevision: string;
  signal: AbortSignal;
}

/**
 * Emits batches of changes below the prefixes; an empty batch is a progress notification. Ends if the revision was compacted,
 * so that a new list is needed. Any other end throws.
 */
export async function* watchPrefixes(
  connection: EtcdConnection,
  { prefixes, afterRevision, signal }: WatchOptions,
): AsyncGenerator<KeyChange[], void, undefined> {
  const stream = connection.openStream('Watch');
  const start_revision = String(BigInt(afterRevision) + 1n);
  for (const prefix of prefixes) {
    stream.write({ create_request: { ...prefixRange(prefix), start_revision, fragment: true } });
  }
  for await (const { events, canceled, compact_revision, cancel_reason } of readStream(stream, signal)) {
    if (canceled && compact_revision !== '0') return;
    if (canceled) throw new Error(`etcd canceled the watch: ${cancel_reason || 'no reason given'}`);
    yield events.map(toChange);
  }
  throw new Error('the watch ended');
}

function toChange({ type, kv }: EventMessage): KeyChange {
  return { key: Buffer.from(kv?.key ?? []).toString(), value: type === 'DELETE' ? undefined : kv?.value };
}
