import { status } from '@grpc/grpc-js';
import { type EtcdConnection, grpcCode } from './etcd-connection.ts';
import type { KeyValueMessage } from './generated/messages.ts';
import { prefixRange } from './prefix-range.ts';
import type { MethodRequest, MethodResponse } from './service-definition.ts';

/** Keys in one answer; some hundred bytes each. Fewer where an answer would be too large. */
const PAGE_KEYS = 256;

export interface ListedKey {
  key: string;
  /** `undefined` where it is larger than an answer may be. */
  value: Uint8Array | undefined;
}

export interface ListedPage {
  /** At which the whole list is told, whatever is written meanwhile. */
  revision: string;
  keys: ListedKey[];
  /** There are more keys than are looked at. */
  isCut: boolean;
}

interface ListOptions {
  prefixes: readonly string[];
  /** Of each prefix; the rest is not looked at. */
  maxKeys: number;
  signal: AbortSignal;
}

/** Everything below the prefixes, page by page: values are as large as others made them, so they are never held together. */
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
  /** What was not too much; also for the next page. */
  limit: number;
  /** Not even one value fits: only its key is there. */
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
