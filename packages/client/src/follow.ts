import type { CallOptions, ErrorCode } from '@porthole/contract';
import type { FollowItem } from '@porthole/logs/types';
import { askStream } from './ask.ts';
import { ClientError } from './client-error.ts';
import { checkEventStream, readEvents } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import type { AskParts, Question } from './question.ts';
import { askedWait, backoff } from './retry.ts';

/** A node that asks for a longer wait than this is not believed. */
const MAX_ASKED_WAIT_MS = 60_000;

/** Of nodes that are older than parameters in a body. */
const METHOD_NOT_ALLOWED = 405;

/** What a follow tells of itself. */
type OwnItem = Extract<FollowItem, { type: 'end' | 'reconnecting' }>;

const CANCELLED: OwnItem = { type: 'end', reason: 'cancelled' };

/** Where a follow has come to. */
export interface Place<T> {
  /** What to ask to begin, or to go on. */
  question(nowMs: number): Pick<Question, 'query' | 'headers'>;
  /** A connection stands; it was asked for at this time. */
  began(atMs: number): void;
  /** What came; a heartbeat is sent when there is nothing to tell. Returns what has not been told before. */
  note(items: T[], told: { heartbeat: boolean; ids: readonly (string | undefined)[] }): T[];
  /** The node takes no long requests. */
  shorten(): void;
  /** The node does not know the position any more: continues without it. Returns what is to be said of that. */
  forget(): T[];
}

export interface Followed<T> {
  path: string;
  place: Place<T>;
}

/** Follows until the signal fires, over as many connections as it takes. */
export async function* follow<T extends { type: string }>(
  followed: Followed<T>,
  parts: AskParts,
  { signal }: CallOptions,
): AsyncGenerator<(T | OwnItem)[], void, undefined> {
  const connection = new Connection(followed, parts, signal);
  try {
    await connection.open({ retries: true });
    yield [];
    yield* followOn(connection, parts, signal);
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    connection.close();
  }
  yield [CANCELLED];
}

async function* followOn<T extends { type: string }>(
  connection: Connection<T>,
  parts: AskParts,
  signal: AbortSignal | undefined,
): AsyncGenerator<(T | OwnItem)[], void, undefined> {
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
      lost = connection.ending;
    } catch (error) {
      if (signal?.aborted || isFinal(error, hasWorked)) throw error;
      lost = error;
    }
    connection.close();
    if (lost instanceof ClientError && lost.status === METHOD_NOT_ALLOWED) connection.shortenPosition();
    if (isPositionLost(lost)) yield connection.forgetPosition();
    const reason = lost instanceof Error ? lost.message : String(lost);
    const leastMs = Math.max(connection.retryMs, askedWait(lost, parts.options) ?? 0);
    const waitMs = Math.max(leastMs, backoff(failures, parts));
    yield [{ type: 'reconnecting', reason, waitMs }];
    await parts.clock.wait(waitMs, signal);
  }
}

/** The connection a follow has at the moment. */
class Connection<T extends { type: string }> {
  readonly #followed: Followed<T>;
  readonly #parts: AskParts;
  readonly #signal: AbortSignal | undefined;
  #exchange: Exchange | undefined;
  #stopping = false;
  /** What the node asks to wait at least before it is asked again. */
  retryMs = 0;

  constructor(followed: Followed<T>, parts: AskParts, signal: AbortSignal | undefined) {
    this.#followed = followed;
    this.#parts = parts;
    this.#signal = signal;
  }

  get isOpen(): boolean {
    return this.#exchange !== undefined;
  }

  /** Why it ended without an error. */
  get ending(): string {
    return this.#stopping ? 'the node is stopping' : 'the node ended the answer';
  }

  /** Only the first one tries again by itself: an address that is wrong must not be tried for ever. */
  async open({ retries }: { retries: boolean }): Promise<void> {
    const askedMs = this.#parts.clock.now();
    const { path, place } = this.#followed;
    const question: Question = { path, signal: this.#signal, ...place.question(askedMs) };
    const exchange = await (retries ? askStream(question, this.#parts) : Exchange.open(question, this.#parts));
    try {
      checkEventStream(exchange);
    } catch (error) {
      exchange.close();
      throw error;
    }
    this.#exchange = exchange;
    this.#stopping = false;
    place.began(askedMs);
  }

  /** Ends when the node says so or breaks off; a node's own end is not passed on, because it goes on elsewhere. */
  async *items(): AsyncGenerator<T[], void, undefined> {
    if (!this.#exchange) return;
    for await (const { items, ids, heartbeat, retryMs } of readEvents<T>(this.#exchange)) {
      this.retryMs = Math.min(retryMs ?? this.retryMs, MAX_ASKED_WAIT_MS);
      const end = items.findIndex(({ type }) => type === 'end');
      const came = end < 0 ? items : items.slice(0, end);
      const told = this.#followed.place.note(came, { heartbeat, ids });
      if (came.length > 0 || heartbeat) yield told;
      this.#stopping = end >= 0;
      if (end >= 0) return;
    }
  }

  shortenPosition(): void {
    this.#followed.place.shorten();
  }

  forgetPosition(): T[] {
    return this.#followed.place.forget();
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
