/** More values are ignored: the list comes from outside, and nobody is in that many groups. */
const MAX_VALUES = 1000;

/** The strings at a dotted path of a JWT's claims. */
export function claimValues(claims: Readonly<Record<string, unknown>>, path: string): string[] {
  // The name of a claim may contain dots: `https://example.org/groups`.
  const found = Object.hasOwn(claims, path) ? claims[path] : path.split('.').reduce(step, claims);
  const values: unknown[] = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return values.filter((value) => typeof value === 'string');
}

function step(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined;
  return (holder as Record<string, unknown>)[name];
}
