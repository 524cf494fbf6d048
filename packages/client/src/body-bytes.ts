import type { ByteStream } from '@porthole/logs/types';
import type { Exchange } from './exchange.ts';

export interface BodyBounds {
  /** The requested size; a longer body fails. */
  maxBytes?: number;
}

/** The raw body of a response. A body shorter than announced fails: it must not look complete. */
export function bodyBytes(exchange: Exchange, { maxBytes = Infinity }: BodyBounds = {}): ByteStream {
  const sizeBytes = contentLength(exchange);
  if (sizeBytes !== undefined && sizeBytes > maxBytes) throw tooLong(exchange, maxBytes);
  return { sizeBytes, chunks: readBody(exchange, { sizeBytes, maxBytes }), close: async () => exchange.close() };
}

/** `undefined` if it is missing, or refers to compressed bytes. */
export function contentLength(exchange: Exchange): number | undefined {
  const text = exchange.header('content-length') ?? '';
  const encoding = exchange.header('content-encoding') ?? 'identity';
  return /^\d+$/.test(text) && encoding === 'identity' ? Number(text) : undefined;
}

async function* readBody(
  exchange: Exchange,
  { sizeBytes, maxBytes }: { sizeBytes: number | undefined; maxBytes: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  try {
    for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
      received += chunk.length;
      if (received > maxBytes) throw tooLong(exchange, maxBytes);
      if (chunk.length > 0) yield chunk;
    }
    if (sizeBytes !== undefined && received < sizeBytes)
      throw exchange.cut(`the response ended after ${received} of ${sizeBytes} bytes`);
  } finally {
    exchange.close();
  }
}

function tooLong(exchange: Exchange, maxBytes: number): Error {
  exchange.close();
  return exchange.badResponse(`${exchange.path} sent more than the requested ${maxBytes} bytes`);
}
