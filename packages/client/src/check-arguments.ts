import { PortholeError } from '@porthole/contract';

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

const MEMBERS: ArgumentKinds = { nodes: TEXTS, role: TEXT, labels: TEXTS, store: TEXT, floors: OBJECT };
const CONDITIONS: ArgumentKinds = {
  src: TEXTS,
  fromMs: TIME,
  toMs: TIME,
  minLevel: TEXT,
  terms: TEXTS,
  excluded: TEXTS,
  caseSensitive: FLAG,
  regex: TEXT,
  source: TEXT,
  component: TEXT,
  query: QUERY,
};
const SEARCH: ArgumentKinds = {
  ...CONDITIONS,
  order: TEXT,
  limit: NUMBER,
  before: NUMBER,
  after: NUMBER,
  start: START,
  until: TEXT,
  raw: FLAG,
  fields: TEXTS,
};
const FOLLOW: ArgumentKinds = { ...CONDITIONS, start: FOLLOW_START, raw: FLAG, fields: TEXTS };
const HISTOGRAM: ArgumentKinds = { ...CONDITIONS, bucketMs: NUMBER, buckets: NUMBER };
const DIGEST: ArgumentKinds = { ...CONDITIONS, limit: NUMBER, newSinceMs: TIME, onlyNew: FLAG };
const FIELDS: ArgumentKinds = { ...CONDITIONS, limit: NUMBER };
const TOP: ArgumentKinds = { by: TEXT, ...CONDITIONS, limit: NUMBER, values: TEXTS, bucketMs: NUMBER, buckets: NUMBER };
const INCIDENT: ArgumentKinds = { fromMs: TIME, toMs: TIME, query: QUERY };
const HISTORY: ArgumentKinds = { key: TEXT, atMs: TIME, limit: NUMBER };
const AROUND: ArgumentKinds = { at: START, beforeMs: NUMBER, afterMs: NUMBER, limit: NUMBER };

/** The parameters of each method. */
export const PARAMETERS = {
  viewLog: { file: TEXT, sizeBytes: NUMBER, text: FLAG },
  openLog: { file: TEXT, text: FLAG, sizeBytes: NUMBER },
  searchLogs: SEARCH,
  search: SEARCH,
  followLogs: FOLLOW,
  logHistogram: HISTOGRAM,
  logDigest: DIGEST,
  logFields: FIELDS,
  logTop: TOP,
  events: SEARCH,
  followEvents: FOLLOW,
  configHistory: HISTORY,
  incident: INCIDENT,
  records: { ...SEARCH, ...FOLLOW, follow: FLAG },
  bundle: { fromMs: TIME, toMs: TIME, ...MEMBERS },
  'cluster.config': MEMBERS,
  'cluster.configDiff': { ...MEMBERS, by: TEXT },
  'cluster.logFiles': { ...MEMBERS, src: TEXTS },
  'cluster.searchLogs': { ...SEARCH, ...MEMBERS },
  'cluster.followLogs': { ...FOLLOW, ...MEMBERS },
  'cluster.logHistogram': { ...HISTOGRAM, ...MEMBERS },
  'cluster.logDigest': { ...DIGEST, ...MEMBERS },
  'cluster.logFields': { ...FIELDS, ...MEMBERS },
  'cluster.logTop': { ...TOP, ...MEMBERS },
  'cluster.records': { ...SEARCH, ...FOLLOW, follow: FLAG, ...MEMBERS },
  'cluster.events': { ...SEARCH, ...MEMBERS },
  'cluster.followEvents': { ...FOLLOW, ...MEMBERS },
  'cluster.configHistory': { ...HISTORY, ...MEMBERS },
  'cluster.incident': { ...INCIDENT, ...MEMBERS },
  'cluster.around': { ...AROUND, ...MEMBERS, src: TEXTS },
} satisfies Readonly<Record<string, ArgumentKinds>>;

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
export function checkArguments(method: keyof typeof PARAMETERS, request: unknown, options: unknown): void {
  checkNames(`${method}()`, request, { kinds: PARAMETERS[method], what: 'parameter' });
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
