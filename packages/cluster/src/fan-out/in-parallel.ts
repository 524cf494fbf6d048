/** Runs an async function over all items with bounded concurrency. Results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  maxParallel: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // All workers share one iterator.
  const waiting = items.entries();
  const workOn = async () => {
    for (const [index, item] of waiting) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, items.length) }, workOn));
  return results;
}
