import { describe, expect, it } from 'vitest';
import { mergeStreams } from './merged-source.ts';

async function* collect(batches: string[][], end?: Error): AsyncGenerator<string[], void, undefined> {
  for (const batch of batches) yield batch;
  if (end) throw end;
}

async function* open(signal: AbortSignal): AsyncGenerator<string[], void, undefined> {
  yield [];
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

const { signal } = new AbortController();

async function read(streams: AsyncIterable<string[]>): Promise<string[][]> {
  const all: string[][] = [];
  for await (const batch of streams) all.push(batch);
  return all;
}

describe('several streams as one', () => {
  it('emit nothing before all have begun, and lose nothing', async () => {
    const all = await read(
      mergeStreams(() => [collect([[], ['a1'], ['a2']]), collect([[], ['b1']]), collect([[]])], { signal }),
    );
    expect(all.flat().toSorted()).toEqual(['a1', 'a2', 'b1']);
    expect(all.flat().indexOf('a1')).toBeLessThan(all.flat().indexOf('a2'));
  });

  it('fail when one fails, and close the others', async () => {
    const signals: AbortSignal[] = [];
    const merged = mergeStreams(
      (leaving) => {
        signals.push(leaving);
        return [open(leaving), collect([[]], new Error('it broke'))];
      },
      { signal },
    );
    await expect(read(merged)).rejects.toThrow('it broke');
    expect(signals[0]?.aborted).toBe(true);
  });

  it('end with the signal', async () => {
    const leaving = new AbortController();
    const merged = mergeStreams((both) => [open(both), open(both)], { signal: leaving.signal });
    for await (const batch of merged) {
      expect(batch).toEqual([]);
      leaving.abort();
    }
  });
});
