import type { Level, LogSelection, RecordFilter } from '@porthole/logs/types';
import { PortholeError } from '../errors/errors.ts';
import { choice, optionalValue, parameterInvalid, type Query } from '../params/query.ts';
import { type RequestClock, rangeProblem, timeParameter } from '../time/time-text.ts';

/** Enough for every question a person asks, and little enough that each byte of a log can be held against all of them. */
export const MAX_TERMS = 32;
export const MAX_TERM_BYTES = 1024;
export const MAX_REGEX_BYTES = 2048;

const LEVELS_BY_NAME: Readonly<Record<string, Level>> = {
  trace: 'TRACE',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARN',
  warning: 'WARN',
  error: 'ERROR',
  err: 'ERROR',
  fatal: 'FATAL',
};

const encoder = new TextEncoder();

/** Whether a name is a safe one, and whether there is such a file, is for the log directory to say. */
export function parseSelection(query: Query): LogSelection {
  const file = optionalValue(query, 'file');
  const family = optionalValue(query, 'family');
  if (file !== undefined && family !== undefined)
    throw new PortholeError('PARAMETER_INVALID', 'give "file" or "family", not both');
  return { ...(file !== undefined && { file }), ...(family !== undefined && { family }) };
}

/** The conditions every question about records takes. What is not asked for is absent. */
export function parseRecordFilter(query: Query, clock: RequestClock): RecordFilter {
  const fromMs = timeParameter(query, 'from', clock);
  const toMs = timeParameter(query, 'to', clock);
  const problem = rangeProblem({ name: '"from"', timeMs: fromMs }, { name: '"to"', timeMs: toMs });
  if (problem !== undefined) throw new PortholeError('PARAMETER_INVALID', problem);
  const minLevel = parseLevel(query);
  const terms = parseTerms(query, 'q');
  const excluded = parseTerms(query, 'not');
  const count = terms.length + excluded.length;
  if (count > MAX_TERMS)
    throw new PortholeError('PARAMETER_INVALID', `"q" and "not" are given ${count} times; at most ${MAX_TERMS} count`);
  const regex = limitedText(query, 'regex', MAX_REGEX_BYTES);
  const source = limitedText(query, 'source', MAX_TERM_BYTES);
  const component = limitedText(query, 'component', MAX_TERM_BYTES);
  return {
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...(minLevel !== undefined && { minLevel }),
    ...(terms.length > 0 && { terms }),
    ...(excluded.length > 0 && { excluded }),
    ...(choice(query, 'case', ['sensitive', 'insensitive']) === 'sensitive' && { caseSensitive: true }),
    ...(regex !== undefined && { regex }),
    ...(source !== undefined && { source }),
    ...(component !== undefined && { component }),
  };
}

function parseLevel(query: Query): Level | undefined {
  const text = optionalValue(query, 'level');
  if (text === undefined) return undefined;
  const word = text.toLowerCase();
  const level = Object.hasOwn(LEVELS_BY_NAME, word) ? LEVELS_BY_NAME[word] : undefined;
  if (level === undefined) throw parameterInvalid('level', text, 'trace, debug, info, warn, error or fatal');
  return level;
}

/** Every value of a parameter that may be given several times. */
function parseTerms(query: Query, name: string): string[] {
  const texts = query.getAll(name).filter((text) => text !== '');
  for (const text of texts) checkLength(name, text, MAX_TERM_BYTES);
  return texts;
}

function limitedText(query: Query, name: string, maxBytes: number): string | undefined {
  const text = optionalValue(query, name);
  if (text !== undefined) checkLength(name, text, maxBytes);
  return text;
}

function checkLength(name: string, text: string, maxBytes: number): void {
  if (encoder.encode(text).length > maxBytes) throw parameterInvalid(name, text, `at most ${maxBytes} bytes long`);
}
