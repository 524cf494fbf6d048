/** Longer values are cut where they are shown. */
const SHOWN_CHARACTERS = 60;

/** Parameters that a page has, and what is wrong with a value; `null`: any value makes sense. */
export type ParameterChecks = Readonly<Record<string, ((value: string) => string | null) | null>>;

/** What of a query a page ignores, as sentences. */
export function queryProblems(query: URLSearchParams, checks: ParameterChecks): string[] {
  const problems = [...query].map(([name, value]) => {
    if (!Object.hasOwn(checks, name)) return `${shown(name)} is not a parameter of this page`;
    const why = checks[name]?.(value) ?? null;
    return why === null ? null : `${name}=${shown(value)} is ignored: ${why}`;
  });
  return [...new Set(problems.filter((problem) => problem !== null))];
}

function shown(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
