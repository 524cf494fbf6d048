import { canonicalField } from '../query/index.ts';
import type { TopJob } from '../scan/count/count-jobs.ts';
import { type CountLimits, MAX_CELLS, packedRoom, type ValueCount, ValueCounts } from '../scan/count/value-counts.ts';
import { boundedValue, type PackRoom, shownValue } from '../scan/count/value-table.ts';
import type { ReadOptions, Top, TopQuery, TopValue } from '../types.ts';
import { FamilyCount } from './count-families.ts';
import { type OpenFamily, releaseFamily } from './files/open-family.ts';
import { chooseWidth } from './histogram.ts';
import type { FilePart } from './plan/file-parts.ts';
import type { ScanContext } from './scan-context.ts';
import { type SearchOptions, StopReason } from './stop-reason.ts';

/** 2 MiB: a part rarely has more different values than are counted exactly, and a thread needs little memory for it. */
const PART_BLOCKS = 8;

/** Desired buckets if only a width is requested that would give too many. */
const DEFAULT_BUCKETS = 100;

/** Buckets of a response, of all values together. */
const MAX_BUCKETS_OF_ALL = MAX_CELLS / 2;

export type TopOptions = SearchOptions & {
  /** For tests. */
  countLimits?: CountLimits;
};

/** Counts of matching records by value of a field. Takes ownership of the families and releases them. */
export async function top(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: TopQuery,
  options: TopOptions = {},
): Promise<Top> {
  const stop = new StopReason(options);
  try {
    await scanContext.checkRegex(query, stop.newFlag());
    const bucketMs = await chooseBuckets(scanContext, families, { ...query, client: stop.client });
    const memory = takeMemory();
    const run = { scanContext, families, query, stop, bucketMs, limits: options.countLimits ?? {}, memory };
    const all = await countValues(
      run,
      query.values?.map((value) => boundedValue(value)),
    );
    const { table, records, missing } = all;
    let chosen = table.mostFrequent(query.limit);
    if (bucketMs !== undefined) chosen = await withBuckets(run, all, chosen);
    const counted = chosen.reduce((sum, { count }) => sum + count, 0);
    const result: Top = {
      by: canonicalField(query.by),
      values: chosen.map((value) => toTopValue(value, bucketMs)),
      others: Math.max(0, table.total + all.unwanted - counted),
      missing,
      distinct: table.distinct(),
      isExact: table.isExact,
      ...(bucketMs !== undefined && { bucketMs }),
      end: await all.count.end(records),
    };
    giveBack(memory);
    return result;
  } finally {
    stop.end();
    for (const family of families) releaseFamily(family);
  }
}

/** Memory of a query. */
class CountMemory {
  readonly table = new ValueCounts();
  /** As many as there are jobs at a time: those of earlier results are for the next ones. */
  readonly rooms: PackRoom[] = [];
}

/** A query may count twice. */
const MAX_SPARES = 2;

/** That of the last queries, as long as it was not collected: it is some MiB, and nothing makes collecting it urgent. */
const spares: WeakRef<CountMemory>[] = [];

function takeMemory(): CountMemory {
  return spares.pop()?.deref() ?? new CountMemory();
}

function giveBack(memory: CountMemory): void {
  if (spares.length < MAX_SPARES) spares.push(new WeakRef(memory));
}

interface TopRun {
  memory: CountMemory;
  scanContext: ScanContext;
  families: readonly OpenFamily[];
  query: TopQuery;
  stop: StopReason;
  bucketMs: number | undefined;
  limits: CountLimits;
}

interface CountedAll {
  count: FamilyCount<TopJob>;
  table: ValueCounts;
  records: number;
  missing: number;
  unwanted: number;
}

interface ChosenValue extends ValueCount {
  /** Counts by bucket number; absent if they could not be counted. */
  cells?: ReadonlyMap<number, number> | undefined;
}

/** The width of the buckets; wider than requested if all values together would have too many. */
async function chooseBuckets(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  { limit, values, buckets, bucketMs, ...filter }: TopQuery & ReadOptions,
): Promise<number | undefined> {
  if (buckets === undefined && bucketMs === undefined) return undefined;
  const rows = Math.max(1, Math.min(limit, values?.length ?? limit));
  const maxBuckets = Math.max(1, Math.floor(MAX_BUCKETS_OF_ALL / rows));
  return chooseWidth(scanContext, families, { ...filter, bucketMs, buckets: buckets ?? DEFAULT_BUCKETS, maxBuckets });
}

/** `values` as `boundedValue` returns them. */
async function countValues(run: TopRun, values: readonly string[] | undefined): Promise<CountedAll> {
  const { scanContext, families, query, stop, bucketMs, limits, memory } = run;
  const { rooms } = memory;
  const wanted = values && [...new Set(values)];
  const jobFor = ({ file, runs, startBytes, endBytes }: FilePart): TopJob => {
    const part = { file, runs, startBytes, endBytes };
    return { kind: 'top', ...part, filter: query, by: query.by, values: wanted, bucketMs, limits, room: rooms.pop() };
  };
  memory.table.clear(limits);
  const count = new FamilyCount(scanContext, families, { filter: query, stop, mostBlocks: PART_BLOCKS, jobFor });
  const all: CountedAll = { count, table: memory.table, records: 0, missing: 0, unwanted: 0 };
  for await (const { result } of count.results()) {
    all.table.merge(result.counts);
    rooms.push(packedRoom(result.counts));
    all.records += result.records;
    all.missing += result.missing;
    all.unwanted += result.unwanted;
  }
  return all;
}

/**
 * The counts of the chosen values over time. If those of one were dropped while it was rare, all are counted again,
 * only these and therefore exactly. If there is no time left for it, such values have no buckets.
 */
async function withBuckets(run: TopRun, { table, records }: CountedAll, chosen: ValueCount[]): Promise<ChosenValue[]> {
  const cells = table.cellsFor(chosen.map(({ id }) => id));
  const once = chosen.map((value): ChosenValue => ({ ...value, cells: cells.get(value.id) }));
  if (cells.size === chosen.length || run.stop.poll() !== undefined) return once;
  // Buckets are so wide that those of the chosen values fit.
  const exactRun = { ...run, limits: { ...run.limits, maxCells: MAX_CELLS }, memory: takeMemory() };
  const again = await countValues(
    exactRun,
    chosen.map(({ value }) => value),
  );
  // Fewer if it ran out of time, or if a file was truncated meanwhile.
  if (run.stop.reason !== undefined || again.records !== records) return once;
  const exact = again.table.mostFrequent(chosen.length);
  const exactCells = again.table.cellsFor(exact.map(({ id }) => id));
  giveBack(exactRun.memory);
  return exact.map((value) => ({ ...value, cells: exactCells.get(value.id) }));
}

function toTopValue({ value, count, error, cells }: ChosenValue, bucketMs = 0): TopValue {
  const buckets = cells && [...cells].sort(([a], [b]) => a - b);
  return {
    value: shownValue(value),
    count,
    ...(error > 0 && { error }),
    ...(buckets && { buckets: buckets.map(([bucket, inBucket]) => ({ startMs: bucket * bucketMs, count: inBucket })) }),
  };
}
