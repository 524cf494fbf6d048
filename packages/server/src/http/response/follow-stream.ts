import type { IncomingHttpHeaders } from 'node:http';
import {
  type ClusterFollowItem,
  exactJson,
  HEARTBEAT_HEADER,
  optionalValue,
  POSITION_COMMENT,
  type Query,
} from '@porthole/contract';
import { type FollowItem, resumeCursor } from '@porthole/logs';
import type { StreamBody } from './route-response.ts';

interface FollowEvent {
  type: string;
}

/** The closing event of a stopping node. */
export interface StoppingEnd {
  type: 'end';
  reason: 'stopping';
}

/** How items are sent. */
export interface FollowEncoder<T> {
  /** What is sent first; empty: nothing. */
  readonly opening: Buffer;
  /** Shows that the connection lives. */
  readonly heartbeat: Buffer;
  encode(items: readonly T[]): Buffer;
}

export interface FollowStreamOptions<T extends FollowEvent> {
  encoder: FollowEncoder<T | StoppingEnd>;
  /** A heartbeat is sent after this long without events. */
  heartbeatMs: number;
  /** Fires when the client disconnects. */
  signal: AbortSignal;
  /** Fires when the node stops: the stream then ends with a closing event. */
  stopping: AbortSignal;
}

/**
 * Batches of items as events, until the client disconnects, the node stops or the items end. The first batch
 * is awaited before the head is sent, so that a refused request still gets its status.
 */
export async function openFollowStream<T extends FollowEvent>(
  follow: (signal: AbortSignal) => AsyncIterable<T[]>,
  options: FollowStreamOptions<T>,
): Promise<StreamBody> {
  // A separate signal: the source must also end when the node stops, or for a HEAD request.
  const ending = new AbortController();
  const forwardAbort = () => ending.abort(options.signal.reason);
  if (options.signal.aborted) forwardAbort();
  else options.signal.addEventListener('abort', forwardAbort, { once: true });

  const iterator = follow(ending.signal)[Symbol.asyncIterator]();
  const close = async () => {
    ending.abort();
    await iterator.return?.();
  };
  const first = await iterator.next();
  return { chunks: frames(iterator, first, { ...options, signal: ending.signal }), close };
}

async function* frames<T extends FollowEvent>(
  iterator: AsyncIterator<T[]>,
  first: IteratorResult<T[]>,
  { encoder, heartbeatMs, signal, stopping }: FollowStreamOptions<T>,
): AsyncGenerator<Buffer> {
  const waiter = new BatchWaiter<T[]>(heartbeatMs, [signal, stopping]);
  try {
    yield encoder.opening;
    for (let batch: IteratorResult<T[]> | undefined = first; !batch?.done; batch = await waiter.next()) {
      // Before anything is sent: the client's credentials may have been revoked.
      signal.throwIfAborted();
      const isSent = waiter.isSilent || (batch?.value.length ?? 0) > 0;
      if (batch && batch.value.length > 0) yield encoder.encode(batch.value);
      else if (isSent) yield encoder.heartbeat;
      if (stopping.aborted) {
        yield encoder.encode([{ type: 'end', reason: 'stopping' }]);
        return;
      }
      if (isSent) waiter.restartTimer();
      // Requested only now, so that a slow client slows down the source.
      if (batch) waiter.expect(iterator.next());
    }
  } finally {
    waiter.close();
  }
}

/** Waits for a batch, a period of silence or a signal, whichever comes first, without losing a pending batch. */
class BatchWaiter<B> {
  readonly #timer: NodeJS.Timeout;
  readonly #signals: readonly AbortSignal[];
  #batch: Promise<IteratorResult<B>> | undefined; // kept: belongs to one response; it has a handler from birth
  #settled = false;
  #silent = false;
  #wake = () => {};

  constructor(silenceMs: number, signals: readonly AbortSignal[]) {
    this.#signals = signals;
    this.#timer = setTimeout(() => {
      this.#silent = true;
      this.#wake();
    }, silenceMs);
    for (const signal of signals) signal.addEventListener('abort', this.#onSignal);
  }

  /** Whether nothing was sent for `silenceMs`. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Called after something was sent. */
  restartTimer(): void {
    this.#silent = false;
    this.#timer.refresh();
  }

  expect(batch: Promise<IteratorResult<B>>): void {
    this.#batch = batch;
    const settled = () => {
      this.#settled = true;
      this.#wake();
    };
    this.#settled = false;
    batch.then(settled, settled);
  }

  /** The batch; `undefined` if it is still pending but the stream was silent or a signal fired. */
  async next(): Promise<IteratorResult<B> | undefined> {
    if (!this.#settled && !this.#silent && !this.#signals.some(({ aborted }) => aborted)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#settled ? this.#batch : undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#onSignal);
  }

  readonly #onSignal = () => this.#wake();
}

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Without it, nginx buffers events.
  'x-accel-buffering': 'no',
} as const;

/** Sent first: clients reconnect after one second, instead of the browser's three or more. */
const RETRY_FRAME = Buffer.from('retry: 1000\n\n');

/** A comment, which clients ignore. */
const HEARTBEAT_FRAME = Buffer.from(': still here\n\n');

/** Encodes items as server-sent events. A record that goes to many followers is encoded once. */
export class EventEncoder<T extends { type: string }> implements FollowEncoder<T> {
  readonly opening = RETRY_FRAME;
  readonly heartbeat = HEARTBEAT_FRAME;
  readonly #getId: (item: T) => string | undefined;
  readonly #frames = new WeakMap<object, Buffer>();

  /** Clients resume after the last event with an id. */
  constructor(getId: (item: T) => string | undefined) {
    this.#getId = getId;
  }

  encode(items: readonly T[]): Buffer {
    const [first] = items;
    if (items.length === 1 && first) return this.#getFrame(first);
    return Buffer.concat(items.map((item) => this.#getFrame(item)));
  }

  #getFrame(item: T): Buffer {
    if (item.type !== 'record') return this.#frame(item);
    const known = this.#frames.get(item);
    if (known) return known;
    const made = this.#frame(item);
    this.#frames.set(item, made);
    return made;
  }

  #frame(item: T): Buffer {
    if (item.type === 'position') return Buffer.from(`: ${POSITION_COMMENT}${exactJson(item)}\n\n`);
    const id = this.#getId(item);
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    return Buffer.from(`event: ${item.type}\n${idLine}data: ${exactJson(item)}\n\n`);
  }
}

/** Only records have an id, as clients resume after a record. An unfinished line has none: it is sent again when complete. */
export function cursorId(item: FollowItem | ClusterFollowItem): string | undefined {
  return item.type === 'record' && !item.unfinished ? resumeCursor(item) : undefined;
}

/** More often would only cost. */
const MIN_HEARTBEAT_MS = 1000;

/** The interval of heartbeats for a client that wants one, which is never longer than without; `undefined`: it wants none. */
export function agreedHeartbeat(headers: IncomingHttpHeaders, heartbeatMs: number): number | undefined {
  const wantedMs = Number(headers[HEARTBEAT_HEADER]);
  return wantedMs > 0 ? Math.min(heartbeatMs, Math.max(MIN_HEARTBEAT_MS, wantedMs)) : undefined;
}

/** The id of the last event a reconnecting client has seen; an id that is too long for a header is sent as a parameter. */
export function lastEventId({ headers, query }: { headers: IncomingHttpHeaders; query: Query }): string | undefined {
  const { 'last-event-id': id } = headers;
  return (Array.isArray(id) ? id[0] : id) ?? optionalValue(query, 'Last-Event-ID');
}

/** There is no cursor across the logs of all members: an interrupted follow resumes by time. */
export function timeId(item: ClusterFollowItem): string | undefined {
  return item.type === 'record' && item.atMs !== undefined ? String(Math.floor(item.atMs)) : undefined;
}
