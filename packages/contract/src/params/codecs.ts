import { LEVEL_NAMES, parseLogSource } from '@porthole/logs/query';
import type { Level, QueryNode } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { isLabelPattern, LABEL_NAME } from '../labels.ts';
import { type Floors, MEMBER_ID, MEMBER_ROLE } from '../member.ts';
import { formatQuery } from '../query/format-query.ts';
import { parseQuery } from '../query/parse-query.ts';
import { quoteInput } from '../quote.ts';
import { parseSpan, type RequestClock, readTime, timeText } from '../time/time-text.ts';

/** What a value may look like, for OpenAPI, the docs and the flags of the CLI. */
interface ParameterSchema {
  type: 'string' | 'integer' | 'boolean';
  /** The only values, where there are few. */
  values?: readonly string[];
  minimum?: number;
  maximum?: number;
  /** A regular expression that the text must match. */
  pattern?: string;
  /** May be given several times. */
  repeated?: true;
}

/** What some values need to be parsed. */
export interface ParseContext {
  /** For times. */
  clock?: RequestClock;
  /** The setting `search.max-records`. */
  maxRecords?: number;
}

/** What a value is in a request of a program; `time`: epoch milliseconds, `floors`: times by member id. */
export type ValueKind = 'text' | 'texts' | 'number' | 'time' | 'flag' | 'query' | 'floors';

/** How one parameter is read and written. `encode` writes what `parse` reads back as the same value. */
export interface Codec<Value> {
  readonly schema: ParameterSchema;
  readonly kind: ValueKind;
  /** `undefined` where the parameter is absent. `label` names it in errors. */
  parse(texts: readonly string[], label: string, context: ParseContext): Value | undefined;
  /** No texts: the parameter is left out. */
  encode(value: Value): string[];
  /** The value of a protobuf field as parameter texts, where that is not simply its text. */
  fromProto?(value: unknown): string[];
}

const NODE_PATTERN = /^[A-Za-z0-9.:_*?-]{1,128}$/;

/** For more, use a pattern. */
const MAX_SELECTIONS = 64;

const encoder = new TextEncoder();

/** `invalid "level" "loud": expected trace, debug, info, warn, error or fatal` */
function invalidParameter(label: string, text: string, expected: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', `invalid ${label} ${quoteInput(text)}: expected ${expected}`);
}

const KINDS = { string: 'text', integer: 'number', boolean: 'flag' } as const;

/** The value of a parameter that may be given once; an empty one counts as absent. */
function one<Value>(
  schema: ParameterSchema,
  parse: (text: string, label: string, context: ParseContext) => Value | undefined,
  encode: (value: Value) => string | undefined = String,
): Codec<Value> {
  return {
    schema,
    kind: KINDS[schema.type],
    parse(texts, label, context) {
      const only = onlyText(texts, label);
      return only === undefined ? undefined : parse(only, label, context);
    },
    encode(value) {
      const text = encode(value);
      return text === undefined ? [] : [text];
    },
  };
}

/** Every value of a parameter that may be given several times; empty ones are ignored. */
function many(
  schema: ParameterSchema,
  { check, max = Number.POSITIVE_INFINITY }: { check: (text: string, label: string) => void; max?: number },
): Codec<readonly string[]> {
  return {
    schema: { ...schema, repeated: true },
    kind: 'texts',
    parse(texts, label) {
      const values = texts.filter((text) => text !== '');
      if (values.length > max)
        throw new PortholeError(
          'PARAMETER_INVALID',
          `${label} is given ${values.length} times; at most ${max} are allowed: use a pattern`,
        );
      for (const text of values) check(text, label);
      return values.length > 0 ? values : undefined;
    },
    encode: (values) => [...values],
  };
}

export function text({ maxBytes = Number.POSITIVE_INFINITY }: { maxBytes?: number } = {}): Codec<string> {
  return one({ type: 'string' }, (value, label) => checkLength(value, label, maxBytes));
}

export function texts({ maxBytes }: { maxBytes: number }): Codec<readonly string[]> {
  return many({ type: 'string' }, { check: (value, label) => checkLength(value, label, maxBytes) });
}

function checkLength(value: string, label: string, maxBytes: number): string {
  if (encoder.encode(value).length > maxBytes) throw invalidParameter(label, value, `at most ${maxBytes} bytes`);
  return value;
}

/**
 * A text that must not be empty when it is written: in a URL an empty name is the same as none, and none means all. The
 * error is the one the log directory gives for such a name.
 */
function nonEmpty(refuse: () => PortholeError): Codec<string> {
  return one(
    { type: 'string' },
    (value) => value,
    (value) => {
      if (value === '') throw refuse();
      return value;
    },
  );
}

function fileNameMissing(): PortholeError {
  return new PortholeError('FILE_NAME_MISSING', 'the file name is empty');
}

export const fileName = nonEmpty(fileNameMissing);

export const cursor = nonEmpty(
  () => new PortholeError('CURSOR_INVALID', 'invalid cursor: pass a cursor exactly as a response returned it'),
);

/** Epoch ms; the grammar is in docs/times.md. */
export const timestamp: Codec<number> = {
  ...one({ type: 'string' }, parseTimestamp, timeText),
  kind: 'time',
  // A number of milliseconds, however small, is written so that it is not taken for seconds.
  fromProto: (value) => [timeText(Number(value))],
};

function parseTimestamp(value: string, label: string, { clock }: ParseContext): number {
  if (clock === undefined) throw new TypeError(`no clock to read ${label} with`);
  const reading = readTime(value, clock);
  if ('timeMs' in reading) return reading.timeMs;
  throw new PortholeError('PARAMETER_INVALID', `invalid ${label} ${quoteInput(value)}: ${reading.problem}`);
}

interface DurationOptions {
  /** Like `1m`, in the error. */
  example: string;
  minMs?: number;
  maxMs?: number;
}

/** Milliseconds or a duration with units, as milliseconds. */
export function duration({ example, minMs = 1, maxMs = Number.POSITIVE_INFINITY }: DurationOptions): Codec<number> {
  const limit = maxMs === Number.POSITIVE_INFINITY ? '' : `, at most ${maxMs / 3_600_000}h`;
  const codec = one<number>({ type: 'string' }, (value, label) => {
    const spanMs = parseSpan(value);
    if (spanMs !== undefined && spanMs >= minMs && spanMs <= maxMs) return spanMs;
    const expected = `a duration like ${example} (units ms, s, m, h, d, w) or milliseconds${limit}`;
    throw invalidParameter(label, value, expected);
  });
  return { ...codec, kind: 'number' };
}

/** A computed duration: written as whole milliseconds. An infinite one is left out, so that the node's limit applies. */
export function computedDuration(options: DurationOptions): Codec<number> {
  const { minMs = 1 } = options;
  return {
    ...duration(options),
    encode: (spanMs) => (Number.isFinite(spanMs) ? [String(Math.max(minMs, Math.ceil(spanMs)))] : []),
  };
}

/** A whole number; digits only, so that `1e3` and `+5` are refused. */
export function wholeNumber({ minimum = 0, maximum }: { minimum?: number; maximum?: number } = {}): Codec<number> {
  const schema = { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) } as const;
  return one(schema, (value, label) => parseNumber(value, label, { minimum, maximum }));
}

/** At least 1, at most the setting `search.max-records`. */
export const recordLimit: Codec<number> = one({ type: 'integer', minimum: 1 }, (value, label, { maxRecords }) =>
  parseNumber(value, label, {
    minimum: 1,
    maximum: maxRecords,
    because: ' (the maximum is set by search.max-records)',
  }),
);

function parseNumber(
  value: string,
  label: string,
  range: { minimum: number; maximum: number | undefined; because?: string },
): number {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER, because = '' } = range;
  const number = /^[0-9]{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  const allowed = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw invalidParameter(label, value, `a whole number ${allowed}${because}`);
}

/** A positive number of bytes; one larger than every file means the whole file. */
export const viewSize: Codec<number> = one({ type: 'integer', minimum: 1 }, (value, label) => {
  const size = /^[0-9]+$/.test(value) ? Number(value) : 0;
  if (size > 0) return Math.min(size, Number.MAX_SAFE_INTEGER);
  const message = `invalid ${label} ${quoteInput(value)}: expected a positive whole number of bytes`;
  throw new PortholeError('SIZE_INVALID', message);
});

export function choice<const Word extends string>(words: readonly Word[]): Codec<Word> {
  return one({ type: 'string', values: words }, (value, label) => {
    const word = words.find((known) => known === value);
    if (word === undefined) throw invalidParameter(label, value, words.join(' or '));
    return word;
  });
}

/** Some of a few words. */
export function choices<const Word extends string>(words: readonly Word[]): Codec<readonly Word[]> {
  const check = (value: string, label: string) => {
    if (!(words as readonly string[]).includes(value)) throw invalidParameter(label, value, words.join(' or '));
  };
  return many({ type: 'string', values: words }, { check }) as Codec<readonly Word[]>;
}

/** `true`; `false` is the same as absent. */
export const flag: Codec<boolean> = one(
  { type: 'boolean' },
  (value, label) => {
    if (value !== 'true' && value !== 'false') throw invalidParameter(label, value, 'true or false');
    return value === 'true' || undefined;
  },
  (value) => (value ? 'true' : undefined),
);

const caseWords = choice(['sensitive', 'insensitive']);

/** Whether letter case counts. */
export const caseSensitivity: Codec<boolean> = {
  schema: caseWords.schema,
  kind: 'flag',
  parse: (values, label, context) => caseWords.parse(values, label, context) === 'sensitive' || undefined,
  encode: (value) => (value ? ['sensitive'] : []),
  fromProto: (value) => (value ? ['sensitive'] : []),
};

export const level: Codec<Level> = {
  ...one(
    { type: 'string', values: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] },
    (value, label) => {
      const name = value.toLowerCase();
      const known = Object.hasOwn(LEVEL_NAMES, name) ? LEVEL_NAMES[name] : undefined;
      if (known === undefined) throw invalidParameter(label, value, 'trace, debug, info, warn, error or fatal');
      return known;
    },
    (value) => value.toLowerCase(),
  ),
  fromProto: (value) => (value === 'LEVEL_UNSPECIFIED' ? [] : [String(value).replace('LEVEL_', '').toLowerCase()]),
};

function matching(schema: ParameterSchema, pattern: RegExp, expected: string): Codec<string> {
  return one(schema, (value, label) => {
    if (!pattern.test(value)) throw invalidParameter(label, value, expected);
    return value;
  });
}

export const memberId = matching(
  { type: 'string', pattern: MEMBER_ID.source },
  MEMBER_ID,
  'the id of a member: 1 to 128 letters, digits and ".:_-"',
);

export const memberRole = matching({ type: 'string' }, MEMBER_ROLE, '1 to 32 letters, digits, dashes and underscores');

const repeatedPatterns = many(
  { type: 'string' },
  {
    max: MAX_SELECTIONS,
    check(value, label) {
      if (!NODE_PATTERN.test(value))
        throw invalidParameter(label, value, 'the id of a member, or a pattern of ids with * and ?');
    },
  },
);

/** Repeated, or separated by commas. */
export const nodePatterns: Codec<readonly string[]> = {
  ...repeatedPatterns,
  parse: (texts, label, context) =>
    repeatedPatterns.parse(
      texts.flatMap((text) => text.split(',')),
      label,
      context,
    ),
};

export const labelPatterns = many(
  { type: 'string' },
  {
    max: MAX_SELECTIONS,
    check(value, label) {
      if (!isLabelPattern(value))
        throw invalidParameter(label, value, 'NAME=VALUE like zone=a; the value may have * and ?');
    },
  },
);

export const labelName = matching({ type: 'string' }, LABEL_NAME, 'the name of a label, like zone');

const repeatedSources = many(
  { type: 'string' },
  {
    max: MAX_SELECTIONS,
    check: checkSource,
  },
);

function checkSource(value: string, label: string): void {
  const { node, kind, name } = parseLogSource(value);
  if (node !== '' && !NODE_PATTERN.test(node))
    throw invalidParameter(
      label,
      value,
      'FAMILY, =FILE, NODE/FAMILY or NODE/=FILE, and /FAMILY for a name with a slash',
    );
  if (name === '') throw kind === 'file' ? fileNameMissing() : familyNameMissing();
}

function familyNameMissing(): PortholeError {
  return new PortholeError('LOG_FAMILY_NOT_FOUND', 'no log family named ""');
}

/** Logs, perhaps with their nodes; `parseLogSource` has the grammar. In a URL an empty one is none, and none means all. */
export const sourceTexts: Codec<readonly string[]> = {
  ...repeatedSources,
  encode(values) {
    for (const value of values) checkSource(value, '"src"');
    return [...values];
  },
};

/** Loose input of a request: the part of `URLSearchParams` that parsers need. */
export interface Query {
  getAll(name: string): string[];
}

/** The one value of a parameter; an empty one counts as absent. */
export function optionalValue(query: Query, name: string): string | undefined {
  return onlyText(query.getAll(name), `"${name}"`);
}

/** The only one of the texts. Several are refused: proxies and nodes disagree on which one counts. */
function onlyText(texts: readonly string[], label: string): string | undefined {
  if (texts.length > 1) throw new PortholeError('BAD_REQUEST', `the parameter ${label} is given ${texts.length} times`);
  return texts[0] || undefined;
}

/** Enough for a table. */
const MAX_FIELDS = 64;

/** Names of fields: repeated, or separated by commas. */
export const fieldNames: Codec<readonly string[]> = {
  schema: { type: 'string', repeated: true },
  kind: 'texts',
  parse(values, label) {
    const names = [...new Set(values.flatMap((value) => value.split(',')).filter((name) => name !== ''))];
    if (names.length > MAX_FIELDS)
      throw new PortholeError(
        'PARAMETER_INVALID',
        `${label} has ${names.length} names; at most ${MAX_FIELDS} are allowed`,
      );
    return names.length > 0 ? names : undefined;
  },
  encode: (names) => (names.length > 0 ? [names.join(',')] : []),
};

/** Requests of clients may also have the text of a query. */
export const query: Codec<QueryNode> & { encode(value: QueryNode | string): string[] } = {
  schema: { type: 'string' },
  kind: 'query',
  parse(values, label) {
    const only = onlyText(values, label);
    return only === undefined ? undefined : parseQuery(only);
  },
  encode(value) {
    const written = typeof value === 'string' ? value : formatQuery(value);
    return written === '' ? [] : [written];
  },
};

/** Where records are read. */
export const recordStore = choice(['auto', 'nodes', 'archive']);

/** For more members than this, those with the same floor share `*`. */
const MAX_FLOORS = 1024;
const FLOOR = /^(?<id>\*|[A-Za-z0-9.:_-]{1,128})=(?<timeMs>-?\d{1,16})$/;

const floorTexts = many(
  { type: 'string', pattern: FLOOR.source },
  {
    max: MAX_FLOORS,
    check(value, label) {
      if (!FLOOR.test(value)) throw invalidParameter(label, value, 'ID=MS or *=MS, in epoch milliseconds');
    },
  },
);

/** Epoch ms by member id. */
export const floors: Codec<Floors> = {
  schema: floorTexts.schema,
  kind: 'floors',
  parse: (texts, label, context) => {
    const given = floorTexts.parse(texts, label, context);
    const entries = given?.map((value) => {
      const { id = '', timeMs = '' } = FLOOR.exec(value)?.groups ?? {};
      return [id, Number(timeMs)] as const;
    });
    return entries && Object.fromEntries(entries);
  },
  encode: (value) => Object.entries(value).map(([id, timeMs]) => `${id}=${Math.ceil(timeMs)}`),
};
