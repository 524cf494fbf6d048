import { PortholeError } from '@porthole/client';

/** A whole response: its records in order, and its end. Read to the last byte, so that the connection can be reused. */
export async function readSearch<Item extends { type: 'record' | 'end' }>(
  batches: AsyncIterable<Item[]>,
): Promise<{ records: Extract<Item, { type: 'record' }>[]; end: Extract<Item, { type: 'end' }> }> {
  const records: Extract<Item, { type: 'record' }>[] = [];
  let end: Extract<Item, { type: 'end' }> | undefined;
  for await (const items of batches)
    for (const item of items) {
      if (item.type === 'end') end = item as Extract<Item, { type: 'end' }>;
      else records.push(item as Extract<Item, { type: 'record' }>);
    }
  if (end) return { records, end };
  throw new PortholeError('BAD_ANSWER', 'the response ended early: its closing record is missing');
}
