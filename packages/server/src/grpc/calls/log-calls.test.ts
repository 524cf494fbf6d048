import { describe, expect, it } from 'vitest';
import { inMessageParts } from './calls.ts';

async function* chunks(...sizes: number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size);
}

describe('a file in messages', () => {
  it('is sent in parts that grow while the reader is quick', async () => {
    const sizes: number[] = [];
    const mib = 1024 * 1024;
    for await (const part of inMessageParts(chunks(mib, mib, mib, 10))) sizes.push(part.length / 1024);
    expect(sizes).toEqual([16, 32, 64, 128, 256, 512, 16, 1024, 1024, 10 / 1024]);
  });

  it('is all there, and nothing of nothing', async () => {
    let bytes = 0;
    for await (const part of inMessageParts(chunks(1, 0, 100_000, 5))) bytes += part.length;
    expect(bytes).toBe(100_006);
  });
});
