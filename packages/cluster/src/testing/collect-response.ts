import type { ClusterEnd, ClusterItem, ClusterRecord } from '@porthole/contract';

/** A whole answer; fails where something comes behind its end. */
export async function collectResponse(
  batches: AsyncIterable<ClusterItem[]>,
): Promise<{ records: ClusterRecord[]; end: ClusterEnd; messages: string[] }> {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const batch of batches) {
    for (const item of batch) {
      if (end) throw new Error('something comes behind the end');
      if (item.type === 'record') records.push(item);
      else end = item;
    }
  }
  if (!end) throw new Error('the answer has no end');
  return { records, end, messages: records.map(({ message }) => message) };
}
