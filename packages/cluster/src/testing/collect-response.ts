import type { ClusterEnd, ClusterItem, ClusterRecord } from '@porthole/contract';

/** Collects a whole response; fails if something follows its end. */
export async function collectResponse(
  batches: AsyncIterable<ClusterItem[]>,
): Promise<{ records: ClusterRecord[]; end: ClusterEnd; messages: string[] }> {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const batch of batches) {
    for (const item of batch) {
      if (end) throw new Error('there are items after the end');
      if (item.type === 'record') records.push(item);
      else end = item;
    }
  }
  if (!end) throw new Error('the response has no end');
  return { records, end, messages: records.map(({ message }) => message) };
}
