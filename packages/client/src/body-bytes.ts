import { SizedBytes } from '@porthole/contract';
import type { ByteStream } from '@porthole/logs/types';
import type { Exchange } from './exchange.ts';

interface BodyBounds {
  /** The requested size; a longer body fails. */
  maxBytes?: number;
  /** The size that was requested exactly; a shorter body fails, too. */
  exactBytes?: number;
}

/** The raw body of a response. A body shorter than announced fails: it must not look complete. */
export function bodyBytes(exchange: Exchange, bounds: BodyBounds = {}): ByteStream {
  const { exactBytes, maxBytes = exactBytes ?? Infinity } = bounds;
  const announced = contentLength(exchange);
  if (announced !== undefined && announced > maxBytes) throw tooLong(exchange, maxBytes);
  const sizeBytes = exactBytes ?? announced;
  const chunks = readBody(exchange, maxBytes);
  const close = async () => exchange.close();
  if (sizeBytes === undefined) return { sizeBytes, chunks, close };
  const wrongSize = (given: number) =>
    given > sizeBytes
      ? tooLong(exchange, sizeBytes)
      : exchange.cut(`the response ended after ${given} of ${sizeBytes} bytes`);
  // What is announced as less need not be read.
  if (announced !== undefined && announced < sizeBytes) throw wrongSize(announced);
  return { sizeBytes, chunks: new SizedBytes(sizeBytes, chunks, wrongSize), close };
}

/** `undefined` if it is missing, or refers to compressed bytes. */
export function contentLength(exchange: Exchange): number | undefined {
  const text = exchange.header('content-length') ?? '';
  const encoding = exchange.header('content-encoding') ?? 'identity';
  return /^\d+$/.test(text) && encoding === 'identity' ? Number(text) : undefined;
}

async function* readBody(exchange: Exchange, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  try {
    for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
      received += chunk.length;
      if (received > maxBytes) throw tooLong(exchange, maxBytes);
      if (chunk.length > 0) yield chunk;
    }
  } finally {
    exchange.close();
  }
}

function tooLong(exchange: Exchange, maxBytes: number): Error {
  exchange.close();
  return exchange.badResponse(`${exchange.path} sent more than the requested ${maxBytes} bytes`);
}
