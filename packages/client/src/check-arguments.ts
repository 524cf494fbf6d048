import { type ParameterRow, PortholeError, REQUEST_ROWS, type RequestId, type ValueKind } from '@porthole/contract';

/*
 * Callers without TypeScript learn here what they did wrong. Only names and types are checked: whether a value is valid is
 * for the node to say.
 */

/** What a value may be, and how errors say it. */
interface Kind {
  expected: string;
  is(value: unknown): boolean;
}

const TEXT: Kind = { expected: 'a string', is: (value) => typeof value === 'string' };
const NUMBER: Kind = { expected: 'a number', is: (value) => typeof value === 'number' };
const TIME: Kind = { ...NUMBER, expected: 'a number of milliseconds since 1970, like Date.now()' };
const FLAG: Kind = { expected: 'true or false', is: (value) => typeof value === 'boolean' };
const OBJECT: Kind = { expected: 'an object', is: (value) => typeof value === 'object' && value !== null };
const FUNCTION: Kind = { expected: 'a function', is: (value) => typeof value === 'function' };
const TEXTS: Kind = {
  expected: 'an array of strings',
  is: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
};
const SIGNAL: Kind = {
  expected: 'an AbortSignal, like the "signal" of an AbortController',
  is: (value) => OBJECT.is(value) && 'aborted' in (value as object) && 'addEventListener' in (value as object),
};
/** Where a request begins, in all its forms: one that is misspelt would begin somewhere else. */
const START_NAMES = /^(back|cursor|node|offset|record|sinceMs|timeMs)$/;
const START: Kind = {
  expected: 'an object like { cursor } or { timeMs }',
  is: (value) =>
    OBJECT.is(value) && !(value instanceof Date) && Object.keys(value as object).every((key) => START_NAMES.test(key)),
};
const QUERY: Kind = {
  expected: 'a string like "shard=13 cost>500ms", or a parsed query',
  is: (value) => TEXT.is(value) || (OBJECT.is(value) && TEXT.is((value as { kind?: unknown }).kind)),
};
const FOLLOW_START: Kind = {
  expected: '"end" or an object like { back: 10 }, { timeMs } or { cursor }',
  is: (value) => value === 'end' || START.is(value),
};

export type ArgumentKinds = Readonly<Record<string, Kind>>;

/** By the kinds of the rows of the parameter table. */
const KINDS: Readonly<Record<ValueKind, Kind>> = {
  text: TEXT,
  texts: TEXTS,
  number: NUMBER,
  time: TIME,
  flag: FLAG,
  query: QUERY,
  floors: OBJECT,
};

/** Parameters that are no field of a request: they are in its `start` or `at`, or in the options. */
const INSIDE_OTHERS: ReadonlySet<string> = new Set([
  'back',
  'budgetMs',
  'cursor',
  'node',
  'offset',
  'positions',
  'record',
  'timeMs',
]);

/** The field that has the position, and how it looks. */
const STARTS: Partial<Record<RequestId | 'records', Readonly<Record<string, Kind>>>> = {
  search: { start: START },
  events: { start: START },
  records: { start: FOLLOW_START, follow: FLAG },
  follow: { start: FOLLOW_START },
  followEvents: { start: FOLLOW_START },
  around: { at: START },
};

/** What requests about several nodes take, whether they read records or not. */
const STORE: ArgumentKinds = { store: TEXT, floors: OBJECT };

/** A method that takes a request. `records` is a search or a follow. */
export type RequestMethod = RequestId | 'records';

/** The parameters of a method: those of its route. */
export function parametersOf(method: RequestMethod): ArgumentKinds {
  const rows: readonly ParameterRow[] =
    method === 'records' ? [...REQUEST_ROWS.search, ...REQUEST_ROWS.follow] : REQUEST_ROWS[method];
  const own = rows.filter(({ field }) => !INSIDE_OTHERS.has(field));
  const kinds = Object.fromEntries(own.map(({ field, codec }) => [field, KINDS[codec.kind]]));
  return { ...kinds, ...STARTS[method], ...('nodes' in kinds && STORE) };
}

/** The options of all methods: one that a method does not use does no harm, as when a whole request context is passed. */
const CALL_OPTIONS: ArgumentKinds = {
  signal: SIGNAL,
  format: TEXT,
  responseBudget: OBJECT,
  budgetMs: NUMBER,
  onlyRaw: FLAG,
  gaps: TEXT,
  heartbeatMs: NUMBER,
  texts: FLAG,
  positions: FLAG,
  onEvent: FUNCTION,
};

/** The options of a client whose own checks do not say more. */
export const CLIENT_OPTIONS: ArgumentKinds = {
  url: { expected: 'the address of a node', is: () => true },
  token: { expected: 'a string, or a function that returns one', is: (value) => TEXT.is(value) || FUNCTION.is(value) },
  headers: { expected: 'an object with strings', is: (value) => OBJECT.is(value) && !(value instanceof Headers) },
  fetch: FUNCTION,
  timeoutMs: NUMBER,
  stallMs: NUMBER,
  retries: NUMBER,
  backoffMs: NUMBER,
  maxBackoffMs: NUMBER,
  maxItemBytes: NUMBER,
  responseBudget: OBJECT,
  remoteTexts: { expected: '"show" or "hide"', is: (value) => value === 'show' || value === 'hide' },
};

/** The names that the HTTP API and the command line have for some parameters. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  fromMs: ['since'],
  toMs: ['until'],
  minLevel: ['level'],
  terms: ['q', 'text', 'grep', 'term'],
  excluded: ['not'],
  caseSensitive: ['case'],
  sizeBytes: ['size'],
  by: ['field'],
  start: ['cursor', 'time', 'timeMs', 'offset', 'record', 'back'],
  at: ['time', 'timeMs', 'cursor', 'node'],
  nodes: ['node', 'members'],
  src: ['file', 'family', 'log'],
  url: ['baseUrl', 'baseURL', 'address', 'base'],
  signal: ['abortSignal', 'abort', 'controller'],
  onEvent: ['onEnd', 'onGap', 'onItem'],
};

/** Throws for parameters and options that the method does not have, or that have another type. */
export function checkArguments(method: RequestMethod, request: unknown, options: unknown): void {
  checkNames(`${method}()`, request, { kinds: parametersOf(method), what: 'parameter' });
  checkOptions(method, options);
}

export function checkOptions(method: string, options: unknown): void {
  checkNames(`${method}()`, options, { kinds: CALL_OPTIONS, what: 'option', mayHaveOthers: true });
}

interface NameRules {
  kinds: ArgumentKinds;
  what: 'parameter' | 'option';
  /** Names that are unknown and not similar to a known one are ignored. */
  mayHaveOthers?: boolean;
}

/** Throws for a name that is unknown, or a value of another type. `undefined` counts as absent. */
export function checkNames(
  label: string,
  given: unknown,
  { kinds, what, mayHaveOthers = false }: NameRules,
): asserts given is Readonly<Record<string, unknown>> {
  if (!OBJECT.is(given) || Array.isArray(given))
    throw invalid(`${label} takes its ${what}s as an object like { ${Object.keys(kinds)[0]} }, not ${describe(given)}`);
  for (const [name, value] of Object.entries(given as object)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const similar = findSimilar(name, Object.keys(kinds));
      if (similar === undefined && mayHaveOthers) continue;
      const hint = similar === undefined ? `expected ${Object.keys(kinds).join(', ')}` : `did you mean "${similar}"?`;
      throw invalid(`${label} has no ${what} "${name}": ${hint}`);
    }
    if (value !== undefined && !kind.is(value))
      throw invalid(`invalid ${what} "${name}" of ${label}: expected ${kind.expected}, not ${describe(value)}`);
  }
}

function findSimilar(name: string, known: readonly string[]): string | undefined {
  return (
    known.find((each) => each.toLowerCase() === name.toLowerCase() || OTHER_NAMES[each]?.includes(name) === true) ??
    known.find((each) => each === `${name}Ms` || (name.length > 4 && isTypo(name, each)))
  );
}

/** One character more, less or different, or two exchanged. */
function isTypo(a: string, b: string): boolean {
  let at = 0;
  while (a[at] && a[at] === b[at]) at++;
  const rest = a.slice(at + 1);
  const others = [b.slice(at), b.slice(at + 1), `${b[at]}${b.slice(at + 2)}`];
  return others.includes(rest) || a.slice(at) === others[1];
}

/** What was given, without its contents: it may be a secret. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return value.constructor === Object ? 'an object' : `a ${value.constructor?.name}`;
  return `a ${typeof value}`;
}

export function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
