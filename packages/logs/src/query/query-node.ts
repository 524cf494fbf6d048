/*
 * A query as data: what the text of a query is parsed to, and what records are matched against. Plain JSON, so that it
 * can be sent to threads.
 */

type FieldScalar = string | number | boolean | null;

/** The value of a field in a response. A number only where it is written as in the log; a list if there are several. */
export type FieldJson = FieldScalar | FieldScalar[];

/** `=` is, `:` contains as whole words; the others compare numbers, durations, sizes and levels. */
export type FieldOperator = '=' | '!=' | ':' | '<' | '<=' | '>' | '>=';

/** Text that occurs anywhere in the record. */
export interface TextNode {
  kind: 'text';
  text: string;
  /** Absent: ignoring case. */
  caseSensitive?: true;
}

/** RE2 syntax, searched anywhere in the record; `^` and `$` match at its lines. */
export interface RegexNode {
  kind: 'regex';
  pattern: string;
  caseSensitive?: true;
}

/** A field compared with a value. A field with several values matches if one of them does. */
export interface FieldNode {
  kind: 'field';
  field: string;
  operator: FieldOperator;
  /** As written, without quotes and escapes. */
  value: string;
  /** `*` in the value stands for any text; only with `=`, `!=` and `:`. */
  wildcard?: true;
}

/** A field with a value in which the regex matches. */
export interface FieldRegexNode {
  kind: 'fieldRegex';
  field: string;
  pattern: string;
  caseSensitive?: true;
}

/** The record has the field. */
export interface ExistsNode {
  kind: 'exists';
  field: string;
}

export type QueryNode =
  | TextNode
  | RegexNode
  | FieldNode
  | FieldRegexNode
  | ExistsNode
  | { kind: 'not'; node: QueryNode }
  | { kind: 'and'; nodes: readonly QueryNode[] }
  | { kind: 'or'; nodes: readonly QueryNode[] };
