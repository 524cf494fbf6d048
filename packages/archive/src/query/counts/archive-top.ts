import {
  type ClusterTop,
  compareValues,
  LEVELS,
  type MemberSelection,
  mergeTop,
  type TopSource,
} from '@porthole/contract';
import { boundedValue, shownValue, ValueCounts } from '@porthole/logs';
import { type BuiltInField, canonicalField, type FieldRef, refValues, resolveField } from '@porthole/logs/query';
import type { TopQuery, TopValue } from '@porthole/logs/types';
import { quote, quoteInteger } from '../../clickhouse/quote.ts';
import { type ArchiveOptions, type PreparedQuery, prepareQuery, type QueryDeps } from '../prepare-query.ts';
import { joined, plainLeaf } from '../query-to-sql.ts';
import { NodeTally } from '../reports.ts';
import { MESSAGE, TAGS } from '../row-columns.ts';
import { bucketOf, chooseWidth, countWindows, matchingRows } from '../windows.ts';

/** Desired buckets if only a width is requested. */
const DEFAULT_BUCKETS = 100;

/** Buckets of a response, of all values together. */
const MAX_BUCKETS_OF_ALL = 100_000;

/** Counts of archived records by value of a field: in SQL where it can read the field, by the engine elsewhere. */
export async function archiveTop(
  deps: QueryDeps,
  request: TopQuery & MemberSelection,
  options: ArchiveOptions = {},
): Promise<ClusterTop> {
  const prepared = await prepareQuery(deps, request, options);
  const { by, limit, values, buckets, bucketMs: width } = request;
  const shown = Math.max(1, Math.min(limit, values?.length ?? limit));
  const maxBuckets = Math.max(1, Math.floor(MAX_BUCKETS_OF_ALL / shown));
  const bucketMs =
    buckets === undefined && width === undefined
      ? undefined
      : await chooseWidth(prepared, { ...request, buckets: buckets ?? DEFAULT_BUCKETS, maxBuckets });
  const tally = new NodeTally();
  const { bySql, byEngine } = planTop(prepared, by);
  const wanted = values && new Set(values.map(toShown));
  const inSql = bySql && new SqlValues(prepared, bySql, wanted);
  const inEngine =
    byEngine === undefined ? undefined : new EngineValues(prepared, { ref: resolveField(by), wanted, bucketMs });
  const counted = await countWindows(prepared, options, async (isInside) => {
    await inSql?.count(isInside);
    if (byEngine !== undefined) await inEngine?.count(isInside, { where: byEngine, tally });
  });
  const areGiven = values !== undefined;
  const tops = joinTops([...(inSql?.tops() ?? []), ...(inEngine?.tops() ?? [])], areGiven);
  for (const { id, top } of tops)
    tally.add(
      id,
      top.values.reduce((sum, { count }) => sum + count, top.others + top.missing),
    );
  const merged = mergeTop(tops, { limit, areGiven });
  const names = merged.values.map(({ value }) => value);
  const cells = bucketMs === undefined ? undefined : await inSql?.cells(names, bucketMs);
  const more = bucketMs === undefined ? undefined : inEngine?.cells(names);
  const bucketsOf = (value: string): Pick<TopValue, 'buckets'> => {
    if (bucketMs === undefined) return {};
    const none = new Map<number, number>();
    const sum = addCells(cells ? cells.get(value) : none, more?.has(value) ? more.get(value) : none);
    if (!sum) return {};
    const inOrder = [...sum].sort(([a], [b]) => a - b);
    return { buckets: inOrder.map(([index, count]) => ({ startMs: index * bucketMs, count })) };
  };
  return {
    by: canonicalField(by),
    ...merged,
    values: merged.values.map((value) => ({ ...value, ...bucketsOf(value.value) })),
    ...(bucketMs !== undefined && { bucketMs }),
    counted,
    members: tally.reports(prepared, counted),
  };
}

/** A node of which SQL has counted some rows and the engine others is one source. */
function joinTops(tops: readonly TopSource[], areGiven: boolean): TopSource[] {
  const byId = new Map<string, TopSource>();
  for (const { id, top } of tops) {
    const known = byId.get(id)?.top;
    byId.set(id, { id, top: ranked(known ? addTops([known, top], areGiven) : top) });
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function addTops(parts: readonly TopSource['top'][], areGiven: boolean): TopSource['top'] {
  const sources = parts.map((top, index) => ({ id: String(index), top }));
  const merged = mergeTop(sources, { limit: Infinity, areGiven });
  return { ...merged, values: merged.values.map(({ nodes: _nodes, ...value }) => value) };
}

function ranked(top: TopSource['top']): TopSource['top'] {
  return { ...top, values: top.values.toSorted(compareValues) };
}

/** Which rows SQL counts by a field, and which the engine has to read. */
interface TopPlan {
  /** The different values of a row as an array in SQL, and the rows for which that is right; `undefined`: none. */
  bySql: { values: string; where: string } | undefined;
  /** All other rows that may match; `undefined`: none. */
  byEngine: string | undefined;
}

/** The different values of a column, as an array in SQL. */
const COLUMN_VALUES: Readonly<Record<BuiltInField, string>> = {
  level: `arrayFilter(name -> name IN (${LEVELS.map(quote).join(', ')}), [level])`,
  source: "arrayFilter(name -> name != '', [source])",
  component: `arrayFilter((tag, place) -> indexOf(${TAGS}, tag) = place, ${TAGS}, arrayEnumerate(${TAGS}))`,
  message: `[${MESSAGE}]`,
};

function planTop({ where, decided, undecided }: PreparedQuery, by: string): TopPlan {
  const ref = resolveField(by);
  if ('column' in ref)
    return {
      bySql: decided === undefined ? undefined : { values: COLUMN_VALUES[ref.column], where: decided },
      byEngine: undecided,
    };
  const plain = plainLeaf(ref.leaf);
  if (!plain || !decided) return { bySql: undefined, byEngine: where };
  const isNoPair = `position(${MESSAGE}, ${quote(`${ref.leaf}=`)}) = 0`;
  const isReadable = joined('OR', [plain.isThere, joined('AND', [plain.isMissing, isNoPair])]);
  const counted = joined('AND', [decided, isReadable]);
  return {
    bySql: { values: `arrayFilter(found -> ${plain.isThere}, [${plain.value}])`, where: counted },
    byEngine: joined('AND', [where, `NOT (${counted})`]),
  };
}

/** Different values of all nodes that are read; of more, the most frequent ones. */
const MAX_GROUPS = 100_000;

/** A value is shown with 256 characters. */
const SHOWN_BYTES = 2000;

interface GroupRow {
  node: string;
  /** With a `=` before it; empty: the record has none. */
  shown: string;
  n: number;
}

/** A value as responses show it: a long one is cut. */
function toShown(value: string): string {
  return shownValue(boundedValue(value));
}

/** Counts by value that SQL makes. */
class SqlValues {
  readonly #query: PreparedQuery;
  readonly #plan: NonNullable<TopPlan['bySql']>;
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #nodes = new Map<string, { values: Map<string, number>; others: number; missing: number }>();
  #isCut = false;

  constructor(prepared: PreparedQuery, plan: NonNullable<TopPlan['bySql']>, wanted: ReadonlySet<string> | undefined) {
    this.#query = prepared;
    this.#plan = plan;
    this.#wanted = wanted;
  }

  async count(isInside: string): Promise<void> {
    const { run } = this.#query;
    const rows = await run.all<GroupRow>(
      `SELECT node, substring(value, 1, ${SHOWN_BYTES}) AS shown, count() AS n FROM (` +
        `SELECT node, arrayJoin(if(empty(list), [''], arrayMap(one -> concat('=', one), list))) AS value FROM (` +
        `${this.#rows(isInside)})) GROUP BY node, value ORDER BY n DESC, value LIMIT ${MAX_GROUPS + 1}`,
    );
    if (run.isOver) return;
    for (const { node, shown, n } of rows.slice(0, MAX_GROUPS)) {
      const counts = this.#countsOf(node);
      const value = toShown(shown.slice(1));
      if (shown === '') counts.missing += n;
      else if (this.#wanted && !this.#wanted.has(value)) counts.others += n;
      else counts.values.set(value, (counts.values.get(value) ?? 0) + n);
    }
    if (rows.length > MAX_GROUPS) await this.#addRest(isInside, rows.slice(0, MAX_GROUPS));
  }

  /** One per node, by id. */
  tops(): TopSource[] {
    return [...this.#nodes].map(([id, { values, others, missing }]) => ({
      id,
      top: {
        values: [...values].map(([value, count]) => ({ value, count })),
        ...{ others, missing, distinct: values.size, isExact: !this.#isCut },
      },
    }));
  }

  /** Counts over time, of values that are shown whole. */
  async cells(values: readonly string[], bucketMs: number): Promise<Map<string, Map<number, number> | undefined>> {
    const cells = new Map(values.map((value) => [value, value.endsWith('…') ? undefined : new Map<number, number>()]));
    const whole = values.filter((value) => cells.get(value));
    if (whole.length === 0) return cells;
    const { run } = this.#query;
    const rows = await run.all<{ value: string; bucket: number; n: number }>(
      `SELECT value, bucket, count() AS n FROM (SELECT arrayJoin(list) AS value, bucket FROM (` +
        `${this.#rows('has_time = 1', `, ${bucketOf(bucketMs)} AS bucket`)})) ` +
        `WHERE value IN (${whole.map(quote).join(', ')}) GROUP BY value, bucket LIMIT ${quoteInteger(1_000_000)}`,
    );
    if (run.isOver) return new Map(values.map((value) => [value, undefined]));
    for (const { value, bucket, n } of rows) cells.get(value)?.set(bucket, n);
    return cells;
  }

  #rows(isInside: string, more = ''): string {
    const { values, where } = this.#plan;
    return `SELECT node, ${values} AS list${more} FROM ${this.#query.table} WHERE ${where} AND ${isInside}`;
  }

  /** What is not among the groups that were read. */
  async #addRest(isInside: string, read: readonly GroupRow[]): Promise<void> {
    this.#isCut = true;
    const rows = await this.#query.run.all<{ node: string; n: number; missing: number }>(
      `SELECT node, sum(length(list)) AS n, countIf(empty(list)) AS missing FROM (${this.#rows(isInside)}) GROUP BY node`,
    );
    const [listed, without] = [new Map<string, number>(), new Map<string, number>()];
    for (const { node, shown, n } of read) {
      const sums = shown === '' ? without : listed;
      sums.set(node, (sums.get(node) ?? 0) + n);
    }
    for (const { node, n, missing } of rows) {
      const counts = this.#countsOf(node);
      counts.others += n - (listed.get(node) ?? 0);
      counts.missing += missing - (without.get(node) ?? 0);
    }
  }

  #countsOf(node: string) {
    const counts = this.#nodes.get(node) ?? { values: new Map<string, number>(), others: 0, missing: 0 };
    this.#nodes.set(node, counts);
    return counts;
  }
}

/** Different values counted exactly, of all nodes together. */
const MAX_VALUES = 400_000;
const MIN_VALUES_OF_NODE = 1000;
const MAX_VALUES_OF_NODE = 50_000;

/** Values that a node lists: more than any response shows. */
const MAX_LISTED = 10_000;

interface EngineValuesOptions {
  ref: FieldRef;
  wanted: ReadonlySet<string> | undefined;
  bucketMs: number | undefined;
}

/** Counts by value of rows that only the engine can read. */
class EngineValues {
  readonly #query: PreparedQuery;
  readonly #options: EngineValuesOptions;
  readonly #limits: { maxValues: number };
  readonly #nodes = new Map<string, { table: ValueCounts; others: number; missing: number }>();

  constructor(prepared: PreparedQuery, options: EngineValuesOptions) {
    this.#query = prepared;
    this.#options = options;
    const share = Math.floor(MAX_VALUES / Math.max(1, prepared.nodes.length));
    this.#limits = { maxValues: Math.min(MAX_VALUES_OF_NODE, Math.max(MIN_VALUES_OF_NODE, share)) };
  }

  async count(isInside: string, { where, tally }: { where: string; tally: NodeTally }): Promise<void> {
    const { ref, wanted, bucketMs } = this.#options;
    for await (const rows of matchingRows(this.#query, isInside, where)) {
      for (const decoded of rows) {
        const { node, has_time, time_ms } = decoded.row;
        const counts = this.#countsOf(node);
        tally.note(decoded);
        const values = new Set(refValues(decoded.record, ref));
        if (values.size === 0) counts.missing++;
        for (const value of values) {
          const bounded = boundedValue(value);
          if (wanted && !wanted.has(shownValue(bounded))) counts.others++;
          else {
            const id = counts.table.idFor(bounded);
            counts.table.add(id);
            if (bucketMs !== undefined && has_time) counts.table.addCell(id, Math.floor(time_ms / bucketMs));
          }
        }
      }
    }
  }

  tops(): TopSource[] {
    return [...this.#nodes].map(([id, { table, others, missing }]) => {
      const found = table.mostFrequent(MAX_LISTED);
      const listed = found.reduce((sum, { count }) => sum + count, 0);
      const values = found.map(({ value, count, error }) => {
        return { value: shownValue(value), count, ...(error > 0 && { error }) };
      });
      const rest = { others: others + table.total - listed, missing, distinct: table.distinct() };
      return { id, top: { values, ...rest, isExact: table.isExact } };
    });
  }

  /** Counts over time of the values that occur here; `undefined` where they are no longer known. */
  cells(values: readonly string[]): Map<string, Map<number, number> | undefined> {
    const wanted = new Set(values);
    const sums = new Map<string, Map<number, number> | undefined>();
    for (const { table } of this.#nodes.values()) {
      const found = table.mostFrequent(MAX_LISTED).filter(({ value }) => wanted.has(shownValue(value)));
      const cells = table.cellsFor(found.map(({ id }) => id));
      for (const { id, value } of found) {
        const shown = shownValue(value);
        const known = sums.has(shown) ? sums.get(shown) : new Map<number, number>();
        sums.set(shown, addCells(known, cells.get(id)));
      }
    }
    return sums;
  }

  #countsOf(node: string) {
    const counts = this.#nodes.get(node) ?? { table: new ValueCounts(this.#limits), others: 0, missing: 0 };
    this.#nodes.set(node, counts);
    return counts;
  }
}

type Cells = ReadonlyMap<number, number>;

/** The sum of counts over time; unknown if one is. */
function addCells(sum: Cells | undefined, more: Cells | undefined): Map<number, number> | undefined {
  if (!sum || !more) return undefined;
  const added = new Map(sum);
  for (const [bucket, count] of more) added.set(bucket, (added.get(bucket) ?? 0) + count);
  return added;
}
