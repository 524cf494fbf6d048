export const NDJSON_TYPE = 'application/x-ndjson';

/** One JSON text per line, the batch as one piece of memory. */
export function encodeLines(items: readonly object[]): Buffer {
  let text = '';
  for (const item of items) text += `${JSON.stringify(item)}\n`;
  return Buffer.from(text);
}
