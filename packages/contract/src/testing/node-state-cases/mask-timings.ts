/**
 * Fields that tell when, or how fast, a question was answered: no two answers have them equal, whoever is asked.
 * Everything else is compared.
 */
const TIMING_FIELDS: ReadonlySet<string> = new Set([
  'elapsedMs', // of every receipt: how long this one search took
  'clockMs', // of a description: the time of the answer
  'uptimeMs', // of a description: the same, counted from the start of the node
]);

/** The same value with every moment replaced by what kind of value it is. */
export function maskTimings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskTimings);
  // Anything but a plain object is left as it is: that it is one must show in the comparison.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    TIMING_FIELDS.has(key) && Number.isInteger(inner) && inner >= 0 ? 'a moment' : maskTimings(inner),
  ]);
  return Object.fromEntries(entries);
}
