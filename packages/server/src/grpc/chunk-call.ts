import type { Http2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { ServerInterceptingCall } from '@grpc/grpc-js';

/** Field 2 of type bytes: `chunk` in all messages that have one. */
const CHUNK_TAG = 0x12;

/** The HTTP/2 stream of a call. It is private in the library; its version is pinned, and tests notice a change. */
export function getHttp2Stream(call: object): Http2Stream & Duplex {
  return (call as { stream: Http2Stream & Duplex }).stream;
}

/**
 * Sends chunks of files without copying them: the library would copy each twice, into new memory, which costs more than
 * reading the file. All other messages are sent by the library.
 */
export class ChunkCall extends ServerInterceptingCall {
  readonly #stream: Duplex;
  #chunkBytes = 0;
  #records = 0;

  constructor(...[call, responder]: ConstructorParameters<typeof ServerInterceptingCall>) {
    super(call, responder);
    this.#stream = getHttp2Stream(call);
  }

  /** Bytes of files and records sent so far. */
  get sent(): { bytes: number | undefined; records: number | undefined } {
    return { bytes: this.#chunkBytes || undefined, records: this.#records || undefined };
  }

  /** Calls back when the bytes of the chunk are flushed, and not at all when the stream is lost: the call ends then. */
  override sendMessage(
    message: { chunk?: Uint8Array; items?: readonly { record?: object }[] },
    callback: () => void,
  ): void {
    const { chunk, items = [] } = message;
    for (const { record } of items) if (record) this.#records++;
    if (!chunk?.length) super.sendMessage(message, callback);
    else if (!this.#stream.destroyed) this.#sendChunk(chunk, callback);
  }

  #sendChunk(chunk: Uint8Array, callback: () => void): void {
    this.#chunkBytes += chunk.length;
    this.#stream.cork();
    this.#stream.write(messageHead(chunk.length));
    this.#stream.write(chunk, (error) => {
      if (!error) callback();
    });
    this.#stream.uncork();
  }
}

/** Everything before the bytes of the chunk: the compression flag, the message length and the field tag. */
export function messageHead(chunkBytes: number): Buffer {
  const tag = [CHUNK_TAG];
  let rest = chunkBytes;
  for (; rest > 0x7f; rest >>>= 7) tag.push((rest & 0x7f) | 0x80);
  tag.push(rest);
  const head = Buffer.from([0, 0, 0, 0, 0, ...tag]);
  head.writeUInt32BE(tag.length + chunkBytes, 1);
  return head;
}
