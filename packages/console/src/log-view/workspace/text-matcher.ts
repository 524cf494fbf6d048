import { PortholeError } from '@porthole/client';
import { errorMessage } from '@porthole/contract';
import type { FieldNode, QueryNode } from '@porthole/logs/query';
import { unionMatcher } from '../model/fold-rows.ts';
import type { FindQuery, TextMatcher, TextRange } from '../model/workspace-state.ts';

const MAX_RANGES = 200;

/**
 * Finds the matches of a query in a text, by the rules of the API: case matters only if requested, regexes are RE2, `^`
 * and `$` match at line ends. Rejects with REGEX_INVALID for an invalid regex.
 */
export async function createMatcher(query: FindQuery): Promise<TextMatcher> {
  return query.isRegex ? regexMatcher(query) : literalMatcher(query);
}

function literalMatcher({ text, isCaseSensitive }: Omit<FindQuery, 'isRegex'>): TextMatcher {
  if (text === '') return () => [];
  const wanted = isCaseSensitive ? text : text.toLowerCase();
  return (whole) => {
    const searched = isCaseSensitive ? whole : sameLengthLower(whole);
    const ranges: TextRange[] = [];
    let start = searched.indexOf(wanted);
    while (start >= 0 && ranges.length < MAX_RANGES) {
      ranges.push({ start, end: start + wanted.length });
      start = searched.indexOf(wanted, start + wanted.length);
    }
    return ranges;
  };
}

/** A few characters become two in lower case, which would shift all later offsets. */
function sameLengthLower(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  }).join('');
}

/** Loaded on first use: most searches are plain text. */
async function regexMatcher({ text, isCaseSensitive }: FindQuery): Promise<TextMatcher> {
  const { RE2JS } = await import('re2js');
  const flags = RE2JS.MULTILINE | (isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  const compiled = compile(() => RE2JS.compile(text, flags));
  return (whole) => {
    const matcher = compiled.matcher(whole);
    const ranges: TextRange[] = [];
    while (ranges.length < MAX_RANGES && matcher.find()) ranges.push({ start: matcher.start(), end: matcher.end() });
    return ranges;
  };
}

function compile<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    // The engine takes flags in front of the pattern; hide them from the message, the user has not typed them.
    const why = errorMessage(cause).replace(/\(\?m\)(\(\?i\))?/, '');
    throw new PortholeError('REGEX_INVALID', `invalid regex: ${why}`, { cause });
  }
}

/** Fields with a column of their own: their values elsewhere in a row are a coincidence. */
const COLUMNS: readonly string[] = ['level', 'source', 'component'];

const WORD = /[\p{L}\p{N}_]/u;

/** Characters between the name of a field and its value: `shard=13`, `"shard": "13"`, `"shard":["13"`. */
const MAX_BETWEEN = 8;

/**
 * Finds in a text what a query asks for: its texts and regexes, and values of fields next to their names. Nothing of what
 * it excludes. Rejects with REGEX_INVALID for an invalid regex.
 */
export async function queryMatcher(
  node: QueryNode,
  { isCaseSensitive }: { isCaseSensitive: boolean },
): Promise<TextMatcher> {
  const matchers = await Promise.all(
    wantedNodes(node).map((wanted): Promise<TextMatcher> | TextMatcher => {
      if (wanted.kind === 'field') return valueMatcher(wanted);
      const text = wanted.kind === 'text' ? wanted.text : wanted.pattern;
      const isCased = isCaseSensitive || wanted.caseSensitive === true;
      return createMatcher({ text, isRegex: wanted.kind === 'regex', isCaseSensitive: isCased });
    }),
  );
  return unionMatcher(matchers);
}

/** What is wrong with the regexes of a query; `null` if nothing is. */
export async function findRegexProblem(node: QueryNode): Promise<{ pattern: string; message: string } | null> {
  for (const pattern of regexesOf(node)) {
    try {
      await createMatcher({ text: pattern, isRegex: true, isCaseSensitive: true });
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      return { pattern, message: error.message };
    }
  }
  return null;
}

function regexesOf(node: QueryNode): string[] {
  if (node.kind === 'and' || node.kind === 'or') return node.nodes.flatMap(regexesOf);
  if (node.kind === 'not') return regexesOf(node.node);
  return node.kind === 'regex' || node.kind === 'fieldRegex' ? [node.pattern] : [];
}

type WantedNode = Extract<QueryNode, { kind: 'text' | 'regex' | 'field' }>;

function wantedNodes(node: QueryNode): WantedNode[] {
  if (node.kind === 'and' || node.kind === 'or') return node.nodes.flatMap(wantedNodes);
  if (node.kind === 'text' || node.kind === 'regex') return [node];
  if (node.kind !== 'field' || node.wildcard || COLUMNS.includes(node.field)) return [];
  return node.operator === '=' || node.operator === ':' ? [node] : [];
}

/** Whole words of a message; of other fields, only behind the last part of their name. */
function valueMatcher({ field, value }: FieldNode): TextMatcher {
  const name = field === 'message' ? '' : (field.split('.').at(-1) ?? '');
  const literal = literalMatcher({ text: value, isCaseSensitive: false });
  return (text) =>
    literal(text).filter((range) => isWhole(text, range) && (name === '' || isBehind(text, range, name)));
}

function isWhole(text: string, { start, end }: TextRange): boolean {
  const isJoined = (inner: string, outer: string) => WORD.test(inner) && WORD.test(outer);
  const first = text[start] ?? '';
  const last = text[end - 1] ?? '';
  return !isJoined(first, text[start - 1] ?? '') && !isJoined(last, text[end] ?? '');
}

function isBehind(text: string, { start }: TextRange, name: string): boolean {
  const before = text.slice(Math.max(0, start - name.length - MAX_BETWEEN), start);
  const between = before.slice(before.lastIndexOf(name) + name.length);
  return before.includes(name) && /^"?\s*[:=]\s*\[?\s*"?$/.test(between);
}
