import { parser } from '@grafana/lezer-logql';
import type { SyntaxNode } from '@lezer/common';
import { formatQuery, PortholeError, parseQuery } from '@porthole/contract';
import { escapeRegex, type FieldOperator, LEVELS, type QueryNode } from '@porthole/logs/query';
import { RE2JS } from 're2js';

/*
 * LogQL, parsed by the grammar of Grafana. What is supported becomes a query of the engine, which alone decides what
 * matches; everything else is refused by name, so that nothing is silently left out.
 */

/** Labels of every stream; others are the labels of its node. */
export const STREAM_LABELS = ['cluster', 'node', 'role', 'log', 'level'] as const;

/** A condition on labels that a selector has in its braces. */
export interface LabelMatcher {
  name: string;
  /** Whether a value fits; an absent label has the empty value. */
  test(value: string): boolean;
}

/** A selector and its pipeline. */
export interface LogqlLogs {
  /** Conditions on labels of nodes, and on the log. */
  matchers: readonly LabelMatcher[];
  /** Conditions on records. */
  query: QueryNode | undefined;
  /** Whether there is a parser: the fields of records become labels. */
  hasFields: boolean;
  /** Names that are compared in the pipeline. */
  filteredFields: ReadonlySet<string>;
}

export interface LogqlMetric {
  kind: 'metric';
  logs: LogqlLogs;
  rangeMs: number;
  /** `rate` instead of `count_over_time`. */
  isRate: boolean;
  /** The labels of the results; `undefined`: those of the streams. */
  by: readonly string[] | undefined;
  /** Only this many series, the largest. */
  top: number | undefined;
}

export type LogqlQuery =
  | { kind: 'logs'; logs: LogqlLogs }
  | LogqlMetric
  /** What Grafana checks a data source with. */
  | { kind: 'constant'; value: number };

/** In UTF-16 units; the grammar reads any text in time that grows with its length. */
const MAX_LENGTH = 4096;

/** Also those in strings. The grammar follows several readings of each until it is closed: thousands take long. */
const MAX_PARENTHESES = 200;

/** Levels of parentheses and operators. */
const MAX_DEPTH = 20;

const MAX_MATCHERS = 20;

/** Label names and values are tested by the main thread: a regex of this size takes less than a millisecond for each. */
const MAX_LABEL_REGEX_STEPS = 256;

/** Parses a query. Throws QUERY_INVALID for what is wrong, and for what is not supported, with its name. */
export function parseLogql(text: string): LogqlQuery {
  const expression = child(parseTree(text), 'Expr');
  const metric = expression?.getChild('MetricExpr');
  if (metric) return new LogqlReader(text).metric(metric);
  return { kind: 'logs', logs: new LogqlReader(text).logs(expression?.getChild('LogExpr')) };
}

/** Only the braces of a query: `{log="a.log"}`; an empty text selects all. */
export function parseSelector(text: string): LogqlLogs {
  if (text.trim() === '' || /^\s*\{\s*\}\s*$/.test(text))
    return { matchers: [], query: undefined, hasFields: false, filteredFields: new Set() };
  const query = parseLogql(text);
  if (query.kind !== 'logs') throw invalid(`expected a selector like {log="a.log"}, not a metric query`);
  return query.logs;
}

/** Without recovering from errors, which takes seconds for a text that is nothing but errors. */
const STRICT = parser.configure({ strict: true });

function parseTree(text: string): SyntaxNode {
  if (text.length > MAX_LENGTH)
    throw invalid(`the query has ${text.length} characters; at most ${MAX_LENGTH} are allowed`);
  if (text.split('(').length > MAX_PARENTHESES) throw invalid(`more than ${MAX_PARENTHESES} parentheses`);
  try {
    return STRICT.parse(text).topNode;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The position is only in the message.
    const at = Number(/\d+$/.exec(error.message)?.[0] ?? text.length);
    const found = text.slice(at, at + 20).trim();
    throw invalid(
      `syntax error at character ${at + 1}${found === '' ? ': unexpected end' : `, near ${JSON.stringify(found)}`}`,
    );
  }
}

/** Labels by which Loki reports that a parser has failed. No record here has them. */
const ERROR_LABELS: ReadonlySet<string> = new Set(['__error__', '__error_details__']);

const LEVEL_LABELS: ReadonlySet<string> = new Set(['level', 'detected_level']);

class LogqlReader {
  readonly #text: string;
  readonly #filteredFields = new Set<string>();
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  metric(given: SyntaxNode): LogqlQuery {
    const node = only(given);
    switch (node.name) {
      case 'MetricExpr':
        return this.#nested(() => this.metric(node));
      case 'RangeAggregationExpr':
        return this.#range(node);
      case 'VectorAggregationExpr':
        return this.#aggregation(node);
      case 'VectorExpr':
      case 'BinOpExpr':
        return { kind: 'constant', value: this.#constant(node) };
      default:
        throw unsupported(this.#textOf(node));
    }
  }

  #range(node: SyntaxNode): LogqlMetric {
    const operation = this.#textOf(child(node, 'RangeOp'));
    if (operation !== 'count_over_time' && operation !== 'rate') throw unsupported(operation);
    const grouping = node.getChild('Grouping');
    if (grouping) throw unsupported(`"${this.#textOf(grouping)}" of ${operation}`);
    const range = child(node, 'LogRangeExpr');
    const offset = range.getChild('OffsetExpr') ?? range.getChild('UnwrapExpr');
    if (offset) throw unsupported(this.#textOf(offset));
    const rangeMs = parseDuration(this.#textOf(child(child(range, 'Range'), 'Duration')));
    if (rangeMs <= 0) throw invalid('the range must be longer than 0');
    return {
      kind: 'metric',
      logs: this.logs(range),
      rangeMs,
      isRate: operation === 'rate',
      by: undefined,
      top: undefined,
    };
  }

  #aggregation(node: SyntaxNode): LogqlMetric {
    const operation = this.#textOf(child(node, 'VectorOp'));
    const inner = this.#nested(() => this.metric(child(node, 'MetricExpr')));
    const grouping = node.getChild('Grouping');
    if (inner.kind !== 'metric') throw unsupported(`${operation} of a constant`);
    if (grouping?.getChild('Without')) throw unsupported('without');
    if (operation === 'sum') {
      if (inner.by !== undefined || inner.top !== undefined) throw unsupported('an aggregation of an aggregation');
      return { ...inner, by: grouping ? this.#labels(grouping) : [] };
    }
    if (operation !== 'topk') throw unsupported(operation);
    if (grouping) throw unsupported('topk with a grouping');
    if (inner.top !== undefined) throw unsupported('topk of topk');
    const top = Number(this.#textOf(child(node, 'Number')));
    if (!Number.isInteger(top) || top < 1) throw invalid('topk needs a positive whole number');
    return { ...inner, top };
  }

  #labels(grouping: SyntaxNode): string[] {
    const names: string[] = [];
    grouping.cursor().iterate((node) => {
      if (node.name === 'Identifier') names.push(this.#textOf(node));
    });
    return [...new Set(names)];
  }

  /** `vector(1)+vector(1)`. */
  #constant(given: SyntaxNode): number {
    const node = given.name === 'Expr' || given.name === 'MetricExpr' ? only(given) : given;
    if (node !== given) return this.#nested(() => this.#constant(node));
    if (node.name === 'VectorExpr') return Number(this.#textOf(child(node, 'Number')));
    const isSum = node.name === 'BinOpExpr' && node.getChild('Add') && !node.getChild('BinOpModifier')?.firstChild;
    if (!isSum) throw unsupported(this.#textOf(node));
    const [left, right] = node.getChildren('Expr');
    if (!left || !right) throw unsupported(this.#textOf(node));
    return this.#nested(() => this.#constant(left) + this.#constant(right));
  }

  logs(node: SyntaxNode | null | undefined): LogqlLogs {
    const inner = node?.getChild('LogExpr');
    if (inner) return this.#nested(() => this.logs(inner));
    if (!node?.getChild('Selector')) throw invalid('expected a selector like {log="a.log"}');
    const matchers: LabelMatcher[] = [];
    const conditions: QueryNode[] = [];
    for (const { name, operator, value } of this.#matchers(child(node, 'Selector'))) {
      const test = labelTest(operator, value);
      if (LEVEL_LABELS.has(name)) conditions.push(...levelCondition(test));
      else matchers.push({ name, test });
    }
    let hasFields = false;
    for (const stage of this.#stages(node.getChild('PipelineExpr'))) {
      if (isParser(stage)) hasFields = true;
      else conditions.push(...this.#stage(stage, hasFields));
    }
    // The limits of queries hold for this one, too: members are sent its text.
    const query = parseQuery(formatQuery({ kind: 'and', nodes: conditions }));
    return { matchers, query, hasFields, filteredFields: this.#filteredFields };
  }

  #matchers(selector: SyntaxNode): { name: string; operator: string; value: string }[] {
    const found: { name: string; operator: string; value: string }[] = [];
    selector.cursor().iterate((node) => {
      if (node.name === 'Matcher') found.push(this.#matcher(node.node));
    });
    if (found.length > MAX_MATCHERS) throw invalid(`more than ${MAX_MATCHERS} conditions in the braces`);
    return found;
  }

  #matcher(node: SyntaxNode) {
    const operator = this.#textOf(node.childAfter(child(node, 'Identifier').to));
    return { name: this.#name(node), operator, value: this.#string(child(node, 'String')) };
  }

  /** In the order in which they are written: the pipeline is nested to the left. */
  #stages(pipeline: SyntaxNode | null): SyntaxNode[] {
    const stages: SyntaxNode[] = [];
    for (let rest = pipeline; rest; rest = rest.getChild('PipelineExpr')) {
      const stage = rest.getChild('PipelineStage');
      if (stage) stages.push(stage.getChild('LineFilters') ?? (stage.lastChild as SyntaxNode));
    }
    return stages.reverse();
  }

  #stage(stage: SyntaxNode, hasFields: boolean): QueryNode[] {
    if (stage.name === 'LineFilters') return this.#lineFilters(stage);
    if (stage.name === 'LabelFilter') return this.#labelFilter(stage, hasFields);
    if (stage.name === 'DropLabelsExpr') {
      const dropped = this.#textOf(stage.getChild('DropLabels'));
      if (dropped.split(',').every((name) => ERROR_LABELS.has(name.trim()))) return [];
      throw unsupported('drop');
    }
    throw unsupported(this.#textOf(stage));
  }

  #lineFilters(node: SyntaxNode): QueryNode[] {
    const filters: SyntaxNode[] = [];
    for (let rest: SyntaxNode | null = node; rest; rest = rest.getChild('LineFilters')) {
      const filter = rest.getChild('LineFilter');
      if (filter) filters.push(filter);
    }
    return filters.reverse().flatMap((filter) => this.#lineFilter(filter));
  }

  #lineFilter(node: SyntaxNode): QueryNode[] {
    const operator = this.#textOf(child(node, 'Filter'));
    const func = node.getChild('FilterOp');
    if (func) throw unsupported(`${this.#textOf(func)}()`);
    const isRegex = operator === '|~' || operator === '!~';
    if (!isRegex && operator !== '|=' && operator !== '!=') throw unsupported(operator);
    const texts: string[] = [];
    node.cursor().iterate((each) => {
      if (each.name === 'String') texts.push(this.#string(each.node));
    });
    const isNot = operator.startsWith('!');
    // The query builder of Grafana begins with an empty filter.
    if (texts.includes('')) {
      if (isNot) throw unsupported(`${operator} ""`);
      return [];
    }
    const alternatives = texts.map(
      (text): QueryNode =>
        isRegex
          ? { kind: 'regex', pattern: wholeText(text), caseSensitive: true }
          : { kind: 'text', text, caseSensitive: true },
    );
    const alternative = joined('or', alternatives);
    return [isNot ? { kind: 'not', node: alternative } : alternative];
  }

  #labelFilter(node: SyntaxNode, hasFields: boolean): QueryNode[] {
    const parts = node.getChildren('LabelFilter');
    if (parts.length > 0) {
      const nodes = parts.map((part) => this.#nested(() => joined('and', this.#labelFilter(part, hasFields))));
      return [joined(node.getChild('Or') ? 'or' : 'and', nodes)];
    }
    const filter = only(node);
    if (filter.name === 'Matcher') return this.#matcherFilter(filter, hasFields);
    if (filter.name === 'NumberFilter') return [this.#comparison(filter, hasFields)];
    if (filter.name === 'UnitFilter') return [this.#comparison(only(filter), hasFields)];
    throw unsupported(this.#textOf(filter));
  }

  #matcherFilter(node: SyntaxNode, hasFields: boolean): QueryNode[] {
    const { name, operator, value } = this.#matcher(node);
    const test = labelTest(operator, value);
    if (ERROR_LABELS.has(name)) {
      if (test('')) return [];
      throw unsupported(`${name} other than empty`);
    }
    if (LEVEL_LABELS.has(name)) return levelCondition(test);
    const fields = this.#fieldNames(name, hasFields);
    const pattern = `\\A(?:${operator.endsWith('~') ? value : escapeRegex(value)})\\z`;
    const isNot = operator.startsWith('!');
    // An absent label has the empty value.
    const fitsAbsent = test('') !== isNot;
    const holds = fields.map((field): QueryNode => ({ kind: 'fieldRegex', field, pattern, caseSensitive: true }));
    const absent = fields.map((field): QueryNode => ({ kind: 'not', node: { kind: 'exists', field } }));
    const fits = joined('or', fitsAbsent ? [...holds, joined('and', absent)] : holds);
    return [isNot ? { kind: 'not', node: fits } : fits];
  }

  #comparison(node: SyntaxNode, hasFields: boolean): QueryNode {
    const name = this.#name(node);
    if (LEVEL_LABELS.has(name)) throw unsupported('a level compared with a number');
    const fields = this.#fieldNames(name, hasFields);
    // The grammar has no other signs than those of the engine, and `==`.
    const sign = this.#textOf(node.childAfter(child(node, 'Identifier').to));
    const operator = (sign === '==' ? '=' : sign) as FieldOperator;
    const value = quantityText(this.#textOf(node.lastChild));
    return joined(
      'or',
      fields.map((field): QueryNode => ({ kind: 'field', field, operator, value })),
    );
  }

  #fieldNames(label: string, hasFields: boolean): string[] {
    if ((STREAM_LABELS as readonly string[]).includes(label))
      throw unsupported(`"${label}" behind a pipe: put it into the braces`);
    if (!hasFields) throw invalid(`the label "${label}" is not known: put "| json" or "| logfmt" before it`);
    this.#filteredFields.add(label);
    return fieldsOf(label);
  }

  #name(node: SyntaxNode): string {
    return this.#textOf(child(node, 'Identifier'));
  }

  #string(node: SyntaxNode): string {
    const text = this.#textOf(node);
    if (text.length >= 2 && text.startsWith('`') && text.endsWith('`')) return text.slice(1, -1);
    try {
      return JSON.parse(text) as string;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw invalid(`${text.slice(0, 40)} is not a string: use backticks for text with backslashes`);
    }
  }

  #textOf(node: { from: number; to: number } | null | undefined): string {
    return node ? this.#text.slice(node.from, node.to) : '';
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw invalid(`nested more than ${MAX_DEPTH} levels deep`);
    const result = read();
    this.#depth--;
    return result;
  }
}

/** Every subset of so many underscores is tried as dots; of more, none and all. */
const MAX_DOTS = 2;

/** The fields that a label may be. It cannot have a dot: `user_id` is the field of that name, or `user.id`. */
export function fieldsOf(label: string): string[] {
  // What a JSON line calls so is the message of its record.
  if (label === 'msg') return [label, 'message'];
  const dots = [...label.matchAll(/(?<=[^_])_(?=[^_])/g)].map(({ index }) => index);
  const withDots = (positions: readonly number[]) =>
    [...label].map((letter, index) => (positions.includes(index) ? '.' : letter)).join('');
  if (dots.length > MAX_DOTS) return [label, withDots(dots)];
  const subsets: number[][] = [[]];
  for (const dot of dots) subsets.push(...subsets.map((some) => [...some, dot]));
  return subsets.map(withDots);
}

/** `json` and `logfmt` mean the same here: the engine knows how to read a line. */
function isParser(stage: SyntaxNode): boolean {
  if (stage.name === 'LogfmtParser') return !stage.getChild('LogfmtParserFlags');
  return stage.name === 'LabelParser' && stage.getChild('Json') !== null;
}

function labelTest(operator: string, value: string): (value: string) => boolean {
  if (operator === '=') return (each) => each === value;
  if (operator === '!=') return (each) => each !== value;
  const regex = compileLabelRegex(value);
  return operator === '=~' ? (each) => regex.matches(each) : (each) => !regex.matches(each);
}

function compileLabelRegex(pattern: string): RE2JS {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern, RE2JS.DOTALL);
  } catch (error) {
    throw new PortholeError('REGEX_INVALID', `invalid regular expression ${JSON.stringify(pattern.slice(0, 100))}`, {
      cause: error,
    });
  }
  if (regex.programSize() > MAX_LABEL_REGEX_STEPS)
    throw new PortholeError('REGEX_TOO_COMPLEX', 'a regular expression for a label is too complex: shorten it');
  return regex;
}

/** There are only a few levels: those that fit are listed. */
function levelCondition(test: (value: string) => boolean): QueryNode[] {
  const fitting = LEVELS.map((name) => name.toLowerCase()).filter(test);
  const nodes: QueryNode[] = fitting.map((value) => ({ kind: 'field', field: 'level', operator: '=', value }));
  if (test('')) nodes.push({ kind: 'not', node: { kind: 'exists', field: 'level' } });
  if (nodes.length > LEVELS.length) return [];
  return [nodes.length === 0 ? NOTHING : joined('or', nodes)];
}

/** No record has this. */
const NOTHING: QueryNode = {
  kind: 'and',
  nodes: [
    { kind: 'exists', field: 'level' },
    { kind: 'not', node: { kind: 'exists', field: 'level' } },
  ],
};

function joined(kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode {
  const [first] = nodes;
  return first && nodes.length === 1 ? first : { kind, nodes };
}

/** `^` and `$` of LogQL are the ends of the record, those of the engine the ends of its lines. */
function wholeText(pattern: string): string {
  return /[\^$]/.test(pattern) ? `(?-m:${pattern})` : pattern;
}

/** Sizes are written in any case in LogQL. */
function quantityText(text: string): string {
  const size = /^(\d+)([kmgtpe]?)(i?)b$/i.exec(text);
  if (!size) return text;
  const [, count = '', prefix = '', binary = ''] = size;
  return `${count}${prefix.toUpperCase()}${binary.toLowerCase()}B`;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** `1h30m`, in milliseconds; QUERY_INVALID if it is no duration. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdwy])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw invalid(`${JSON.stringify(text.slice(0, 40))} is not a duration like 5m`);
  return Math.round(parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS_MS[unit] ?? 0), 0));
}

function child(node: SyntaxNode, name: string): SyntaxNode {
  const found = node.getChild(name);
  if (!found) throw invalid(`expected ${name} at character ${node.from + 1}`);
  return found;
}

/** Without parentheses, which are no nodes. */
function only(node: SyntaxNode): SyntaxNode {
  if (!node.firstChild) throw invalid(`syntax error at character ${node.from + 1}`);
  return node.firstChild;
}

function invalid(detail: string): PortholeError {
  return new PortholeError('QUERY_INVALID', `invalid LogQL: ${detail}`);
}

function unsupported(what: string): PortholeError {
  return new PortholeError('QUERY_INVALID', `not supported here: ${what.slice(0, 100)} (see docs/loki.md)`);
}
