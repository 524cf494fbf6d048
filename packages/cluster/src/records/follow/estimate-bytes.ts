/** Of a value beside its text: its place in an object, and the object. */
const VALUE_BYTES = 16;

/** About how much memory a value parsed from JSON takes; nodes send nothing that is nested deeply. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  for (const key in value) bytes += key.length + estimateBytes((value as Readonly<Record<string, unknown>>)[key]);
  return bytes;
}
