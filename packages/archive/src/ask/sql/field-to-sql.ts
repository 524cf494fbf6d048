import {
  type BuiltInField,
  compileQuery,
  type ExistsNode,
  type FieldNode,
  type FieldRegexNode,
  LEVELS,
  parseQuantity,
  resolveField,
} from '@porthole/logs/query';
import type { Level } from '@porthole/logs/types';
import { quote } from '../../clickhouse/quote.ts';
import { MESSAGE } from '../row-columns.ts';
import { ALWAYS, allOf, anyOf, atMost, type Bounds, exactly, joined, NEVER, noneOf, UNKNOWN } from './bounds.ts';
import { plainLeaf } from './plain-leaf.ts';
import { containsText, isAscii } from './text-to-sql.ts';

/* Conditions on fields: columns of the table, and leaves of the context and pairs of the message, which SQL cannot read. */

export function fieldToSql(node: FieldNode): Bounds {
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

export function fieldRegexToSql({ field }: FieldRegexNode): Bounds {
  const ref = resolveField(field);
  if ('column' in ref) return atMost(existsColumn(ref.column).may);
  return leafToSql(ref.leaf, { parts: [], decide: () => UNKNOWN });
}

export function existsToSql({ field }: ExistsNode): Bounds {
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

/** There are few levels: the engine is asked for each. What is none of them, a row of others may have, is no level. */
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

/** Of a flat context SQL reads the value itself; elsewhere it only knows what must be there. */
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
