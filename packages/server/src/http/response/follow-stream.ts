import { type EventEncoder, HEARTBEAT_FRAME, RETRY_FRAME } from './event-encoder.ts';
import type { StreamBody } from './route-response.ts';

interface FollowEvent {
  type: string;
}

/** What a stopping node says last. */
interface StoppingEnd {
  type: 'end';
  reason: 'stopping';
}

export interface FollowStreamOptions<T extends FollowEvent> {
  encoder: EventEncoder<T | StoppingEnd>;
  /** A comment is sent after so long without news. */
  heartbeatMs: number;
  /** Fires when the client has gone. */
  signal: AbortSignal;
  /** Fires when the node stops: followers are told and their answers end. */
  stopping: AbortSignal;
}

/**
 * Batches of items as server-sent events, until the client leaves, the node stops or the items end. The first batch is
 * taken before it is answered, so that a question that is refused still gets its status.
 */
export async function openFollowStream<T extends FollowEvent>(
  follow: (signal: AbortSignal) => AsyncIterable<T[]>,
  options: FollowStreamOptions<T>,
): Promise<StreamBody> {
  // Of its own: when the node stops, or only the head was asked for, the source must end although the client has not left.
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
  return { sizeBytes: undefined, chunks: frames(iterator, first, { ...options, signal: ending.signal }), close };
}

async function* frames<T extends FollowEvent>(
  iterator: AsyncIterator<T[]>,
  first: IteratorResult<T[]>,
  { encoder, heartbeatMs, signal, stopping }: FollowStreamOptions<T>,
): AsyncGenerator<Buffer> {
  const waiter = new BatchWaiter<T[]>(heartbeatMs, [signal, stopping]);
  try {
    yield RETRY_FRAME;
    for (let batch: IteratorResult<T[]> | undefined = first; !batch?.done; batch = await waiter.next()) {
      // Before anything is told: a reader may have lost the right to it.
      signal.throwIfAborted();
      if (batch && batch.value.length > 0) yield encoder.encode(batch.value);
      else if (waiter.isSilent) yield HEARTBEAT_FRAME;
      if (stopping.aborted) {
        yield encoder.encode([{ type: 'end', reason: 'stopping' }]);
        return;
      }
      waiter.restartTimer();
      // Asked for only now: a reader that does not read holds the source.
      if (batch) waiter.expect(iterator.next());
    }
  } finally {
    waiter.close();
  }
}

/** Waits for a batch, a silence or a signal, whichever comes first, without giving up the batch that is on its way. */
class BatchWaiter<B> {
  readonly #timer: NodeJS.Timeout;
  readonly #signals: readonly AbortSignal[];
  #batch: Promise<IteratorResult<B>> | undefined;
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

  /** Whether the time is over in which nothing was heard. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Something was sent: the silence begins anew. */
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

  /** The batch; or `undefined` when it is not there yet but there is a reason to look up. */
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
