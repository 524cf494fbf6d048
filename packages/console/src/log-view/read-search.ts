import { PortholeError } from '@porthole/client';

/** All of an answer: its records in the order told, and its end. */
export async function readSearch<Item extends { type: 'record' | 'end' }>(
  batches: AsyncIterable<Item[]>,
): Promise<{ records: Extract<Item, { type: 'record' }>[]; end: Extract<Item, { type: 'end' }> }> {
  const records: Extract<Item, { type: 'record' }>[] = [];
  for await (const items of batches)
    for (const item of items) {
      if (isEnd(item)) return { records, end: item };
      records.push(item as Extract<Item, { type: 'record' }>);
    }
  throw new PortholeError('BAD_ANSWER', 'the answer has no end');
}

function isEnd<Item extends { type: string }>(item: Item): item is Extract<Item, { type: 'end' }> {
  return item.type === 'end';
}
