import { editDistance } from '@porthole/logs';

/** What `typeof` says of a valid value; `any` if it is checked where it is used. */
type OptionType = 'string' | 'number' | 'boolean' | 'object' | 'function';

/** One of several types; or an object with these methods. */
type OptionKind = OptionType | 'any' | readonly OptionType[] | { methods: readonly string[] };

/** A kind for each option: it does not compile with one missing. */
export type OptionKinds<Options> = Readonly<Record<keyof Required<Options>, OptionKind>>;

interface OptionRules {
  /** Others may add options of their own, so only names that look like a misspelt one are refused. */
  mayHaveOthers?: boolean;
}

/**
 * Throws for an option that does not exist, or whose value is of another type: a program may be JavaScript, and a misspelt
 * `authenticate` would be a node that is open to all. `undefined` counts as absent.
 */
export function checkOptions<Options>(
  label: string,
  options: Options,
  kinds: OptionKinds<Options>,
  { mayHaveOthers = false }: OptionRules = {},
): void {
  if (typeOf(options) !== 'object') throw invalid(`${label} takes its options as an object, not ${typeOf(options)}`);
  const known = Object.keys(kinds);
  for (const [name, value] of Object.entries(options as object)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof Options] : undefined;
    if (kind === undefined) {
      const meant = closestMatch(name, known);
      if (meant === undefined && mayHaveOthers) continue;
      const hint = meant === undefined ? `expected ${known.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
      throw invalid(`${label} has no option ${JSON.stringify(name)}: ${hint}`);
    }
    if (value === undefined || kind === 'any') continue;
    const { types, methods } = describeKind(kind);
    if (!types.includes(typeOf(value)))
      throw invalid(`option ${name} of ${label}: expected ${types.join(' or ')}, found ${typeOf(value)}`);
    const missing = methods.filter((method) => typeof Reflect.get(value as object, method) !== 'function');
    if (missing.length > 0)
      throw invalid(`option ${name} of ${label}: it has no ${missing.map((method) => `${method}()`).join(', ')}`);
  }
}

function describeKind(kind: OptionKind): { types: readonly string[]; methods: readonly string[] } {
  if (typeof kind === 'string') return { types: [kind], methods: [] };
  return 'methods' in kind ? { types: ['object'], methods: kind.methods } : { types: kind, methods: [] };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function invalid(message: string): TypeError {
  return Object.assign(new TypeError(message), { code: 'OPTION_INVALID' });
}

/** More edits would make the suggestion a guess. */
const MAX_EDITS = 3;

/**
 * The candidate a misspelt word most likely means, or `undefined` when none is near. Letter case does not count; an
 * exchange of two neighbours (`prot`) is one edit; at most a third of the letters may differ. The first of equals wins.
 */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestEdits = MAX_EDITS + 1;
  for (const candidate of candidates) {
    const allowed = Math.min(bestEdits - 1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    const edits = editDistance(wanted, candidate.toLowerCase(), allowed);
    if (edits > allowed) continue;
    best = candidate;
    bestEdits = edits;
  }
  return best;
}
