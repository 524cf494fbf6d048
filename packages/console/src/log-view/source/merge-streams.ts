/**
 * The batches of several streams as they come, an empty one first, as soon as all have begun. Ends when all have, and
 * fails when one does; the signal they are made with fires then.
 */
export async function* mergeStreams<T>(
  open: (signal: AbortSignal) => readonly AsyncIterable<T[]>[],
  options: { signal: AbortSignal },
): AsyncGenerator<T[], void, undefined> {
  const leaving = new AbortController();
  const streams = open(AbortSignal.any([leaving.signal, options.signal])).map((stream) =>
    stream[Symbol.asyncIterator](),
  );
  const pull = async (index: number) => ({ index, result: await streams[index]?.next() });
  const pending = new Map(streams.map((_stream, index) => [index, pull(index)]));
  const held: T[] = [];
  const silent = new Set(pending.keys());
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      if (result === undefined || result.done) pending.delete(index);
      else pending.set(index, pull(index));
      const hasBegun = silent.size === 0;
      silent.delete(index);
      if (result && !result.done) held.push(...result.value);
      // What comes before all follow waits: whoever asked counts on nothing being missed from the first batch on.
      if (silent.size > 0) continue;
      if (held.length > 0 || !hasBegun) yield held.splice(0);
    }
  } finally {
    leaving.abort();
    for (const pulled of pending.values()) pulled.catch(() => {}); // nobody waits for it any more
    for (const stream of streams) stream.return?.().catch(() => {});
  }
}
