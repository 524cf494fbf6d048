import {
  type ExistsNode,
  type FieldNode,
  type FieldOperator,
  type FieldRegexNode,
  parseLevelName,
  parseQuantity,
  type RegexNode,
  type TextNode,
} from '@porthole/logs/query';
import { PortholeError } from '../errors/errors.ts';
import { quoteInput } from '../quote.ts';

/* Limits of conditions. A query is parsed on every request, and every byte of a log is matched against all of its terms. */

export const MAX_TERM_BYTES = 1024;
export const MAX_REGEX_BYTES = 2048;

/** In UTF-16 units. Fits into a URL with everything else. */
export const MAX_QUERY_LENGTH = 4096;
/** Levels of NOT, AND and OR inside each other, and of parentheses. */
export const MAX_QUERY_DEPTH = 20;
export const MAX_QUERY_TERMS = 64;
/** Each takes memory for its automaton in every scanning thread. */
export const MAX_QUERY_REGEXES = 8;

/** What is wrong with the text of a query. */
export interface QueryProblem {
  /** UTF-16 index into the text; its length, if something is missing at the end. */
  position: number;
  detail: string;
}

export function queryError({ position, detail }: QueryProblem): PortholeError {
  const message = `invalid query at character ${position + 1}: ${detail}`;
  return new PortholeError('QUERY_INVALID', message, { position });
}

/*
 * The text of a query as tokens. Incomplete and wrong terms are tokens too, with their problem: editors need them while
 * a query is being typed.
 */

export type LeafNode = TextNode | RegexNode | FieldNode | FieldRegexNode | ExistsNode;

export interface TextRange {
  start: number;
  end: number;
}

interface SignToken extends TextRange {
  kind: 'open' | 'close' | 'and' | 'or' | 'not';
}

export interface TermToken extends TextRange {
  kind: 'term';
  /** The field of a comparison. The value is empty where it is missing. */
  field?: TextRange & { name: string };
  operator?: TextRange & { text: FieldOperator };
  value?: TextRange;
  /** Absent if the term has a problem. */
  node?: LeafNode;
  problem?: QueryProblem;
}

export type QueryToken = SignToken | TermToken;

const SPACE = /\s*/y;
const WORD = /[^\s()]+/y;
/** The name of a field, without quotes. */
const NAME = /[A-Za-z_@$][\w.@$-]*/y;
/** `:` must be followed by its value at once, so that text like `error: disk full` is not taken for a field. */
const OPERATOR = /\s*(<=|>=|!=|=|<|>)\s*|(:)(?!\/\/)/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const REGEX = /\/((?:[^/\\]|\\.)*)\//sy;
const LEADING_OPERATOR = /[=<>:]|!=/y;
const KEYWORDS: Readonly<Record<string, SignToken['kind']>> = { AND: 'and', OR: 'or', NOT: 'not' };

const QUOTE_IT = 'to search for this text, put it in double quotes';

export function scanQuery(text: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const token = scanToken(text, at);
    tokens.push(token);
    at = skipSpace(text, token.end);
  }
  return tokens;
}

function scanToken(text: string, start: number): QueryToken {
  const first = text[start];
  if (first === '(' || first === ')') return { kind: first === '(' ? 'open' : 'close', start, end: start + 1 };
  if (first === '-' && /[^\s)]/.test(text[start + 1] ?? ' ')) return { kind: 'not', start, end: start + 1 };
  if (first === '"') return scanQuoted(text, start);
  if (first === '/') return scanRegex(text, { start, at: start });
  const [word = ''] = matchAt(WORD, text, start) ?? [];
  const end = start + word.length;
  const keyword = Object.hasOwn(KEYWORDS, word) ? KEYWORDS[word] : undefined;
  if (keyword !== undefined) return { kind: keyword, start, end };
  const [name] = matchAt(NAME, text, start) ?? [];
  const field = name === undefined ? undefined : { name, start, end: start + name.length };
  const operator = field && scanOperator(text, field.end);
  if (field && operator) return scanComparison(text, { field, operator });
  const [leading] = matchAt(LEADING_OPERATOR, text, start) ?? [];
  if (leading !== undefined)
    return broken({ start, end }, start, `the name of a field is missing before "${leading}"; ${QUOTE_IT}`);
  return checked({ kind: 'term', start, end, node: { kind: 'text', text: word } }, word, MAX_TERM_BYTES);
}

/** Text, or the name of a field. */
function scanQuoted(text: string, start: number): TermToken {
  const quoted = readQuoted(text, start);
  if (!quoted) return unclosedQuote(text, { start, at: start });
  const field = { name: quoted.content, start, end: quoted.end };
  const operator = scanOperator(text, quoted.end);
  if (operator && quoted.content === '') return broken({ start, end: operator.end }, start, 'the field has no name');
  if (operator) return scanComparison(text, { field, operator });
  if (quoted.content === '') return broken({ start, end: quoted.end }, start, 'the text is empty');
  const { end, caseSensitive, problem } = scanSuffix(text, quoted.end);
  if (problem) return { kind: 'term', start, end, problem };
  return checked(
    { kind: 'term', start, end, node: { kind: 'text', text: quoted.content, ...caseSensitive } },
    quoted.content,
    MAX_TERM_BYTES,
  );
}

/** `at` is the first slash, `start` that of the term. */
function scanRegex(text: string, term: { start: number; at: number; parts?: Comparison }): TermToken {
  const { start, at, parts } = term;
  const [whole, body = ''] = matchAt(REGEX, text, at) ?? [];
  if (whole === undefined) {
    const token = broken(
      { start, end: text.length },
      at,
      'the regular expression has no closing "/"; to search for text that begins with "/", put it in double quotes',
    );
    return { ...parts, ...token, ...(parts && { value: { start: at, end: text.length } }) };
  }
  const { end, caseSensitive, problem } = scanSuffix(text, at + whole.length);
  const place = { kind: 'term', start, end, ...parts, ...(parts && { value: { start: at, end } }) } as const;
  if (problem) return { ...place, problem };
  if (body === '') return { ...place, problem: { position: at, detail: 'the regular expression is empty' } };
  const pattern = body.replace(/\\(.)/gs, (pair, escaped: string) => (escaped === '/' ? '/' : pair));
  const node: LeafNode = parts
    ? { kind: 'fieldRegex', field: parts.field.name, pattern, ...caseSensitive }
    : { kind: 'regex', pattern, ...caseSensitive };
  return checked({ ...place, node }, pattern, MAX_REGEX_BYTES);
}

type Comparison = Required<Pick<TermToken, 'field' | 'operator'>>;

function scanComparison(text: string, parts: Comparison): TermToken {
  const { field, operator } = parts;
  const { start } = field;
  const at = operator.end;
  if (text[at] === '/' && operator.text === ':') return scanRegex(text, { start, at, parts });
  const quoted = text[at] === '"' ? readQuoted(text, at) : undefined;
  if (text[at] === '"' && !quoted)
    return { ...unclosedQuote(text, { start, at }), ...parts, value: { start: at, end: text.length } };
  const value = quoted?.content ?? matchAt(WORD, text, at)?.[0] ?? '';
  const end = quoted?.end ?? at + value.length;
  const term = { kind: 'term', start, end, ...parts, value: { start: at, end } } as const;
  const follower = quoted && scanSuffix(text, end, { allowsCase: false });
  if (follower?.problem) return { ...term, problem: follower.problem };
  const written = `${field.name}${operator.text}`;
  if (end === at) {
    const detail = `the value is missing after ${quoteInput(written)}; ${QUOTE_IT}`;
    return { ...term, problem: { position: at, detail } };
  }
  const result = checkValue({ field: field.name, operator: operator.text, value, isQuoted: quoted !== undefined });
  if ('detail' in result) return { ...term, problem: { position: at, detail: result.detail } };
  return checked({ ...term, node: result }, value, MAX_TERM_BYTES);
}

function scanOperator(text: string, at: number): TermToken['operator'] {
  const match = matchAt(OPERATOR, text, at);
  if (!match) return undefined;
  return { text: (match[1] ?? match[2]) as FieldOperator, start: at, end: at + match[0].length };
}

/** What follows a closing quote or slash: perhaps a `c`, then white space, a parenthesis or the end. */
function scanSuffix(text: string, at: number, { allowsCase = true } = {}) {
  const [rest = ''] = matchAt(/[^\s)]+/y, text, at) ?? [];
  if (rest === '') return { end: at, caseSensitive: {} };
  const end = at + rest.length;
  if (rest === 'c' && allowsCase) return { end, caseSensitive: { caseSensitive: true as const } };
  const expected = allowsCase ? 'expected a space, ")", or c to match case' : 'expected a space or ")"';
  const detail = `${expected} after the closing ${text[at - 1]}; to search for all of this text, put it in double quotes`;
  return { end, caseSensitive: {}, problem: { position: at, detail } };
}

/** Only `\"` and `\\` are escapes: patterns of messages and paths of Windows need none. */
function readQuoted(text: string, at: number): { content: string; end: number } | undefined {
  const [whole, content = ''] = matchAt(QUOTED, text, at) ?? [];
  return whole === undefined ? undefined : { content: content.replace(/\\(["\\])/g, '$1'), end: at + whole.length };
}

function unclosedQuote(text: string, { start, at }: { start: number; at: number }): TermToken {
  return broken({ start, end: text.length }, at, 'the text has no closing double quote');
}

function broken({ start, end }: TextRange, position: number, detail: string): TermToken {
  return { kind: 'term', start, end, problem: { position, detail } };
}

function checked(token: TermToken, content: string, maxBytes: number): TermToken {
  if (new TextEncoder().encode(content).length <= maxBytes) return token;
  const { node: _, ...rest } = token;
  const position = token.value?.start ?? token.start;
  return { ...rest, problem: { position, detail: `this term is too long: at most ${maxBytes} bytes` } };
}

function skipSpace(text: string, at: number): number {
  return at + (matchAt(SPACE, text, at)?.[0].length ?? 0);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** A comparison as written. */
interface WrittenComparison {
  field: string;
  operator: FieldOperator;
  value: string;
  isQuoted: boolean;
}

/** The condition, or what is wrong with its value. */
function checkValue(written: WrittenComparison): FieldNode | ExistsNode | { detail: string } {
  const { field, operator, value, isQuoted } = written;
  const isText = operator === '=' || operator === '!=' || operator === ':';
  if (isText && value === '*' && !isQuoted)
    return operator === '!='
      ? { detail: `"${operator}*" never matches; for records without the field, write -${field}:*` }
      : { kind: 'exists', field };
  if (field === 'level') return checkLevel(written);
  if (!isQuoted && /^[=<>]/.test(value))
    return {
      detail: `unknown operator: expected =, !=, :, <, <=, > or >=; if this is the value, put it in double quotes`,
    };
  if (operator === ':' && value === '')
    return { detail: `the value is empty; for records that have the field, write ${field}:*` };
  if (isText) return { kind: 'field', field, operator, value, ...(!isQuoted && value.includes('*') && WILDCARD) };
  if (parseQuantity(value)) return { kind: 'field', field, operator, value };
  return {
    detail: `invalid value ${quoteInput(value)} for ${operator}: expected a number, a duration like 500ms or a size like 10MiB`,
  };
}

const WILDCARD = { wildcard: true } as const;

/** Other common names are accepted, as everywhere, and `:` means the same as `=`; the query has one way of writing. */
function checkLevel({ field, operator, value }: WrittenComparison): FieldNode | { detail: string } {
  const known = parseLevelName(value);
  if (known === undefined)
    return { detail: `invalid level ${quoteInput(value)}: expected trace, debug, info, warn, error or fatal` };
  return { kind: 'field', field, operator: operator === ':' ? '=' : operator, value: known.toLowerCase() };
}
