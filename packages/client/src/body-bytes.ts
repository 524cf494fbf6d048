import type { ByteAnswer } from '@porthole/logs/types';
import type { Exchange } from './exchange.ts';

/** The body of an answer as it is. One that is shorter than announced fails: it must not look whole. */
export function bodyBytes(exchange: Exchange): ByteAnswer {
  const sizeBytes = announcedBytes(exchange);
  return { sizeBytes, chunks: readBody(exchange, sizeBytes), close: async () => exchange.close() };
}

/** `undefined` where it is not told, or told of what was sent compressed. */
export function announcedBytes(exchange: Exchange): number | undefined {
  const text = exchange.header('content-length') ?? '';
  const encoding = exchange.header('content-encoding') ?? 'identity';
  return /^\d+$/.test(text) && encoding === 'identity' ? Number(text) : undefined;
}

async function* readBody(
  exchange: Exchange,
  sizeBytes: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  try {
    for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
      received += chunk.length;
      if (chunk.length > 0) yield chunk;
    }
    if (sizeBytes !== undefined && received < sizeBytes)
      throw exchange.cut(`the answer ended after ${received} of ${sizeBytes} bytes`);
  } finally {
    exchange.close();
  }
}
