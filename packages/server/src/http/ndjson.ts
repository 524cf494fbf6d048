export const NDJSON_TYPE = 'application/x-ndjson';

/** Lines that are JSON already, the batch as one piece of memory. */
export function encodeLines(lines: readonly string[]): Buffer {
  return lines.length === 0 ? Buffer.alloc(0) : Buffer.from(`${lines.join('\n')}\n`);
}
