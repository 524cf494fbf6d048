/** Does it with all of them, at most so many at a time, and gives what came of each in their order. */
export async function inParallel<T, R>(
  items: readonly T[],
  maxParallel: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // One queue for all who work on it.
  const waiting = items.entries();
  const workOn = async () => {
    for (const [index, item] of waiting) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, items.length) }, workOn));
  return results;
}
