import type { CallOptions, ErrorCode } from '@porthole/contract';
import type { FollowItem } from '@porthole/logs/types';
import { ClientError } from './client-error.ts';
import { checkEventStream, readEvents } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import type { ClientDeps, ClientRequest } from './request.ts';
import { backoff, requestedWait } from './retry.ts';
import { sendRequest } from './send-request.ts';

/** A node that asks for a longer wait than this is not believed. */
const MAX_REQUESTED_WAIT_MS = 60_000;

/** Of nodes that are older than parameters in a body. */
const METHOD_NOT_ALLOWED = 405;

/** What a follow tells of itself. */
type ClientItem = Extract<FollowItem, { type: 'end' | 'reconnecting' }>;

const CANCELLED: ClientItem = { type: 'end', reason: 'cancelled' };

/** Where a follow has come to. */
export interface FollowPosition<T> {
  /** What to ask to begin, or to go on. */
  request(nowMs: number): Pick<ClientRequest, 'query' | 'headers'>;
  /** A connection stands; it was asked for at this time. */
  started(atMs: number): void;
  /** What came; a heartbeat is sent when there is nothing to tell. Returns what has not been told before. */
  track(items: T[], told: { heartbeat: boolean; ids: readonly (string | undefined)[] }): T[];
  /** The node takes no long requests. */
  shorten(): void;
  /** The node does not know the position any more: continues without it. Returns what is to be said of that. */
  forget(): T[];
}

export interface FollowTarget<T> {
  path: string;
  position: FollowPosition<T>;
}

/** Follows until the signal fires, over as many connections as it takes. */
export async function* follow<T extends { type: string }>(
  followed: FollowTarget<T>,
  deps: ClientDeps,
  { signal }: CallOptions,
): AsyncGenerator<(T | ClientItem)[], void, undefined> {
  const connection = new Connection(followed, deps, signal);
  try {
    await connection.open({ retries: true });
    yield [];
    yield* keepFollowing(connection, deps, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    connection.close();
  }
  yield [CANCELLED];
}

async function* keepFollowing<T extends { type: string }>(
  connection: Connection<T>,
  deps: ClientDeps,
  signal: AbortSignal | undefined,
): AsyncGenerator<(T | ClientItem)[], void, undefined> {
  let hasWorked = false;
  for (let failures = 0; ; failures++) {
    let lost: unknown;
    try {
      if (!connection.isOpen) {
        await connection.open({ retries: false });
        // It stands again, which a log that is silent would not tell.
        yield [];
      }
      for await (const items of connection.items()) {
        failures = 0;
        hasWorked = true;
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
    const reason = lost instanceof Error ? lost.message : String(lost);
    const leastMs = Math.max(connection.retryMs, requestedWait(lost, deps.options) ?? 0);
    const waitMs = Math.max(leastMs, backoff(failures, deps));
    yield [{ type: 'reconnecting', reason, waitMs }];
    await deps.clock.wait(waitMs, signal);
  }
}

/** The connection a follow has at the moment. */
class Connection<T extends { type: string }> {
  readonly #target: FollowTarget<T>;
  readonly #deps: ClientDeps;
  readonly #signal: AbortSignal | undefined;
  #exchange: Exchange | undefined;
  #stopping = false;
  /** What the node asks to wait at least before it is asked again. */
  retryMs = 0;

  constructor(target: FollowTarget<T>, deps: ClientDeps, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#deps = deps;
    this.#signal = signal;
  }

  get isOpen(): boolean {
    return this.#exchange !== undefined;
  }

  /** Why it ended without an error. */
  get endReason(): string {
    return this.#stopping ? 'the node is stopping' : 'the node ended the answer';
  }

  /** Only the first one tries again by itself: an address that is wrong must not be tried for ever. */
  async open({ retries }: { retries: boolean }): Promise<void> {
    const askedMs = this.#deps.clock.now();
    const { path, position } = this.#target;
    const request: ClientRequest = { path, signal: this.#signal, ...position.request(askedMs) };
    const exchange = await (retries ? sendRequest(request, this.#deps) : Exchange.open(request, this.#deps));
    try {
      checkEventStream(exchange);
    } catch (error) {
      exchange.close();
      throw error;
    }
    this.#exchange = exchange;
    this.#stopping = false;
    position.started(askedMs);
  }

  /** Ends when the node says so or breaks off; a node's own end is not passed on, because it goes on elsewhere. */
  async *items(): AsyncGenerator<T[], void, undefined> {
    if (!this.#exchange) return;
    for await (const { items, ids, heartbeat, retryMs } of readEvents<T>(this.#exchange)) {
      this.retryMs = Math.min(retryMs ?? this.retryMs, MAX_REQUESTED_WAIT_MS);
      const end = items.findIndex(({ type }) => type === 'end');
      const came = end < 0 ? items : items.slice(0, end);
      const fresh = this.#target.position.track(came, { heartbeat, ids });
      if (came.length > 0 || heartbeat) yield fresh;
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

/** What ends a follow that once worked: whoever reads may not any more. All else may pass, however long it takes. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'HOST_NOT_ALLOWED']);

/** Of an address that never gave anything of use. */
const NO_NODE: ReadonlySet<ErrorCode> = new Set([...FINAL, 'NOT_SUPPORTED', 'BAD_ANSWER']);

function isFinal(error: unknown, hasWorked: boolean): boolean {
  return !(error instanceof ClientError) || (hasWorked ? FINAL : NO_NODE).has(error.code);
}

function isPositionLost(error: unknown): boolean {
  return error instanceof ClientError && (error.code === 'CURSOR_GONE' || error.code === 'CURSOR_INVALID');
}
