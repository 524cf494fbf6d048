import { groupFamilies } from '../../file/families.ts';
import type { Needle } from '../../kernel/scan-kernel.ts';
import type { Format, FormatName, LineHead, RecordFields } from '../../parse/format.ts';
import { LEVELS_BY_RANK, levelRank } from '../../parse/level.ts';
import { filterToQuery, regexNodes } from '../../query/filter-to-query.ts';
import { LogSources } from '../../query/log-sources.ts';
import { fieldTest } from '../../query/match-query.ts';
import { resolveField } from '../../query/record-fields.ts';
import type { RegexPrefilter } from '../../regex/prefilter.ts';
import type { FoundRecord, LogSelection, QueryNode, RecordFilter } from '../../types.ts';
import { trimHole } from '../block/nul-holes.ts';
import { spanText } from '../block/record-formatter.ts';
import { compileTests, type RecordTest } from './compile-test.ts';
import { RegexCache, type SafeRegex } from './regex.ts';

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
  /** Made from a regex that every match must contain. */
  readonly prefilter: RegexPrefilter | undefined;
  readonly findRegex: FindRegex | undefined;
  /** Texts of which each match contains one, by the format in which they are written; see `requiredNeedles`. */
  readonly needles = new Map<FormatName, Needle[][]>();
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
    this.#tests = compileTests(tested, findRegex ?? noRegex);
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
function splitConjuncts(node: QueryNode | undefined): QueryNode[] {
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

/** A record to test: its bytes, text and fields, each made when first needed. Reused, as few records match. */
export class RecordView {
  #all: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #format: Format | undefined;
  #bytes: Buffer | undefined;
  #text: string | undefined;
  #fields: RecordFields | undefined;

  /** Shows the record `[start, end)`. Without a format it has no columns: all of it is message. */
  show(bytes: Buffer, start: number, end: number, format: Format | undefined): this {
    this.#all = bytes;
    this.#start = start;
    this.#end = end;
    this.#format = format;
    this.#bytes = undefined;
    this.#text = undefined;
    this.#fields = undefined;
    return this;
  }

  get bytes(): Buffer {
    this.#bytes ??= this.#all.subarray(this.#start, this.#end);
    return this.#bytes;
  }

  get text(): string {
    this.#text ??= this.bytes.toString();
    return this.#text;
  }

  get fields(): RecordFields {
    if (this.#fields) return this.#fields;
    const end = trimHole(this.#all, this.#start, this.#end);
    this.#fields = this.#format?.decode(this.#all, this.#start, end) ?? {
      message: spanText(this.#all, this.#start, end),
    };
    return this.#fields;
  }
}

/**
 * The filter of a search for records that are no longer in a file, using the engine's own matcher, so that a snapshot
 * of a log matches like the log itself. `files` are all file names of the records: they determine the family. Text is
 * searched in `raw`; for a record without it, in its columns. Rejects with REGEX_INVALID. Without regexes, the conditions
 * that contain one are not tested: see `RegexConditions`.
 */
export async function createRecordFilter(
  { src, ...filter }: LogSelection & RecordFilter,
  files: readonly string[],
  { withRegexes = true }: { withRegexes?: boolean } = {},
): Promise<(record: FoundRecord) => boolean> {
  const matcher = new RecordMatcher(filter, withRegexes ? await new RegexCache().compile(filter) : undefined);
  const selected = selectedFiles(new LogSources(src), files);
  return (record) => {
    if (selected && !selected.has(record.file)) return false;
    if (!matcher.matchesHead({ timeMs: record.timeMs ?? Number.NaN, rank: levelRank(record.level) })) return false;
    if (matcher.headOnly) return true;
    const bytes = searchableText(record);
    return matcher.matchesText(bytes, 0, bytes.length, decoded(record));
  };
}

/** The text that text conditions apply to. */
export function searchableText(record: FoundRecord): Buffer {
  return Buffer.from(`${record.raw ?? joinColumns(record)}\n`);
}

/** Those of the selected logs, whose live files may contain none of the records; `undefined`: all. */
function selectedFiles(logs: LogSources, files: readonly string[]): ReadonlySet<string> | undefined {
  if (logs.isAll) return undefined;
  const named = logs.list.flatMap(({ kind, name }) => (kind === 'family' ? [name] : []));
  const families = groupFamilies([...new Set([...files, ...named])]);
  return new Set(
    families.flatMap((family) => family.files.flatMap(({ name }) => (logs.hasFile(name, family.name) ? [name] : []))),
  );
}

/** A format that contains only this record. */
function decoded(record: FoundRecord): Format {
  return { spec: '', name: 'text', timed: true, readHead: () => false, decode: () => record };
}

function joinColumns({ level, source, tags = [], message, context, contextText }: FoundRecord): string {
  const fields = contextText ?? (context && JSON.stringify(context));
  const parts = [level, source, ...tags.map((tag) => `[${tag}]`), message, fields];
  return parts.filter((part) => part !== undefined).join(' ');
}
