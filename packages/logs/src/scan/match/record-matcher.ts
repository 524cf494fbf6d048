import type { Format, LineHead } from '../../parse/format.ts';
import { LEVELS_BY_RANK } from '../../parse/level.ts';
import { resolveField } from '../../query/field-name.ts';
import { filterToQuery } from '../../query/filter-to-query.ts';
import { fieldTest } from '../../query/match-query.ts';
import type { QueryNode } from '../../query/query-node.ts';
import { regexNodes } from '../../query/query-regexes.ts';
import type { RegexPrefilter } from '../../regex/prefilter.ts';
import type { RecordFilter } from '../../types.ts';
import { compileConjuncts, type RecordTest } from './compile-test.ts';
import { RecordView } from './record-view.ts';
import type { SafeRegex } from './regex.ts';

/** The compiled regex of a condition. */
export type FindRegex = (node: { pattern: string; caseSensitive?: true }) => SafeRegex;

/** Decides whether a record matches. Cheap conditions are tested first. */
export class RecordMatcher {
  readonly filter: RecordFilter;
  /** The lowest level that can match. */
  readonly minRank: number;
  /** 1 for each rank that can match. */
  readonly ranks: Uint8Array;
  readonly fromMs: number;
  readonly toMs: number;
  readonly hasTimes: boolean;
  /** Whether the head alone decides. */
  readonly headOnly: boolean;
  /** Whether a record may take long to test. */
  readonly hasRegex: boolean;
  /** Conditions that must all hold, besides those on the level and the time. */
  readonly conditions: readonly QueryNode[];
  /** Of a regex that every match must contain. */
  readonly prefilter: RegexPrefilter | undefined;
  readonly findRegex: FindRegex | undefined;
  readonly #tests: readonly RecordTest[];
  readonly #view = new RecordView();

  /** Without `findRegex`, conditions that contain a regex are not tested. */
  constructor(filter: RecordFilter, findRegex?: FindRegex) {
    const { fromMs = -Infinity, toMs = Infinity } = filter;
    this.filter = filter;
    const conjuncts = splitConjuncts(filterToQuery(filter));
    const levels = conjuncts.filter(isAboutLevel);
    this.ranks = Uint8Array.from(LEVELS_BY_RANK, (_, rank) => (levels.every((node) => allowsRank(node, rank)) ? 1 : 0));
    this.minRank = this.ranks.includes(1) ? this.ranks.indexOf(1) : this.ranks.length;
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.hasTimes = fromMs !== -Infinity || toMs !== Infinity;
    this.conditions = conjuncts.filter((node) => !levels.includes(node));
    this.headOnly = this.conditions.length === 0;
    this.hasRegex = this.conditions.some((node) => regexNodes(node).length > 0);
    this.findRegex = findRegex;
    const required = this.conditions.find((node) => node.kind === 'regex');
    this.prefilter = required && findRegex?.(required).prefilter;
    const tested = findRegex ? this.conditions : this.conditions.filter((node) => regexNodes(node).length === 0);
    this.#tests = compileConjuncts(tested, findRegex ?? noRegex);
  }

  matchesHead({ timeMs, rank }: LineHead): boolean {
    if (this.ranks[rank] === 0) return false;
    return !this.hasTimes || (timeMs >= this.fromMs && timeMs < this.toMs);
  }

  /** Tests the record `[start, end)`, whose head is known to match. Without a format it has no columns. */
  matchesText(bytes: Buffer, start: number, end: number, format: Format | undefined): boolean {
    if (this.#tests.length === 0) return true;
    const record = this.#view.show(bytes, start, end, format);
    for (const test of this.#tests) if (!test.holds(record)) return false;
    return true;
  }
}

function noRegex(): never {
  throw new Error('a condition with a regex is tested without one');
}

/** The conditions of a query that must all hold. */
export function splitConjuncts(node: QueryNode | undefined): QueryNode[] {
  if (!node) return [];
  return node.kind === 'and' ? node.nodes.flatMap(splitConjuncts) : [node];
}

/** Whether the level alone decides a condition. */
function isAboutLevel(node: QueryNode): boolean {
  switch (node.kind) {
    case 'field':
    case 'exists':
      return isLevel(node.field);
    case 'not':
      return isAboutLevel(node.node);
    case 'and':
    case 'or':
      return node.nodes.every(isAboutLevel);
    default:
      return false;
  }
}

function isLevel(field: string): boolean {
  const ref = resolveField(field);
  return 'column' in ref && ref.column === 'level';
}

function allowsRank(node: QueryNode, rank: number): boolean {
  const level = LEVELS_BY_RANK[rank];
  switch (node.kind) {
    case 'field':
      return fieldTest(node)({ message: '', ...(level && { level }) });
    case 'exists':
      return level !== undefined;
    case 'not':
      return !allowsRank(node.node, rank);
    case 'and':
      return node.nodes.every((each) => allowsRank(each, rank));
    case 'or':
      return node.nodes.some((each) => allowsRank(each, rank));
    default:
      return true;
  }
}
