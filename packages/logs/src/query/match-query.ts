import type { FieldNode, FieldRegexNode, Level, QueryNode, RecordFields, TextNode } from '../types.ts';
import { quantityEquals, quantityOrder } from './quantity.ts';
import { type FieldRef, refValues, resolveField } from './record-fields.ts';

/** A compiled regex. */
export interface RegexTest {
  test(text: string): boolean;
}

/** Compiles RE2 syntax, `^` and `$` matching at lines. Injected: what does it is not part of this module. */
export type CompileRegex = (pattern: string, options: { caseSensitive: boolean }) => RegexTest;

/** Whether a record matches; `text` returns its whole text, and is only called if it is needed. */
export type QueryTest = (record: RecordFields, text: () => string) => boolean;

/** Compiles a query for decoded records. */
export function compileQuery(node: QueryNode, compileRegex: CompileRegex): QueryTest {
  switch (node.kind) {
    case 'text':
      return textTest(node);
    case 'regex': {
      const regex = compileRegex(node.pattern, { caseSensitive: node.caseSensitive ?? false });
      return (_record, text) => regex.test(text());
    }
    case 'field':
      return fieldTest(node);
    case 'fieldRegex':
      return fieldRegexTest(node, compileRegex);
    case 'exists': {
      const ref = resolveField(node.field);
      return (record) => refValues(record, ref).length > 0;
    }
    case 'not': {
      const holds = compileQuery(node.node, compileRegex);
      return (record, text) => !holds(record, text);
    }
    case 'and': {
      const tests = node.nodes.map((each) => compileQuery(each, compileRegex));
      return (record, text) => tests.every((holds) => holds(record, text));
    }
    case 'or': {
      const tests = node.nodes.map((each) => compileQuery(each, compileRegex));
      return (record, text) => tests.some((holds) => holds(record, text));
    }
  }
}

/** Whether a decoded record has the field with such a value. */
export function fieldTest(node: FieldNode): (record: RecordFields) => boolean {
  const ref = resolveField(node.field);
  const holds = valueTest(node, ref);
  if (node.operator !== '!=') return (record) => refValues(record, ref).some(holds);
  return (record) => {
    const values = refValues(record, ref);
    return values.length > 0 && !values.some(holds);
  };
}

export function fieldRegexTest(
  { field, pattern, caseSensitive }: FieldRegexNode,
  compileRegex: CompileRegex,
): (record: RecordFields) => boolean {
  const ref = resolveField(field);
  const regex = compileRegex(pattern, { caseSensitive: caseSensitive ?? false });
  return (record) => refValues(record, ref).some((value) => regex.test(value));
}

function textTest({ text: wanted, caseSensitive }: TextNode): QueryTest {
  if (caseSensitive) return (_record, text) => text().includes(wanted);
  const fold = caseFolder(wanted);
  const folded = fold(wanted);
  return (_record, text) => fold(text()).includes(folded);
}

/** Whether a value of a field matches. */
export type ValueTest = (text: string) => boolean;

/** What one value is tested by. Of `!=`, the test of `=`: no value may pass it. */
export function valueTest({ operator, value, wildcard, field }: FieldNode, ref: FieldRef): ValueTest {
  switch (operator) {
    case '=':
    case '!=':
      return wildcard ? patternTest(value) : equalTest(value, { field, ref });
    case ':':
      if (!wildcard && 'column' in ref && ref.column === 'level') return equalTest(value, { field, ref });
      return wordsTest(value, wildcard ?? false);
    default:
      return orderTest(operator, value, { field, ref });
  }
}

function equalTest(value: string, { field, ref }: { field: string; ref: FieldRef }): ValueTest {
  const column = 'column' in ref ? ref.column : undefined;
  if (column === 'level') {
    const level = parseLevelName(value);
    return (text) => text === level;
  }
  if (column === 'source') return (text) => isSource(text, value);
  const fold = caseFolder(value);
  const wanted = fold(value);
  const isEqual = column === 'component' ? undefined : quantityEquals(value, field);
  // Folding ASCII letters keeps the length.
  const isSame = isAsciiText(value)
    ? (text: string) => text.length === value.length && fold(text) === wanted
    : (text: string) => fold(text) === wanted;
  return (text) => text === value || isSame(text) || (isEqual?.(text) ?? false);
}

/** `runtime.go` and `runtime.go:172` match `broker/runtime.go:172`, `time.go` does not. */
function isSource(found: string, wanted: string): boolean {
  const file = found.replace(/:\d+$/, '');
  return [found, file].some((candidate) => candidate === wanted || candidate.endsWith(`/${wanted}`));
}

type Order = '<' | '<=' | '>' | '>=';

const ORDER_TESTS: Readonly<Record<Order, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function orderTest(operator: Order, value: string, { field, ref }: { field: string; ref: FieldRef }): ValueTest {
  const holds = ORDER_TESTS[operator];
  const compare = 'column' in ref && ref.column === 'level' ? levelOrder(value) : quantityOrder(value, field);
  return (text) => {
    const order = compare?.(text);
    return order !== undefined && holds(order);
  };
}

function levelOrder(value: string): ((text: string) => number | undefined) | undefined {
  const wanted = parseLevelName(value);
  if (wanted === undefined) return undefined;
  const rank = LEVELS.indexOf(wanted);
  return (text) => {
    const found = (LEVELS as readonly string[]).indexOf(text);
    return found < 0 ? undefined : found - rank;
  };
}

/** Whether a value can be compared by order: a number, a duration or a size; for `level` the name of one. */
export function isOrdered(value: string, ref: FieldRef): boolean {
  const isLevel = 'column' in ref && ref.column === 'level';
  return isLevel ? parseLevelName(value) !== undefined : quantityOrder(value, '') !== undefined;
}

/** The texts between the `*` of a pattern. */
function patternParts(value: string): string[] {
  return value.split(/\*+/);
}

/** `*` stands for any text. Always the leftmost match of each part, so that time is linear in the text per part. */
function patternTest(value: string): ValueTest {
  const fold = caseFolder(value);
  const [first = '', ...rest] = patternParts(fold(value));
  const last = rest.pop() ?? '';
  return (original) => {
    const text = fold(original);
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/** The text occurs as whole words: where it begins or ends with a letter or digit, it is not next to another one. */
function wordsTest(value: string, wildcard: boolean): ValueTest {
  const fold = caseFolder(value);
  const parts = wildcard ? patternParts(fold(value)) : [fold(value)];
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  return (original) => {
    const text = fold(original);
    if (last === undefined) return findWords(text, first, { from: 0, left: true, right: true }) >= 0;
    let at = findWords(text, first, { from: 0, left: true, right: false });
    if (at < 0) return false;
    at += first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return findWords(text, last, { from: at, left: false, right: true }) >= 0;
  };
}

interface Edges {
  from: number;
  /** Which edges must be those of words. */
  left: boolean;
  right: boolean;
}

function findWords(text: string, part: string, { from, left, right }: Edges): number {
  const checksLeft = left && isWordAfter(part, 0);
  const checksRight = right && isWordBefore(part, part.length);
  for (let at = text.indexOf(part, from); at >= 0; at = text.indexOf(part, at + 1)) {
    const isWhole = !(checksLeft && isWordBefore(text, at)) && !(checksRight && isWordAfter(text, at + part.length));
    if (isWhole) return at;
    // At the end, the empty text would be found for ever.
    if (at >= text.length) break;
  }
  return -1;
}

const WORD_START = /^[\p{L}\p{N}_]/u;
const WORD_END = /[\p{L}\p{N}_]$/u;

function isWordAfter(text: string, at: number): boolean {
  return WORD_START.test(text.slice(at, at + 2));
}

function isWordBefore(text: string, at: number): boolean {
  return WORD_END.test(text.slice(Math.max(0, at - 2), at));
}

/**
 * How values are compared ignoring case: if the wanted text is ASCII, only A to Z fold, so that bytes can be searched
 * for it; otherwise all letters do.
 */
function caseFolder(wanted: string): (text: string) => string {
  return isAsciiText(wanted) ? foldAscii : foldAll;
}

export function isAsciiText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** `toLowerCase` does nothing else with ASCII text, and is faster. */
function foldAscii(text: string): string {
  return isAsciiText(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function foldAll(text: string): string {
  return text.toLowerCase();
}

/** Lowest first. */
export const LEVELS: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Codes of problems with files that do not mean missing data: left out on purpose, read in spite of it, or selected and not there. */
export const NOTICES: ReadonlySet<string> = new Set([
  'NO_TIMES',
  'LEFT_OUT',
  'NUL_BYTES',
  'LOG_FAMILY_NOT_FOUND',
  'LOG_FILE_NOT_FOUND',
]);

/** Names of levels that people and programs use; the same words mean the same levels in logs. */
export const LEVEL_NAMES: Readonly<Record<string, Level>> = {
  trace: 'TRACE',
  verbose: 'TRACE',
  debug: 'DEBUG',
  info: 'INFO',
  information: 'INFO',
  notice: 'INFO',
  warn: 'WARN',
  warning: 'WARN',
  error: 'ERROR',
  err: 'ERROR',
  severe: 'ERROR',
  fatal: 'FATAL',
  critical: 'FATAL',
  crit: 'FATAL',
  alert: 'FATAL',
  emergency: 'FATAL',
  emerg: 'FATAL',
  panic: 'FATAL',
};

/** The level with this name, ignoring case. */
export function parseLevelName(name: string): Level | undefined {
  const word = name.toLowerCase();
  return Object.hasOwn(LEVEL_NAMES, word) ? LEVEL_NAMES[word] : undefined;
}
