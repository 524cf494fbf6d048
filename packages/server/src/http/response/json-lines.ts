import { exactJson } from '@porthole/contract';

/** Batches of items as NDJSON; an empty batch is an empty piece. */
export async function* jsonLines(batches: AsyncIterable<readonly object[]>): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) {
    let lines = '';
    for (const item of batch) lines += `${exactJson(item)}\n`;
    yield Buffer.from(lines);
  }
}
