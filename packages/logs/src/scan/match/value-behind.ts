import { isAsciiText, type RegexTest, type ValueTest, valueTest } from '../../query/match-query.ts';
import { resolveField } from '../../query/record-fields.ts';
import type { ExistsNode, FieldNode, FieldRegexNode } from '../../types.ts';

/*
 * Most records that contain the name of a field do not have the wanted value. Parsing them takes ten times as long as
 * looking behind the name, where JSON and `key=value` pairs have it.
 */

/** A condition on one field. */
export type FieldCondition = FieldNode | FieldRegexNode | ExistsNode;

/**
 * Whether a wanted value may follow a name that ends at `at`, in text that ends at `end`. Never rejects one that matches,
 * unless characters of it are written as `\u00..`; if it cannot decide, it accepts.
 */
export type ValueBehind = (bytes: Buffer, at: number, end: number) => boolean;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const EQUALS = 61;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const CLOSE_BRACE = 125;

/** What ends a value without quotes, and a backslash, behind which anything may be. */
const BARE_ENDS = new Set(Buffer.from(' \t\n\v\f\r,;)]}"\'\\'));

export function valueBehind(
  node: FieldCondition,
  findRegex: ((node: FieldRegexNode) => RegexTest) | undefined,
): ValueBehind {
  const test = leafTest(node, findRegex);
  return (bytes, at, end) => {
    if (at < end && bytes[at] === EQUALS) return mayBePair(bytes, at + 1, { end, test });
    const colon = at < end && bytes[at] === QUOTE ? skipSpace(bytes, at + 1, end) : end;
    return colon < end && bytes[colon] === COLON && mayBeMember(bytes, skipSpace(bytes, colon + 1, end), { end, test });
  };
}

/** What a single value must pass: of `!=` any, as others decide. */
function leafTest(node: FieldCondition, findRegex: ((node: FieldRegexNode) => RegexTest) | undefined): ValueTest {
  if (node.kind === 'field') return node.operator === '!=' ? () => true : valueTest(node, resolveField(node.field));
  const regex = node.kind === 'fieldRegex' ? findRegex?.(node) : undefined;
  return regex ? (text) => regex.test(text) : () => true;
}

interface Behind {
  end: number;
  test: ValueTest;
}

/** The value of a member of a JSON object; of a list, any element may match. */
function mayBeMember(bytes: Buffer, start: number, { end, test }: Behind): boolean {
  if (start >= end || bytes[start] === OPEN_BRACKET) return true;
  if (bytes[start] === QUOTE) return mayBeQuoted(bytes, start + 1, { end, test });
  let at = start;
  while (at < end && !isTokenEnd(bytes[at] ?? 0)) at++;
  return at >= end || test(bytes.toString('latin1', start, at));
}

/** The value of a pair: quoted, or up to white space or punctuation. */
function mayBePair(bytes: Buffer, start: number, { end, test }: Behind): boolean {
  if (start < end && bytes[start] === QUOTE) return mayBeQuoted(bytes, start + 1, { end, test });
  let at = start;
  while (at < end && !BARE_ENDS.has(bytes[at] ?? 0)) at++;
  const text = bytes.toString('latin1', start, at);
  // Some characters beyond ASCII are white space.
  return at >= end || bytes[at] === BACKSLASH || !isAsciiText(text) || test(text);
}

function mayBeQuoted(bytes: Buffer, start: number, { end, test }: Behind): boolean {
  let at = start;
  while (at < end && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
  return at >= end || bytes[at] === BACKSLASH || test(bytes.toString('utf8', start, at));
}

function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 10 || byte === 13;
}

function isTokenEnd(byte: number): boolean {
  return isSpace(byte) || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}
