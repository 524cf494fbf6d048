import type { ServerWritableStream } from '@grpc/grpc-js';
import { ClientDisconnected, ReaderStalled } from '../transport/client-disconnected.ts';

/** Writes one message at a time; fails if the client does not read it in time. */
export class MessageWriter<Message> {
  readonly #call: ServerWritableStream<never, Message> | ServerWritableStream<unknown, Message>;
  readonly #stallTimeoutMs: number;
  #giveUp: (reason: Error) => void = () => {};

  constructor(call: ServerWritableStream<unknown, Message>, stallTimeoutMs: number) {
    this.#call = call;
    this.#stallTimeoutMs = stallTimeoutMs;
    call.once('cancelled', () => this.#giveUp(new ClientDisconnected()));
  }

  /** Resolves when the message is flushed: its buffer may then be reused. */
  write(message: Message): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#call.cancelled) return reject(new ClientDisconnected());
      const timer = setTimeout(() => reject(new ReaderStalled()), this.#stallTimeoutMs);
      this.#giveUp = (reason) => {
        clearTimeout(timer);
        reject(reason);
      };
      this.#call.write(message, (error: Error | null | undefined) => {
        clearTimeout(timer);
        if (error) reject(new ClientDisconnected());
        else resolve();
      });
    });
  }
}
