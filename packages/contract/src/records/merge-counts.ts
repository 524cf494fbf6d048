import type {
  DigestBaseline,
  DigestQuery,
  FieldSummary,
  Fields,
  FieldType,
  Histogram,
  HistogramBucket,
  Top,
  TopValue,
} from '@porthole/logs/types';
import type { ClusterDigest } from '../cluster-state.ts';
import type { MemberReport, MemberSelection } from '../member.ts';

/** Records of each node, by its id. */
type Nodes = Record<string, number>;

/**
 * Whose counts are merged: its id in `nodes` of the result; `null` if they are those of several, which are in `nodes` of
 * them. Responses of members are untrusted: they have an id.
 */
type SourceId = string | null;

/** The counts of one log or member, by its own clock, in buckets at most as wide as the merged ones. */
export interface BucketSource {
  id: SourceId;
  /** To take off this time of its clock. */
  offsetAt(timeMs: number): number;
  histogram: Pick<Histogram, 'bucketMs'> & { buckets: readonly (HistogramBucket & { nodes?: Nodes })[] };
}

export interface BucketGrid {
  bucketMs: number;
  /** Nothing outside of this range is returned: its first and last buckets take what is. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

export interface MergedBucket extends HistogramBucket {
  nodes: Nodes;
}

type Counts = HistogramBucket['counts'];

/**
 * Histograms added up in common buckets, in the order of time. A bucket counts where its middle falls: wrong by at most
 * half its width.
 */
export function mergeBuckets(
  sources: readonly BucketSource[],
  { bucketMs, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY }: BucketGrid,
): MergedBucket[] {
  const first = Math.floor(fromMs / bucketMs);
  const last = Math.ceil(toMs / bucketMs) - 1;
  const merged = new Map<number, { counts: Map<keyof Counts, number>; nodes: Map<string, number> }>();
  for (const { id, offsetAt, histogram } of sources)
    for (const { startMs, counts, nodes } of histogram.buckets) {
      const memberMs = startMs + histogram.bucketMs / 2;
      const middleMs = memberMs - offsetAt(memberMs);
      const index = Math.min(Math.max(Math.floor(middleMs / bucketMs), first), last);
      const bucket = merged.get(index) ?? { counts: new Map(), nodes: new Map() };
      merged.set(index, bucket);
      for (const [level, count] of Object.entries(counts) as [keyof Counts, number][]) {
        add(bucket.counts, level, count);
        if (id !== null) add(bucket.nodes, id, count);
      }
      if (id === null) addNodes(bucket.nodes, id, 0, nodes);
    }
  return [...merged]
    .sort(([a], [b]) => a - b)
    .map(([index, { counts, nodes }]) => ({
      startMs: index * bucketMs,
      counts: Object.fromEntries(counts) as Counts,
      nodes: Object.fromEntries(nodes),
    }));
}

function add<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function addNodes(sums: Map<string, number>, id: SourceId, count: number, nodes: Nodes = {}): void {
  for (const [node, own] of id === null ? Object.entries(nodes) : [[id, count] as const]) add(sums, node, own);
}

/** The time range that all of them have counted; `null` is all of it. */
export function sharedRange(ranges: readonly (CountedRange | null)[]): CountedRange | null {
  const partial = ranges.filter((range) => range !== null);
  if (partial.length === 0) return null;
  const fromMs = Math.max(...partial.map((range) => range.fromMs));
  return { fromMs, toMs: Math.max(fromMs, Math.min(...partial.map((range) => range.toMs))) };
}

interface CountedRange {
  fromMs: number;
  toMs: number;
}

/** The fields of one log or member. */
export interface FieldsSource {
  id: SourceId;
  fields: Pick<Fields, 'totalFields' | 'records' | 'isSample'> & {
    fields: readonly (FieldSummary & { nodes?: Nodes })[];
  };
}

export interface MergedField extends FieldSummary {
  nodes: Nodes;
}

/** Values shown of a field. */
const MAX_EXAMPLES = 10;

type MergedFields = Omit<FieldsSource['fields'], 'fields'> & { fields: MergedField[] };

/** A field as each source that has it describes it. */
type FieldParts = { id: SourceId; field: FieldsSource['fields']['fields'][number] }[];

/** The fields of several logs or members, none of which is part of another; those of the most records first. */
export function mergeFields(sources: readonly FieldsSource[], { limit }: { limit: number }): MergedFields {
  const merged = new Map<string, FieldParts>();
  for (const { id, fields } of sources)
    for (const field of fields.fields) merged.set(field.name, [...(merged.get(field.name) ?? []), { id, field }]);
  const all = [...merged].map(([name, parts]) => mergeField(name, parts)).sort(compareFields);
  return {
    fields: all.slice(0, limit),
    // Which of its other fields a source shares with others is not known.
    totalFields: Math.max(all.length, ...sources.map(({ fields }) => fields.totalFields)),
    records: sources.reduce((sum, { fields }) => sum + fields.records, 0),
    isSample: sources.some(({ fields }) => fields.isSample),
  };
}

function compareFields(a: FieldSummary, b: FieldSummary): number {
  return b.records - a.records || (a.name < b.name ? -1 : 1);
}

function mergeField(name: string, parts: FieldParts): MergedField {
  const fields = parts.map(({ field }) => field);
  const nodes = new Map<string, number>();
  for (const { id, field } of parts) addNodes(nodes, id, field.records, field.nodes);
  return {
    name,
    types: mergeTypes(fields),
    records: fields.reduce((sum, { records }) => sum + records, 0),
    ...mergeDistinct(fields),
    examples: mergeExamples(fields),
    nodes: Object.fromEntries(nodes),
  };
}

/** Sources may have the same values or others, which is known only of those that show all of theirs. */
function mergeDistinct(fields: readonly FieldSummary[]): Pick<FieldSummary, 'distinct' | 'isDistinctExact'> {
  const [only] = fields;
  if (only && fields.length === 1) return { distinct: only.distinct, isDistinctExact: only.isDistinctExact };
  const shown = new Set(fields.flatMap(({ examples }) => examples)).size;
  if (fields.every(showsAll)) return { distinct: shown, isDistinctExact: true };
  return { distinct: Math.max(shown, ...fields.map(({ distinct }) => distinct)), isDistinctExact: false };
}

/** Several values that were cut may look the same. */
function showsAll({ distinct, isDistinctExact, examples }: FieldSummary): boolean {
  return isDistinctExact && examples.length === distinct && !examples.some((example) => example.endsWith('…'));
}

/** By how many records of sources have the type first. */
function mergeTypes(fields: readonly FieldSummary[]): FieldType[] {
  const weights = new Map<FieldType, number>();
  for (const { types, records } of fields)
    for (const [rank, type] of types.entries()) weights.set(type, (weights.get(type) ?? 0) + records / (rank + 1));
  return [...weights].sort(([, a], [, b]) => b - a).map(([type]) => type);
}

/** The first of each source, then the second of each, and so on. */
function mergeExamples(fields: readonly FieldSummary[]): string[] {
  const examples = new Set<string>();
  const most = Math.max(...fields.map((field) => field.examples.length));
  for (let rank = 0; rank < most; rank++)
    for (const field of fields) {
      const example = field.examples[rank];
      if (example !== undefined) examples.add(example);
    }
  return [...examples].slice(0, MAX_EXAMPLES);
}

/** The counts of one log or member. */
export interface TopSource extends MergedSource {
  id: string;
}

interface MergedSource {
  id: SourceId;
  top: Pick<Top, 'others' | 'missing' | 'distinct' | 'isExact'> & { values: readonly (TopValue & { nodes?: Nodes })[] };
}

interface MergeTopOptions {
  limit: number;
  /** Whether only given values were counted: one that a source does not list does not occur there. */
  areGiven: boolean;
}

export interface MergedValue extends TopValue {
  nodes: Nodes;
}

type MergedTop = Omit<TopSource['top'], 'values'> & { values: MergedValue[] };

/** A value while it is merged. */
interface Merging {
  count: number;
  error: number;
  nodes: Map<string, number>;
  /** Those that list it. */
  sources: Set<MergedSource>;
}

/**
 * Adds up the counts of several logs or members, none of which is part of another. One that lists all of its values is
 * exact. A value that is missing in the list of another one may occur there as often as the last one listed: that is
 * added to its `error`.
 */
export function mergeTop(tops: readonly MergedSource[], { limit, areGiven }: MergeTopOptions): MergedTop {
  const merged = new Map<string, Merging>();
  for (const source of tops) for (const value of source.top.values) addValue(merged, source, value);
  for (const source of tops) {
    const mostUnlisted = areGiven ? 0 : boundUnlisted(source.top);
    if (mostUnlisted === 0) continue;
    for (const value of merged.values()) if (!value.sources.has(source)) value.error += mostUnlisted;
  }
  const ranked = [...merged]
    .map(([value, { count, error, nodes }]): MergedValue => {
      return { value, count, ...(error > 0 && { error }), nodes: Object.fromEntries(nodes) };
    })
    .sort(compareValues);
  const values = ranked.slice(0, limit);
  const counted = sum(tops, ({ top }) => sum(top.values, ({ count }) => count) + top.others);
  return {
    values,
    others: counted - sum(values, ({ count }) => count),
    missing: sum(tops, ({ top }) => top.missing),
    distinct: Math.max(merged.size, ...tops.map(({ top }) => top.distinct)),
    isExact: isMergeExact(tops, areGiven),
  };
}

/** Ordered by count, equal counts by value, as a node orders them. */
export function compareValues(a: TopValue, b: TopValue): number {
  return b.count - a.count || (a.value < b.value ? -1 : 1);
}

function addValue(
  merged: Map<string, Merging>,
  source: MergedSource,
  { value, count, error = 0, nodes }: TopSource['top']['values'][number],
): void {
  const known = merged.get(value) ?? { count: 0, error: 0, nodes: new Map(), sources: new Set() };
  merged.set(value, known);
  known.count += count;
  known.error += error;
  known.sources.add(source);
  addNodes(known.nodes, source.id, count, nodes);
}

/** The counts over time of one log or member, by its own clock. */
export interface TopOverTime {
  id: SourceId;
  /** To take off this time of its clock. */
  offsetAt(timeMs: number): number;
  top: Pick<Top, 'bucketMs'> & { values: readonly TopValue[] };
}

/** The values with their counts over time. */
export function addBuckets<Value extends TopValue>(
  values: readonly Value[],
  tops: readonly TopOverTime[],
  grid: BucketGrid,
): Value[] {
  const byValue = new Map(values.map(({ value }) => [value, [] as BucketSource[]]));
  for (const { id, offsetAt, top } of tops) {
    const { bucketMs = grid.bucketMs } = top;
    for (const { value, buckets = [] } of top.values) {
      // Values have no levels.
      const counts = buckets.map(({ startMs, count }) => ({ startMs, counts: { NONE: count } }));
      byValue.get(value)?.push({ id, offsetAt, histogram: { bucketMs, buckets: counts } });
    }
  }
  return values.map((value) => {
    const sources = byValue.get(value.value) ?? [];
    if (sources.length === 0) return value;
    const merged = mergeBuckets(sources, grid);
    return { ...value, buckets: merged.map(({ startMs, counts }) => ({ startMs, count: counts.NONE ?? 0 })) };
  });
}

/** How many records may have a value that the source does not list. */
function boundUnlisted({ values, others }: TopSource['top']): number {
  const last = values.at(-1);
  if (last === undefined) return others;
  const mostError = values.reduce((most, { error = 0 }) => Math.max(most, error), 0);
  return Math.min(others, last.count + mostError);
}

/** If only one source has values at all, its list is the result, however long it is. */
function isMergeExact(tops: readonly MergedSource[], areGiven: boolean): boolean {
  if (!tops.every(({ top }) => top.isExact)) return false;
  const withValues = tops.filter(({ top }) => top.values.length > 0 || top.others > 0);
  return areGiven || withValues.length <= 1 || withValues.every(({ top }) => top.others === 0);
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}

/* Which groups are new is known from those of all records before that time. */

type NewQuery = DigestQuery & MemberSelection & { newSinceMs: number };

/** Asks for the groups that the groups of a request are compared with. */
export function pastRequest(request: NewQuery, limit: number): DigestQuery & MemberSelection {
  const { fromMs: _fromMs, newSinceMs, onlyNew: _onlyNew, floors: _floors, ...query } = request;
  return { ...query, toMs: newSinceMs, limit };
}

/** What that response is worth: the groups of the past, and of whom some may be missing. */
export function readPast(
  { groups, totalGroups, ungrouped, members, archive }: Omit<ClusterDigest, 'baseline'>,
  newSinceMs: number,
): { past: { newSinceMs: number; groups: ClusterDigest['groups']; unread: string[] }; baseline: DigestBaseline } {
  const gaps = new Map<string, string>();
  for (const report of members)
    if (!wasRead(report, newSinceMs)) gaps.set(report.id, `${report.id}: ${report.detail ?? report.outcome}`);
  if (archive?.problem) gaps.set('', `archive: ${archive.problem}`);
  if (gaps.size === 0 && (totalGroups > groups.length || ungrouped > 0)) gaps.set('', 'too many groups');
  const fromMs = groups.reduce((first, group) => Math.min(first, group.firstMs ?? Infinity), Infinity);
  return {
    past: { newSinceMs, groups, unread: [...gaps.keys()] },
    baseline: {
      fromMs: Number.isFinite(fromMs) ? fromMs : null,
      isComplete: gaps.size === 0,
      ...(gaps.size > 0 && { detail: shorten([...gaps.values()]) }),
    },
  };
}

/** The archive is all there is of a node that no longer exists. */
function wasRead({ outcome, isPartial, archive }: MemberReport, newSinceMs: number): boolean {
  if (isPartial) return false;
  if (outcome === 'ok' || !archive) return outcome === 'ok';
  return outcome === 'left' || outcome === 'gone' || (archive.shippedToMs ?? -Infinity) >= newSinceMs;
}

const NAMED_GAPS = 3;

function shorten(gaps: readonly string[]): string {
  const more = gaps.length - NAMED_GAPS;
  return `${gaps.slice(0, NAMED_GAPS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
