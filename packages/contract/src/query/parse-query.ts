import type { QueryNode } from '@porthole/logs/query';
import { formatOperand, formatQuery } from './format-query.ts';
import {
  MAX_QUERY_DEPTH,
  MAX_QUERY_LENGTH,
  MAX_QUERY_REGEXES,
  MAX_QUERY_TERMS,
  type QueryProblem,
  type QueryToken,
  queryError,
  scanQuery,
  type TermToken,
} from './scan-query.ts';

/**
 * The query of a text in the language of docs/query.md. `undefined` for an empty text, which matches all records.
 * Throws QUERY_INVALID with the position of the mistake.
 */
export function parseQuery(text: string): QueryNode | undefined {
  if (text.length > MAX_QUERY_LENGTH)
    throw queryError({
      position: MAX_QUERY_LENGTH,
      detail: `the query has ${text.length} characters; at most ${MAX_QUERY_LENGTH} are allowed`,
    });
  const tokens = scanQuery(text);
  if (tokens.length === 0) return undefined;
  const node = new QueryParser(tokens, text.length).parse();
  // What is sent to other nodes is the formatted query, which may have more quotes and parentheses.
  if (formatQuery(node).length > MAX_QUERY_LENGTH)
    throw queryError({ position: text.length, detail: 'the query is too long: shorten it a little' });
  return node;
}

/** OR binds less than AND, which binds less than NOT. */
class QueryParser {
  readonly #tokens: readonly QueryToken[];
  readonly #end: number;
  #index = 0;
  #groups = 0;
  #terms = 0;
  #regexes = 0;

  constructor(tokens: readonly QueryToken[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  parse(): QueryNode {
    const node = this.#parseOr();
    const rest = this.#tokens[this.#index];
    if (rest) this.#fail(rest.start, 'there is no "(" for this ")"; to search for it, put it in double quotes');
    return node;
  }

  #parseOr(): QueryNode {
    const start = this.#position();
    const nodes = [this.#parseAnd()];
    while (this.#take('or')) nodes.push(this.#parseAnd());
    return this.#join('or', nodes, start);
  }

  #parseAnd(): QueryNode {
    const start = this.#position();
    const nodes = [this.#parseNot()];
    for (;;) {
      const isJoined = this.#take('and');
      const kind = this.#tokens[this.#index]?.kind;
      if (!isJoined && (kind === undefined || kind === 'or' || kind === 'close')) break;
      nodes.push(this.#parseNot());
    }
    return this.#join('and', nodes, start);
  }

  #parseNot(): QueryNode {
    const not = this.#take('not');
    if (!not) return this.#parsePrimary();
    const next = this.#tokens[this.#index];
    if (next?.kind === 'not' && next.start === not.end)
      this.#fail(not.start, 'to search for text that begins with "-", put it in double quotes');
    // Bounded like groups: NOT NOT NOT ... recurses as deep.
    const node = this.#nested(not.start, () => this.#parseNot());
    return this.#checkDepth({ kind: 'not', node }, not.start);
  }

  #parsePrimary(): QueryNode {
    const token = this.#tokens[this.#index];
    if (token?.kind === 'term') {
      this.#index += 1;
      return this.#leaf(token);
    }
    if (token?.kind === 'open') return this.#parseGroup(token);
    return this.#fail(this.#position(), describeMissing(this.#tokens[this.#index - 1], token));
  }

  #parseGroup(open: QueryToken): QueryNode {
    this.#index += 1;
    if (this.#take('close'))
      this.#fail(open.start, 'the parentheses are empty; to search for text with parentheses, put it in double quotes');
    const node = this.#nested(open.start, () => this.#parseOr());
    if (!this.#take('close')) this.#fail(open.start, 'this "(" has no closing ")"');
    return node;
  }

  #leaf(token: TermToken) {
    const { node, problem } = token;
    if (!node) throw queryError(problem ?? { position: token.start, detail: 'this term is not valid' });
    this.#terms += 1;
    if (this.#terms > MAX_QUERY_TERMS) this.#fail(token.start, `more than ${MAX_QUERY_TERMS} terms`);
    if (node.kind === 'regex' || node.kind === 'fieldRegex') this.#regexes += 1;
    if (this.#regexes > MAX_QUERY_REGEXES)
      this.#fail(token.start, `more than ${MAX_QUERY_REGEXES} regular expressions`);
    return node;
  }

  #join(kind: 'and' | 'or', nodes: [QueryNode, ...QueryNode[]] | QueryNode[], start: number): QueryNode {
    const [first] = nodes;
    return first && nodes.length === 1 ? first : this.#checkDepth({ kind, nodes }, start);
  }

  #nested(start: number, parse: () => QueryNode): QueryNode {
    this.#groups += 1;
    if (this.#groups > MAX_QUERY_DEPTH) this.#failDepth(start);
    const node = parse();
    this.#groups -= 1;
    return node;
  }

  #checkDepth(node: QueryNode, start: number): QueryNode {
    if (measureDepth(node) > MAX_QUERY_DEPTH) this.#failDepth(start);
    return node;
  }

  #take(kind: QueryToken['kind']): QueryToken | undefined {
    const token = this.#tokens[this.#index];
    if (token?.kind !== kind) return undefined;
    this.#index += 1;
    return token;
  }

  #position(): number {
    return this.#tokens[this.#index]?.start ?? this.#end;
  }

  #failDepth(position: number): never {
    this.#fail(position, `nested more than ${MAX_QUERY_DEPTH} levels deep`);
  }

  #fail(position: number, detail: QueryProblem['detail']): never {
    throw queryError({ position, detail });
  }
}

/** Levels of NOT, AND and OR. */
function measureDepth(node: QueryNode): number {
  if (node.kind === 'not') return 1 + measureDepth(node.node);
  if (node.kind === 'and' || node.kind === 'or') return 1 + Math.max(...node.nodes.map(measureDepth));
  return 0;
}

const SIGNS = { and: 'AND', or: 'OR', not: 'NOT', open: '(', close: ')' } as const;

function describeMissing(before: QueryToken | undefined, at: QueryToken | undefined): string {
  const sign = at && at.kind !== 'term' ? SIGNS[at.kind] : undefined;
  if (before && before.kind !== 'term' && before.kind !== 'close')
    return `a condition is missing after ${SIGNS[before.kind]}${quoteHint(SIGNS[before.kind])}`;
  return sign === ')' || sign === undefined
    ? 'there is no "(" for this ")"; to search for it, put it in double quotes'
    : `a condition is missing before ${sign}${quoteHint(sign)}`;
}

function quoteHint(sign: string): string {
  return sign === '(' ? '' : `; to search for this word, write "${sign}" with the quotes`;
}

/**
 * The text of a query with one more condition: that it holds, or that it does not. A query that already has it is
 * returned as it is; the opposite condition is replaced. What else the query says is kept as it was written, where
 * possible. Throws QUERY_INVALID for an invalid text, and where the new query exceeds a limit.
 */
export function addTerm(text: string, node: QueryNode, mode: 'include' | 'exclude'): string {
  const added = simplify(mode === 'include' ? node : negate(node));
  const query = parseQuery(text);
  const result = query === undefined ? formatQuery(added) : joinTerm(text.trim(), query, added);
  parseQuery(result);
  return result;
}

function joinTerm(text: string, query: QueryNode, added: QueryNode): string {
  const conditions = query.kind === 'and' ? query.nodes : [query];
  if (conditions.some((each) => isSame(each, added))) return text;
  const opposite = negate(added);
  const others = conditions.filter((each) => !isSame(each, opposite));
  if (others.length < conditions.length) return formatQuery(joinNodes([...others, added]));
  const written = formatOperand(added);
  return query.kind === 'or' ? `(${text}) ${written}` : `${text} ${written}`;
}

function joinNodes(nodes: QueryNode[]): QueryNode {
  const [only] = nodes;
  return only && nodes.length === 1 ? only : { kind: 'and', nodes };
}

function negate(node: QueryNode): QueryNode {
  return node.kind === 'not' ? node.node : { kind: 'not', node };
}

function isSame(one: QueryNode, other: QueryNode): boolean {
  return formatQuery(one) === formatQuery(other);
}

/** Without double negations. */
function simplify(node: QueryNode): QueryNode {
  return node.kind === 'not' && node.node.kind === 'not' ? simplify(node.node.node) : node;
}
