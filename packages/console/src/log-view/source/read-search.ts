import { PortholeError } from '@porthole/client';

/** All of an answer: its records in the order told, and its end. Read to its last byte: so its connection can be used again. */
export async function readSearch<Item extends { type: 'record' | 'end' }>(
  batches: AsyncIterable<Item[]>,
): Promise<{ records: Extract<Item, { type: 'record' }>[]; end: Extract<Item, { type: 'end' }> }> {
  const records: Extract<Item, { type: 'record' }>[] = [];
  let end: Extract<Item, { type: 'end' }> | undefined;
  for await (const items of batches)
    for (const item of items) {
      if (isEnd(item)) end = item;
      else records.push(item as Extract<Item, { type: 'record' }>);
    }
  if (end) return { records, end };
  throw new PortholeError('BAD_ANSWER', 'the answer has no end');
}

function isEnd<Item extends { type: string }>(item: Item): item is Extract<Item, { type: 'end' }> {
  return item.type === 'end';
}
