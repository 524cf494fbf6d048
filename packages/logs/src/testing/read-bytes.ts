import type { LogDir } from '../log-dir.ts';
import type { ByteStream, ReadOptions } from '../types.ts';

/** Concatenates copies of the chunks: their memory is reused. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

export async function readBytes(stream: ByteStream): Promise<Buffer> {
  try {
    return await collect(stream.chunks);
  } finally {
    await stream.close();
  }
}

export async function readTail(logs: LogDir, name: string, size: number, options?: ReadOptions): Promise<Buffer> {
  return readBytes(await logs.tail(name, size, options));
}
