import type { FieldOperator } from '@porthole/logs/query';
import { type QueryToken, scanQuery, type TermToken, type TextRange } from './scan-query.ts';

/** What is being typed at a position of a query. A completion replaces the text from `start` to `end`. */
export type QueryContext = TextRange & {
  /** The part of it before the caret, without quotes. */
  typed: string;
} & (
    | { kind: 'value'; field: string; operator: FieldOperator }
    /** `name`: the start of a term, which may become the name of a field or text. `text`: only text, or a regex. */
    | { kind: 'name' | 'operator' | 'text' }
  );

/** For editors: never throws, also if the query is not finished or wrong elsewhere. */
export function queryContext(text: string, caret: number): QueryContext {
  const touching = scanQuery(text).filter(({ start, end }) => start <= caret && caret <= end);
  const token = touching.find(({ kind }) => kind === 'term') ?? touching.find((each) => isWord(each));
  if (token?.kind === 'term' && text.slice(token.start, token.end) !== '-') return termContext(text, caret, token);
  return { kind: 'name', ...(token && token.kind !== 'term' ? typedIn(text, token, caret) : nothing(caret)) };
}

/** AND, OR and NOT, which may also become a name. */
function isWord({ start, end }: QueryToken): boolean {
  return end - start > 1;
}

function nothing(caret: number) {
  return { typed: '', start: caret, end: caret };
}

function typedIn(text: string, { start, end }: TextRange, caret: number) {
  return { typed: text.slice(start, Math.max(start, caret)), start, end };
}

function termContext(text: string, caret: number, term: TermToken): QueryContext {
  const { field, operator, value } = term;
  if (!field || !operator || !value) {
    const isName = /^[A-Za-z_@$][\w.@$-]*$/.test(text.slice(term.start, term.end));
    return { kind: isName ? 'name' : 'text', ...typedIn(text, term, caret) };
  }
  if (caret <= field.end) return { kind: 'name', ...typedIn(text, field, caret) };
  const signEnd = operator.start + text.slice(operator.start, operator.end).trimEnd().length;
  if (caret < signEnd) return { kind: 'operator', ...typedIn(text, { start: field.end, end: operator.end }, caret) };
  return valueContext(text, caret, { ...term, field, operator, value });
}

type Comparison = TermToken & Required<Pick<TermToken, 'field' | 'operator' | 'value'>>;

function valueContext(text: string, caret: number, { field, operator, value, node }: Comparison): QueryContext {
  const { start } = value;
  const isRegex = text[start] === '/' && operator.text === ':';
  const isQuoted = text[start] === '"';
  // What follows an opening quote without a closing one is rather the rest of the query than of the value.
  const end = (isRegex || isQuoted) && !node ? Math.max(start, caret) : value.end;
  const range = { start, end };
  if (isRegex) return { kind: 'text', ...typedIn(text, range, caret) };
  const { typed } = typedIn(text, range, caret);
  const content = isQuoted ? typed.slice(1, node && caret === end ? -1 : undefined) : typed;
  return { kind: 'value', field: field.name, operator: operator.text, ...range, typed: content };
}
