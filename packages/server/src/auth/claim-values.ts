/** More groups than this are not looked at; no one is in so many, and the list comes from outside. */
const MAX_VALUES = 1000;

/** The texts at a dotted path of a JWT's claims: one, a list of them, or none. */
export function claimValues(claims: Readonly<Record<string, unknown>>, path: string): string[] {
  // A claim may itself have dots in its name: `https://example.org/groups`.
  const found = Object.hasOwn(claims, path) ? claims[path] : path.split('.').reduce(step, claims);
  const values: unknown[] = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return values.filter((value) => typeof value === 'string');
}

function step(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined;
  return (holder as Record<string, unknown>)[name];
}
