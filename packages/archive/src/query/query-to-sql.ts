import { RegexPrefilter } from '@porthole/logs';
import {
  type BuiltInField,
  compileQuery,
  type ExistsNode,
  type FieldNode,
  type FieldRegexNode,
  filterToQuery,
  LEVELS,
  parseQuantity,
  type QueryNode,
  type RegexNode,
  resolveField,
  type TextNode,
} from '@porthole/logs/query';
import type { Level, RecordFilter } from '@porthole/logs/types';
import { quote } from '../clickhouse/quote.ts';
import { MESSAGE } from './row-columns.ts';

/** The conditions of a filter but its times, which the scope has. */
export function filterToSql(filter: RecordFilter): Bounds {
  const query = filterToQuery(filter);
  return query ? queryToSql(query) : ALWAYS;
}

function queryToSql(node: QueryNode): Bounds {
  switch (node.kind) {
    case 'text':
      return textToSql(node);
    case 'regex':
      return regexToSql(node);
    case 'field':
      return fieldToSql(node satisfies FieldNode);
    case 'fieldRegex':
      return fieldRegexToSql(node);
    case 'exists':
      return existsToSql(node);
    case 'not':
      return noneOf(queryToSql(node.node));
    case 'and':
      return allOf(node.nodes.map(queryToSql));
    case 'or':
      return anyOf(node.nodes.map(queryToSql));
  }
}

/* Conditions on fields: columns of the table, and leaves of the context and pairs of the message, which SQL cannot read. */

function fieldToSql(node: FieldNode): Bounds {
  const ref = resolveField(node.field);
  if ('leaf' in ref) {
    const parts = node.operator === '=' || node.operator === ':' ? valueParts(node) : [];
    return leafToSql(ref.leaf, { parts, decide: (value) => comparedValue(value, node) });
  }
  switch (ref.column) {
    case 'level':
      return levelToSql(testOf(node));
    case 'source':
      return withValue('source', sourceToSql(node));
    case 'component':
      return componentToSql(node);
    case 'message':
      return messageToSql(node);
  }
}

function fieldRegexToSql({ field }: FieldRegexNode): Bounds {
  const ref = resolveField(field);
  if ('column' in ref) return atMost(existsColumn(ref.column).may);
  return leafToSql(ref.leaf, { parts: [], decide: () => UNKNOWN });
}

function existsToSql({ field }: ExistsNode): Bounds {
  const ref = resolveField(field);
  return 'leaf' in ref ? leafToSql(ref.leaf, { parts: [], decide: () => ALWAYS }) : existsColumn(ref.column);
}

function existsColumn(column: BuiltInField): Bounds {
  switch (column) {
    case 'level':
      return levelToSql(({ level }) => level !== undefined);
    case 'source':
      return exactly("source != ''");
    case 'component':
      return exactly('notEmpty(tags)');
    case 'message':
      return ALWAYS;
  }
}

type LevelTest = (record: { message: string; level?: Level }) => boolean;

function testOf(node: FieldNode): LevelTest {
  const holds = compileQuery(node, noRegex);
  return (record) => holds(record, () => '');
}

function noRegex(): never {
  throw new Error('a condition on a level has no regex');
}

/** There are few levels: the engine tests each. What is none of them, a row of others may have, is no level. */
function levelToSql(holds: LevelTest): Bounds {
  const levels = LEVELS.filter((level) => holds({ message: '', level }));
  const others = holds({ message: '' });
  if (levels.length === LEVELS.length) return others ? ALWAYS : exactly(`level IN (${quoteAll(LEVELS)})`);
  if (!others) return levels.length === 0 ? NEVER : exactly(`level IN (${quoteAll(levels)})`);
  const unwanted = LEVELS.filter((level) => !levels.includes(level));
  return exactly(`level NOT IN (${quoteAll(unwanted)})`);
}

function quoteAll(texts: readonly string[]): string {
  return texts.map(quote).join(', ');
}

/** `time.go` and `time.go:7` are `x/time.go:7`; the rest of the operators compare texts. */
function sourceToSql(node: FieldNode): Bounds {
  const { operator, value, wildcard } = node;
  if (wildcard || (operator !== '=' && operator !== '!=')) return comparedText('source', node);
  const file = "replaceRegexpOne(source, ':[0-9]+$', '')";
  const isSource = joined(
    'OR',
    ['source', file].flatMap((text) => [`${text} = ${quote(value)}`, `endsWith(${text}, ${quote(`/${value}`)})`]),
  );
  if (/\p{Surrogate}/u.test(value)) return UNKNOWN;
  return exactly(operator === '=' ? isSource : `NOT ${isSource}`);
}

/** A condition on a column holds only where it has a value. */
function withValue(column: 'source', bounds: Bounds): Bounds {
  return allOf([existsColumn(column), bounds]);
}

function componentToSql(node: FieldNode): Bounds {
  const { operator, value, wildcard } = node;
  const hasTags = existsColumn('component');
  if (wildcard || (operator !== '=' && operator !== '!=') || !isAscii(value)) return atMost(hasTags.may);
  const isOne = `has(arrayMap(tag -> lower(tag), tags), ${quote(value.toLowerCase())})`;
  return allOf([hasTags, exactly(operator === '=' ? isOne : `NOT ${isOne}`)]);
}

function messageToSql(node: FieldNode): Bounds {
  const { operator, value, wildcard } = node;
  const isEquality = operator === '=' || operator === '!=';
  // Quantities are equal to others that are written differently.
  if (!wildcard && isEquality && isAscii(value) && !/^[-\d]/.test(value)) {
    const isSame = `lower(${MESSAGE}) = ${quote(value.toLowerCase())}`;
    return exactly(operator === '=' ? isSame : `NOT (${isSame})`);
  }
  return comparedText(MESSAGE, node);
}

/** A value that equals or contains a text contains the parts of it. */
function comparedText(column: string, node: FieldNode): Bounds {
  if (node.operator !== '=' && node.operator !== ':') return UNKNOWN;
  const parts = valueParts(node, /[^*]+/g);
  return atMost(allOf(parts.map((part) => containsText(column, part, { caseSensitive: false }))).may);
}

/** What JSON does not escape, and what is no punctuation of it. */
const PLAIN = /[^\p{Cc}"\\/{}[\]:,*]+/gu;

/** Parts that every matching value contains; none if others may be written differently. */
function valueParts({ operator, value, wildcard }: FieldNode, plain: RegExp = PLAIN): string[] {
  if (!isAscii(value)) return [];
  const text = operator === '=' && !wildcard ? writtenValue(value) : value;
  if (text === undefined) return [];
  // Without wildcards, a `*` is itself.
  return wildcard || !text.includes('*') ? (text.match(plain) ?? []) : [];
}

/** 13 is also 13.0 and 013; 500ms may be 0.5s. */
function writtenValue(value: string): string | undefined {
  const [, digits, fraction = ''] = /^-?0*(\d+)(\.\d+)?$/.exec(value) ?? [];
  if (digits !== undefined) return digits + fraction.replace(/\.?0+$/, '');
  const quantity = parseQuantity(value);
  return quantity === undefined || quantity.kind === 'number' ? value : undefined;
}

interface LeafCondition {
  /** What every matching value contains. */
  parts: readonly string[];
  /** What SQL knows of a value. */
  decide(value: string): Bounds;
}

/** SQL reads the value of a flat context itself; elsewhere it only knows what must be there. */
function leafToSql(path: string, { parts, decide }: LeafCondition): Bounds {
  const plain = plainLeaf(path);
  const anywhere = atMost(leafAnywhere(path, parts));
  if (!plain) return anywhere;
  const { isThere, value } = plain;
  const isThereOrNot = exactly(isThere);
  return anyOf([allOf([isThereOrNot, decide(value)]), allOf([noneOf(isThereOrNot), anywhere])]);
}

/** Whole numbers as they are usually written: equal ones are the same text. */
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/** A value that SQL has read, compared as the engine compares it. */
function comparedValue(value: string, node: FieldNode): Bounds {
  const { operator, value: wanted, wildcard } = node;
  if (wildcard || operator === ':' || !isAscii(wanted)) return UNKNOWN;
  const isInteger = `match(${value}, '^(0|[1-9][0-9]{0,14})$')`;
  if (operator === '=' || operator === '!=') {
    const equal = INTEGER.test(wanted)
      ? // Anything else that begins like a number may be equal: 13.0, 013.
        {
          may: `(${value} = ${quote(wanted)} OR (NOT ${isInteger} AND match(${value}, '^[-0-9]')))`,
          must: `${value} = ${quote(wanted)}`,
        }
      : /^[-\d]/.test(wanted)
        ? UNKNOWN
        : exactly(`lower(${value}) = ${quote(wanted.toLowerCase())}`);
    return operator === '=' ? equal : noneOf(equal);
  }
  if (!INTEGER.test(wanted)) return UNKNOWN;
  const holds = `toUInt64OrZero(${value}) ${operator} ${wanted}`;
  return { may: `(NOT ${isInteger} OR ${holds})`, must: `(${isInteger} AND ${holds})` };
}

/**
 * A leaf of the context, or a pair of the message. Its name and its value are there as they are, but for what JSON
 * escapes: a context with an escape of an ASCII character may have any.
 */
function leafAnywhere(path: string, values: readonly string[]): string {
  const inContext = [...values.map((value) => foldedIn('context', value)), ...nameIn('context', path)];
  const inMessage = [
    ...values.map((value) => foldedIn(MESSAGE, value)),
    containsText(MESSAGE, `${path}=`, { caseSensitive: true }),
  ];
  const escaped = containsText('context', '\\u00', { caseSensitive: true });
  const hasContext = exactly("context != ''");
  return anyOf([allOf([hasContext, ...inContext]), allOf(inMessage), escaped]).may;
}

function foldedIn(column: string, text: string): Bounds {
  return containsText(column, text, { caseSensitive: false });
}

/** The part of a path after its last dot is one key, or the end of one. */
function nameIn(column: string, path: string): Bounds[] {
  const [name] = /[^.\p{Cc}"\\/]+$/u.exec(path) ?? [];
  return name === undefined || !isAscii(name) ? [] : [containsText(column, name, { caseSensitive: true })];
}

/*
 * Most contexts are flat objects of plain values, `{"shard":13,"user":"ann"}`: of those, SQL reads a field itself. Others
 * (nested objects, lists, escapes, white space, a key twice) are left to the engine.
 */

/** How SQL reads a leaf of a flat context. */
interface PlainLeaf {
  /** The context is flat and has the leaf; its value is `value`. */
  isThere: string;
  /** The context is flat, or there is none, and does not have the leaf: a message may. */
  isMissing: string;
  /** Its text: a string without its quotes, or the number as written. */
  value: string;
}

/** No list, no object within it, no escape, and no white space around colons. */
const IS_FLAT = [
  "startsWith(context, '{\"')",
  "endsWith(context, '}')",
  "position(context, '[') = 0",
  "position(substring(context, 2), '{') = 0",
  "position(context, '\\\\') = 0",
  "position(context, '\": ') = 0",
  "position(context, '\" :') = 0",
].join(' AND ');

/** A string without escapes, a number or a word, and nothing around it. */
const IS_VALUE = '^("[^"\\\\\\\\]*"|[-+.0-9A-Za-z]+)$';

/** `undefined` if its name may be written differently. */
export function plainLeaf(path: string): PlainLeaf | undefined {
  if (!/^[\w.@$-]{1,100}$/.test(path)) return undefined;
  const key = quote(`"${path}":`);
  const raw = `visitParamExtractRaw(context, ${quote(path)})`;
  const isOnce = `position(substring(context, position(context, ${key}) + 1), ${key}) = 0`;
  const isThere = joined('AND', [IS_FLAT, `position(context, ${key}) > 0`, isOnce, `match(${raw}, '${IS_VALUE}')`]);
  // Without its name anywhere, it is not there in any spelling.
  const isMissing = joined('OR', ["context = ''", `(${IS_FLAT} AND position(context, ${quote(`"${path}"`)}) = 0)`]);
  const value = `if(startsWith(${raw}, '"'), substring(${raw}, 2, length(${raw}) - 2), ${raw})`;
  return { isThere, isMissing, value };
}

/** Texts that one condition searches for at most: a longer list costs more than it rules out. */
const MAX_TEXTS = 16;

/** Text anywhere in the record. Its last newline is not stored, but part of its text. */
function textToSql({ text, caseSensitive }: TextNode): Bounds {
  return containsText(text.includes('\n') ? `concat(line, ${quote('\n')})` : 'line', text, {
    caseSensitive: caseSensitive ?? false,
  });
}

/** SQL searches for the texts that every match of a regex contains. */
function regexToSql({ pattern, caseSensitive }: Omit<RegexNode, 'kind'>): Bounds {
  const sets = new RegexPrefilter(pattern, { caseSensitive: caseSensitive ?? false }).textSets;
  const found = sets.map((texts) =>
    texts.length > MAX_TEXTS
      ? UNKNOWN
      : anyOf(texts.map((text) => textToSql({ kind: 'text', text, ...(caseSensitive && { caseSensitive }) }))),
  );
  return atMost(allOf(found).may);
}

/**
 * Whether an expression contains a text. SQL decides it if case matters or the text is ASCII: the engine folds only A to Z
 * then, as `positionCaseInsensitive` does. Of others SQL searches for the parts that nothing else folds to.
 */
function containsText(expression: string, text: string, { caseSensitive }: { caseSensitive: boolean }): Bounds {
  if (text === '') return ALWAYS;
  if (!isWellFormed(text)) return UNKNOWN;
  if (caseSensitive) return exactly(`position(${expression}, ${quote(text)}) > 0`);
  if (isAscii(text)) return exactly(foldedPosition(expression, text));
  return atMost(allOf(foldedRuns(text).map((run) => exactly(foldedPosition(expression, run)))).may);
}

function foldedPosition(expression: string, text: string): string {
  return `positionCaseInsensitive(${expression}, ${quote(text)}) > 0`;
}

/** The Kelvin sign and the dotted capital I are the only others that become ASCII letters in lower case. */
function foldedRuns(text: string): string[] {
  return text.split(/[ik]|[^\0-\x7f]/i).filter((run) => run !== '');
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** A lone surrogate is no text: in UTF-8, and so in SQL, it becomes another character. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/*
 * What SQL knows of a condition. The one evaluator of queries is the engine's; SQL only narrows down which rows it has to
 * see. So each condition has two bounds, and where they are the same, SQL has decided it.
 */

/** Two conditions of SQL: every matching row fulfils `may`, and every row that fulfils `must` matches. */
export interface Bounds {
  may: string;
  must: string;
}

const TRUE = '1';
const FALSE = '0';

export const ALWAYS: Bounds = exactly(TRUE);
export const NEVER: Bounds = exactly(FALSE);

/** SQL knows nothing of it. */
export const UNKNOWN: Bounds = { may: TRUE, must: FALSE };

/** SQL decides it. */
export function exactly(sql: string): Bounds {
  return { may: sql, must: sql };
}

/** SQL can only rule it out. */
export function atMost(sql: string): Bounds {
  return { may: sql, must: FALSE };
}

export function isExact({ may, must }: Bounds): boolean {
  return may === must;
}

function allOf(bounds: readonly Bounds[]): Bounds {
  return joinBounds('AND', bounds);
}

export function anyOf(bounds: readonly Bounds[]): Bounds {
  return joinBounds('OR', bounds);
}

function joinBounds(word: 'AND' | 'OR', bounds: readonly Bounds[]): Bounds {
  const join = (side: keyof Bounds) =>
    joined(
      word,
      bounds.map((each) => each[side]),
    );
  return { may: join('may'), must: join('must') };
}

export function noneOf({ may, must }: Bounds): Bounds {
  return { may: negated(must), must: negated(may) };
}

/** Simplified, so that the SQL stays readable in the server's log. No conditions: all of none hold, one of none does not. */
export function joined(word: 'AND' | 'OR', conditions: readonly string[]): string {
  const [neutral, absorbing] = word === 'AND' ? [TRUE, FALSE] : [FALSE, TRUE];
  const parts = [...new Set(conditions)].filter((sql) => sql !== neutral);
  if (parts.includes(absorbing)) return absorbing;
  const [only = neutral] = parts;
  return parts.length <= 1 ? only : `(${parts.join(` ${word} `)})`;
}

function negated(sql: string): string {
  if (sql === TRUE) return FALSE;
  return sql === FALSE ? TRUE : `NOT (${sql})`;
}
