import type { EtcdConnection } from './etcd-connection.ts';
import type { EventMessage } from './generated/messages.ts';
import { prefixRange } from './prefix-range.ts';
import { readStream } from './read-stream.ts';

export interface KeyChange {
  key: string;
  /** `undefined`: the key is gone. */
  value: Uint8Array | undefined;
}

interface WatchOptions {
  prefixes: readonly string[];
  /** What happened after it is told. */
  afterRevision: string;
  signal: AbortSignal;
}

/**
 * What happens below the prefixes, in batches; an empty one when etcd only shows that it is there. Ends where etcd no
 * longer knows what happened since the revision (compaction): a new list is needed. Everything else that ends it throws.
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
    if (canceled) throw new Error(`the watch was refused: ${cancel_reason || 'no reason given'}`);
    yield events.map(toChange);
  }
  throw new Error('the watch ended');
}

function toChange({ type, kv }: EventMessage): KeyChange {
  return { key: Buffer.from(kv?.key ?? []).toString(), value: type === 'DELETE' ? undefined : kv?.value };
}
