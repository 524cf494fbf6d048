import type { ClientDuplexStream } from '@grpc/grpc-js';

/** The answers of a stream, until it ends, fails, or the signal says so. The stream is over after it. */
export async function* readStream<Request, Answer>(
  stream: ClientDuplexStream<Request, Answer>,
  signal: AbortSignal,
): AsyncGenerator<Answer, void, undefined> {
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    yield* stream as AsyncIterable<Answer>;
  } catch (error) {
    signal.throwIfAborted(); // the reason is better than "cancelled"
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
