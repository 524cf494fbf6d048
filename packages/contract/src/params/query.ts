import { PortholeError } from '../errors/errors.ts';

/** Loose input of a request: the part of `URLSearchParams` that parsers need. */
export interface Query {
  getAll(name: string): string[];
}

/** The one value of a parameter. Given twice it is refused: proxies and nodes disagree on which one counts. */
export function singleValue(query: Query, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1)
    throw new PortholeError('BAD_REQUEST', `the parameter "${name}" is given ${values.length} times`);
  return values[0];
}

/** The one value of a parameter; an empty one counts as absent. */
export function optionalValue(query: Query, name: string): string | undefined {
  return singleValue(query, name) || undefined;
}

export interface NumberRange {
  min?: number;
  max?: number;
  /** Said behind the range: where it comes from. */
  because?: string;
}

/** A whole number; digits only, so that `1e3` and `+5` are not guessed at. */
export function wholeNumber(
  query: Query,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER, because }: NumberRange = {},
): number | undefined {
  const text = optionalValue(query, name);
  if (text === undefined) return undefined;
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw parameterInvalid(name, text, `a whole number ${range}${because ? ` (${because})` : ''}`);
}

/** One of a few words. */
export function choice<const T extends string>(query: Query, name: string, words: readonly T[]): T | undefined {
  const text = optionalValue(query, name);
  const word = words.find((known) => known === text);
  if (text !== undefined && word === undefined) throw parameterInvalid(name, text, words.join(' or '));
  return word;
}

export function trueOrFalse(query: Query, name: string): boolean | undefined {
  const word = choice(query, name, ['true', 'false']);
  return word === undefined ? undefined : word === 'true';
}

/** Names the parameter, what was given and what is allowed. */
export function parameterInvalid(name: string, text: string, allowed: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', `"${name}" is ${quoteInput(text)}; it must be ${allowed}`);
}

/** The longest part of a refused value that is told back. */
const SHOWN_CHARACTERS = 60;

/** A refused value as errors quote it. */
export function quoteInput(text: string): string {
  return text.length > SHOWN_CHARACTERS
    ? `${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))}...`
    : JSON.stringify(text);
}
