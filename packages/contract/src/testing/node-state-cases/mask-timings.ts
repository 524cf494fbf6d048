/**
 * Fields with the time or the duration of a response: they differ between any two responses. All others are compared.
 */
const TIMING_FIELDS: ReadonlySet<string> = new Set([
  'elapsedMs', // of every closing record: the duration of the search
  'clockMs', // of a description: the time of the response
  'uptimeMs', // of a description: the same, counted from the start of the node
]);

/** The same value with the value of every such field replaced by its type. */
export function maskTimings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskTimings);
  // Anything but a plain object is left as it is, so that it shows in the comparison.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    TIMING_FIELDS.has(key) && Number.isInteger(inner) && inner >= 0 ? 'a moment' : maskTimings(inner),
  ]);
  return Object.fromEntries(entries);
}
