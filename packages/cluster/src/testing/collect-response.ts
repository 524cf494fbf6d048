import type { ClusterEnd, ClusterItem, ClusterRecord } from '@porthole/contract';
import { isBatch, type RecordBatch, recordsOf } from '@porthole/records';

/** Collects a whole response; fails if something follows its end. */
export async function collectResponse(
  response: AsyncIterable<RecordBatch | ClusterEnd | ClusterItem[]>,
): Promise<{ records: ClusterRecord[]; end: ClusterEnd; messages: string[] }> {
  const records: ClusterRecord[] = [];
  let end: ClusterEnd | undefined;
  for await (const given of response) {
    const items = Array.isArray(given) ? given : isBatch(given) ? recordsOf<ClusterRecord>(given) : [given];
    for (const item of items) {
      if (end) throw new Error('there are items after the end');
      if (item.type === 'record') records.push(item);
      else end = item;
    }
  }
  if (!end) throw new Error('the response has no end');
  return { records, end, messages: records.map(({ message }) => message) };
}
