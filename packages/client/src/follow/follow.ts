import {
  type CallOptions,
  type ClusterFollowItem,
  type ErrorCode,
  errorMessage,
  HEARTBEAT_HEADER,
  type loadGaps,
  ONLY_TEXTS,
  RECORDS_HEADER,
  RECORDS_TYPE,
} from '@porthole/contract';
import type { FollowItem } from '@porthole/logs/types';
import { ClientError } from '../errors/client-error.ts';
import { type ClientDeps, type ClientRequest, Exchange } from '../exchange.ts';
import { backoff, requestedWait } from '../retry.ts';
import { sendRequest } from '../send-request.ts';
import type { FollowPosition } from './follow-position.ts';

const OWN_EVENTS = `${RECORDS_TYPE}, text/event-stream`;

/** Maximum reconnect delay accepted from a node. */
const MAX_REQUESTED_WAIT_MS = 60_000;

/** Status codes of nodes without support for parameters in a body. */
const METHOD_NOT_ALLOWED = 405;

/** A connection is lost after this many heartbeats that did not come. */
const MISSED_BEATS = 2.5;

/** Items a follow emits about itself. */
type ClientItem = Extract<FollowItem, { type: 'end' | 'reconnecting' }>;

const CANCELLED: ClientItem = { type: 'end', reason: 'cancelled' };

interface FollowTarget<T extends FollowItem | ClusterFollowItem> {
  path: string;
  position: FollowPosition<T>;
  /** See `FollowOptions`. */
  heartbeatMs?: number | undefined;
  texts?: boolean | undefined;
  positions?: boolean | undefined;
  /** Of one node: items as the node itself has them. */
  isOwn?: boolean | undefined;
}

/** A follow with the records of its gaps, as far as they can be loaded. Those who report gaps need none of its code. */
export async function* withoutGaps<T extends FollowItem | ClusterFollowItem>(
  ...[followed, request, loading]: Parameters<typeof loadGaps<T>>
): AsyncGenerator<T[], void, undefined> {
  const late = await import('../read-records.ts');
  yield* late.loadGaps(followed, request, loading);
}

/** Follows until the signal aborts, reconnecting as needed. */
export async function* follow<T extends FollowItem | ClusterFollowItem>(
  followed: FollowTarget<T>,
  deps: ClientDeps,
  { signal }: CallOptions,
): AsyncGenerator<(T | ClientItem)[], void, undefined> {
  const connection = new Connection(followed, deps, signal);
  try {
    await connection.open({ retries: true });
    yield* keepFollowing(connection, deps, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    connection.close();
  }
  yield [CANCELLED];
}

async function* keepFollowing<T extends FollowItem | ClusterFollowItem>(
  connection: Connection<T>,
  deps: ClientDeps,
  signal: AbortSignal | undefined,
): AsyncGenerator<(T | ClientItem)[], void, undefined> {
  let hasWorked = false;
  for (let failures = 0; ; failures++) {
    let lost: unknown;
    try {
      if (!connection.isOpen) await connection.open({ retries: false });
      let isNew = true;
      for await (const { items, isWorking } of connection.items()) {
        if (isWorking) {
          failures = 0;
          hasWorked = true;
        }
        // Its first bytes, not its head, say that it is connected; a quiet log would not show that.
        if (isNew || (isWorking && connection.showsHeartbeats && items.length === 0)) yield [];
        isNew = false;
        if (items.length > 0) yield items;
        signal?.throwIfAborted();
      }
      lost = connection.endReason;
    } catch (error) {
      if (signal?.aborted || isFinal(error, hasWorked)) throw error;
      lost = error;
    }
    connection.close();
    if (lost instanceof ClientError && lost.status === METHOD_NOT_ALLOWED) connection.shortenPosition();
    if (isPositionLost(lost)) yield connection.forgetPosition();
    const reason = errorMessage(lost);
    const leastMs = Math.max(connection.retryMs, requestedWait(lost, deps.options) ?? 0);
    const waitMs = Math.max(leastMs, backoff(failures, deps));
    const isTimeout = lost instanceof ClientError && lost.failure === 'timeout';
    const { isStopping } = connection;
    const facts = { ...(isTimeout && { isTimeout }), ...(isStopping && { isStopping }) };
    yield [{ type: 'reconnecting', reason, waitMs, ...facts }];
    await deps.clock.wait(waitMs, signal);
  }
}

/** The current connection of a follow. */
class Connection<T extends FollowItem | ClusterFollowItem> {
  readonly #target: FollowTarget<T>;
  readonly #deps: ClientDeps;
  readonly #signal: AbortSignal | undefined;
  #exchange: Exchange | undefined;
  /** Loaded with the first connection: pages in browsers show records before they follow. */
  #events: typeof import('./event-stream.ts') | undefined;
  #stopping = false;
  /** Minimum reconnect delay requested by the node. */
  retryMs = 0;

  constructor(target: FollowTarget<T>, deps: ClientDeps, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#deps = deps;
    this.#signal = signal;
  }

  /** Whether the last connection ended because the node stops. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  get showsHeartbeats(): boolean {
    return this.#target.heartbeatMs !== undefined;
  }

  get isOpen(): boolean {
    return this.#exchange !== undefined;
  }

  /** The reason for an end without an error. */
  get endReason(): string {
    return this.#stopping ? 'the node is stopping' : 'the node ended the response';
  }

  /** Only the first connection has limited retries: a wrong address must not be tried forever. */
  async open({ retries }: { retries: boolean }): Promise<void> {
    const requestedMs = this.#deps.clock.now();
    const { path, position, heartbeatMs, texts, isOwn } = this.#target;
    this.#stopping = false;
    this.#events ??= await import('./event-stream.ts');
    const { headers, ...place } = position.request(requestedMs);
    const beat = heartbeatMs !== undefined && { [HEARTBEAT_HEADER]: String(heartbeatMs) };
    const wanted = texts && { [RECORDS_HEADER]: ONLY_TEXTS };
    const request: ClientRequest = {
      path,
      signal: this.#signal,
      ...place,
      headers: { ...headers, ...beat, ...wanted, ...(isOwn && { accept: OWN_EVENTS }) },
    };
    const exchange = await (retries ? sendRequest(request, this.#deps) : Exchange.open(request, this.#deps));
    try {
      this.#events.checkEventStream(exchange);
    } catch (error) {
      exchange.close();
      throw error;
    }
    const beatMs = beat ? Number(exchange.header(HEARTBEAT_HEADER)) : 0;
    if (beatMs > 0) exchange.expectEvery(beatMs * MISSED_BEATS);
    this.#exchange = exchange;
    position.started(requestedMs);
  }

  /**
   * What each chunk has, `isWorking` if it is an item or a heartbeat. Ends with the stream or an error; the end of the node
   * is not passed on, because the follow reconnects.
   */
  async *items(): AsyncGenerator<{ items: T[]; isWorking: boolean }, void, undefined> {
    if (!this.#exchange || !this.#events) return;
    for await (const { items, ids, heartbeat, retryMs } of this.#events.readEvents<T>(this.#exchange)) {
      this.retryMs = Math.min(retryMs ?? this.retryMs, MAX_REQUESTED_WAIT_MS);
      const end = items.findIndex(({ type }) => type === 'end');
      const received = end < 0 ? items : items.slice(0, end);
      const { position, positions } = this.#target;
      const fresh = position.track(received, { heartbeat, ids }).filter(({ type }) => positions || type !== 'position');
      yield { items: fresh, isWorking: received.length > 0 || heartbeat };
      this.#stopping = end >= 0;
      if (end >= 0) return;
    }
  }

  shortenPosition(): void {
    this.#target.position.shorten();
  }

  forgetPosition(): T[] {
    return this.#target.position.forget();
  }

  close(): void {
    this.#exchange?.close();
    this.#exchange = undefined;
  }
}

/** Codes that end a working follow: access was revoked. All others are retried forever. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
]);

/** Codes that end a follow that never worked. */
const NO_NODE: ReadonlySet<ErrorCode> = new Set([...FINAL, 'NOT_SUPPORTED', 'BAD_ANSWER']);

function isFinal(error: unknown, hasWorked: boolean): boolean {
  return !(error instanceof ClientError) || (hasWorked ? FINAL : NO_NODE).has(error.code);
}

function isPositionLost(error: unknown): boolean {
  return error instanceof ClientError && (error.code === 'CURSOR_GONE' || error.code === 'CURSOR_INVALID');
}
