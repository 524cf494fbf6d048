import type { FormatName } from '../../parse/format.ts';
import { BYTE_LIST_START } from '../../parse/formats/json-format.ts';
import { fieldRegexTest, fieldTest, type RegexTest } from '../../query/match-query.ts';
import { parseQuantity } from '../../query/quantity.ts';
import { type BuiltInField, refValues, resolveField } from '../../query/record-fields.ts';
import type { FieldNode, QueryNode, RegexNode, TextNode } from '../../types.ts';
import type { RecordView } from './record-matcher.ts';
import type { NeedleSearch, RequiredSet } from './required-needles.ts';
import { type FieldCondition, valueBehind } from './value-behind.ts';

/** A condition on a record. */
export interface RecordTest {
  holds(record: RecordView): boolean;
  /** Roughly, in comparison with others: cheap conditions are tested first. */
  cost: number;
}

type RegexFor = (node: { pattern: string; caseSensitive?: true }) => RegexTest;

/** Searching bytes, parsing the record, and running a regex on it. */
const TEXT_COST = 1;
const FIELD_COST = 10;
const REGEX_COST = 100;

/** Compiles a query for records as bytes. Of terms that must all hold, or one of them, the cheap ones come first. */
function compileTest(node: QueryNode, regexFor: RegexFor): RecordTest {
  switch (node.kind) {
    case 'text':
      return { holds: textTest(node), cost: TEXT_COST };
    case 'regex':
      return { holds: regexTest(node, regexFor), cost: REGEX_COST };
    case 'field': {
      const holds = fieldTest(node);
      return { holds: ({ fields }) => holds(fields), cost: FIELD_COST };
    }
    case 'fieldRegex': {
      const holds = fieldRegexTest(node, () => regexFor(node));
      return { holds: ({ fields }) => holds(fields), cost: REGEX_COST };
    }
    case 'exists': {
      const ref = resolveField(node.field);
      return { holds: ({ fields }) => refValues(fields, ref).length > 0, cost: FIELD_COST };
    }
    case 'not': {
      const { holds, cost } = compileTest(node.node, regexFor);
      return { holds: (record) => !holds(record), cost };
    }
    case 'and':
    case 'or': {
      const tests = compileTests(node.nodes, regexFor);
      const all = node.kind === 'and';
      const holds = (record: RecordView) =>
        all ? tests.every((test) => test.holds(record)) : tests.some((test) => test.holds(record));
      return { holds, cost: tests.reduce((sum, test) => sum + test.cost, 0) };
    }
  }
}

/** Tests that must all hold, or one of them: cheap ones first. */
export function compileTests(nodes: readonly QueryNode[], regexFor: RegexFor): RecordTest[] {
  return nodes.map((node) => compileTest(node, regexFor)).sort((a, b) => a.cost - b.cost);
}

function regexTest(node: RegexNode, regexFor: RegexFor): RecordTest['holds'] {
  const regex = regexFor(node);
  return (record) => regex.test(record.text);
}

/**
 * Both cases of ASCII letters are the same byte pattern in any encoding, so Latin-1 is sufficient for searching them,
 * whatever the bytes are. Other letters require decoding the text.
 */
function textTest({ text, caseSensitive }: TextNode): RecordTest['holds'] {
  if (caseSensitive) {
    const wanted = Buffer.from(text);
    return ({ bytes }) => bytes.includes(wanted);
  }
  const lower = text.toLowerCase();
  const encoding = isAscii(text) ? 'latin1' : 'utf8';
  return ({ bytes }) => bytes.toString(encoding).toLowerCase().includes(lower);
}

export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/*
 * Texts that occur in the bytes of every record in which a condition on a field holds. Only for formats of which that
 * is known: where a name and a value are in the record as one piece each, but for characters that JSON escapes.
 */

/**
 * Where contexts and messages are written as they are, or as JSON: any character may be an escape, so that a record
 * without the text contains one. In `json`, journald writes messages that are not printable as lists of bytes.
 */
const ESCAPES: Readonly<Record<FormatName, readonly string[]>> = {
  contract: ['\\u00'],
  json: ['\\u00', BYTE_LIST_START],
};

/** Formats in which columns may be escaped, split or combined from several. */
function hasWrittenColumns(format: FormatName): boolean {
  return !/^(?:json|iso)|\+/.test(format);
}

/** Required texts of a condition on a field; empty if there are none. */
export function fieldTexts(node: FieldCondition, { format, findRegex }: NeedleSearch): RequiredSet[] {
  const ref = resolveField(node.field);
  const values = node.kind === 'field' ? valueTexts(node) : [];
  if ('column' in ref) return columnTexts(ref.column, { node, values, format });
  const escapes = ESCAPES[format]?.map((text) => ({ text, caseSensitive: true }));
  if (!escapes) return [];
  const sets = values.map((text) => ({ texts: [{ text, caseSensitive: false }], escapes }));
  const name = lastName(ref.leaf);
  if (name === undefined) return sets;
  // It ends before a quote in JSON, and before `=` in a message.
  const value = values.reduce<string | undefined>(
    (longest, each) => (each.length > (longest?.length ?? 0) ? each : longest),
    undefined,
  );
  const text = { text: name, caseSensitive: true, follows: valueBehind(node, findRegex), value };
  return [...sets, { texts: [text], escapes, isName: true }];
}

interface ColumnCondition {
  node: FieldCondition;
  values: readonly string[];
  format: FormatName;
}

function columnTexts(column: BuiltInField, { node, values, format }: ColumnCondition): RequiredSet[] {
  if (node.kind !== 'field' || node.operator === '!=' || column === 'level') return [];
  if (column === 'message') {
    const escapes = ESCAPES[format]?.map((text) => ({ text, caseSensitive: true }));
    return escapes ? values.map((text) => ({ texts: [{ text, caseSensitive: false }], escapes })) : [];
  }
  if (!hasWrittenColumns(format)) return [];
  if (node.operator === '=' && !node.wildcard)
    return [{ texts: [{ text: node.value, caseSensitive: column === 'source' }] }];
  return values.map((text) => ({ texts: [{ text, caseSensitive: false }] }));
}

/** What is not escaped in JSON, nor between tokens of it, where white space may be. */
const PLAIN_RUN = /[^\p{Cc}"\\/{}[\]:,]+/gu;

/** Parts of a value that every equal value contains; empty if others may be written differently. */
function valueTexts({ operator, value, wildcard }: FieldNode): string[] {
  if (operator !== '=' && operator !== ':') return [];
  // Beyond ASCII, letters of other alphabets fold to those of this one.
  if (!isAscii(value)) return [];
  const text = operator === '=' && !wildcard ? equalText(value) : value;
  if (text === undefined) return [];
  return (wildcard ? text.split('*') : [text]).flatMap((part) => part.match(PLAIN_RUN) ?? []);
}

/** 13 is 13.0 and 013; 500ms may be 0.5s, so that nothing is known of it. */
function equalText(value: string): string | undefined {
  const [, digits, fraction = ''] = /^-?0*(\d+)(\.\d+)?$/.exec(value) ?? [];
  if (digits !== undefined) return digits + fraction.replace(/\.?0+$/, '');
  const quantity = parseQuantity(value);
  return quantity === undefined || quantity.kind === 'number' ? value : undefined;
}

/** The end of a path as it is written in every key that can stand for it (those before a dot may be elsewhere); `undefined` if it may be escaped. */
function lastName(path: string): string | undefined {
  const [name] = /[^.\p{Cc}"\\/]+$/u.exec(path) ?? [];
  return name === undefined || !isAscii(name) ? undefined : name;
}
