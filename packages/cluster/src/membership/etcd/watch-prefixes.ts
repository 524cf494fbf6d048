import { type EtcdConnection, readStream } from './etcd-connection.ts';
import type { EventMessage } from './generated/messages.ts';
import { prefixRange } from './list-prefixes.ts';

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
