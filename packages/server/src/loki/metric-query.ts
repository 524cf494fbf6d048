import { type ClusterState, familySource, type MemberSelection, PortholeError } from '@porthole/contract';
import { LEVELS, type QueryNode } from '@porthole/logs/query';
import { type QueryCall, searchOptions } from './log-query.ts';
import { fieldsOf, type LogqlMetric } from './logql.ts';
import { type LokiLabels, labelName, type Streams } from './streams.ts';

/*
 * Queries whose result are numbers. The engine counts records by bucket of time, level, node and value of one field;
 * each further label is a request of its own. What is left to do here is to add up the buckets of each window.
 */

/** Times at which a query is evaluated, epoch ms. */
export interface EvaluationTimes {
  startMs: number;
  endMs: number;
  stepMs: number;
}

export interface LokiSeries {
  metric: LokiLabels;
  /** Epoch seconds and value, ascending; times without records are left out. */
  values: [number, string][];
}

/** Requests of one query; each reads the same time range. */
const MAX_REQUESTS = 64;
const CONCURRENT_REQUESTS = 4;

/** The limits of the engine, of Loki, and of the size of a response. */
const MAX_BUCKETS = 10_000;
const MAX_POINTS = 11_000;
const MAX_ALL_POINTS = 200_000;

/** Values of a field that are counted over time. */
const MAX_VALUES = 100;

/** Counts by start of a bucket, for each set of labels. */
class SeriesCounts {
  readonly #series = new Map<string, { labels: LokiLabels; counts: Map<number, number> }>();

  add(labels: LokiLabels, startMs: number, count: number): void {
    if (count === 0) return;
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    const series = this.#series.get(key) ?? { labels, counts: new Map<number, number>() };
    this.#series.set(key, series);
    series.counts.set(startMs, (series.counts.get(startMs) ?? 0) + count);
  }

  list(): { labels: LokiLabels; counts: ReadonlyMap<number, number> }[] {
    return [...this.#series.values()];
  }
}

interface MetricQuery {
  metric: LogqlMetric;
  streams: Streams;
}

/** A metric at one time, counting what was logged in its range before it. */
export async function queryInstant(
  cluster: ClusterState,
  query: MetricQuery,
  timeMs: number,
  call: QueryCall,
): Promise<{ metric: LokiLabels; value: [number, string] }[]> {
  const { rangeMs, top } = query.metric;
  // A range is open at its start and includes its end.
  const range = { fromMs: timeMs - rangeMs + 1, toMs: timeMs + 1, bucketMs: undefined };
  const series = (await countSeries(cluster, query, range, call)).map(({ labels, counts }) => ({
    labels,
    count: [...counts.values()].reduce((sum, count) => sum + count, 0),
  }));
  const sorted = series.sort((a, b) => b.count - a.count).slice(0, top);
  return sorted.map(({ labels, count }) => ({
    metric: labels,
    value: [timeMs / 1000, valueText(count, query.metric)],
  }));
}

/** A metric over time, at multiples of the step. */
export async function queryRange(
  cluster: ClusterState,
  query: MetricQuery,
  times: EvaluationTimes,
  call: QueryCall,
): Promise<LokiSeries[]> {
  const { rangeMs, top } = query.metric;
  const { startMs, endMs, stepMs } = alignTimes(times);
  const points = evaluationTimes({ startMs, endMs, stepMs });
  const bucketMs = greatestDivisor(stepMs, rangeMs);
  const [fromMs, toMs] = [startMs - rangeMs, endMs];
  if ((toMs - fromMs) / bucketMs > MAX_BUCKETS)
    throw tooMuch(
      `the step and the range need ${Math.ceil((toMs - fromMs) / bucketMs)} counts, more than ${MAX_BUCKETS}`,
    );
  const counted = await countSeries(cluster, query, { fromMs, toMs, bucketMs }, call);
  if (counted.length * points.length > MAX_ALL_POINTS)
    throw tooMuch(`the result has ${counted.length} series of ${points.length} points`);
  const series = counted.map(({ labels, counts }) => ({
    labels,
    sums: slidingSums(counts, { points, rangeMs, bucketMs }),
  }));
  const kept = top === undefined ? undefined : largestAt(series, points.length, top);
  return series
    .map(({ labels, sums }, index) => ({
      metric: labels,
      values: points.flatMap((timeMs, at): [number, string][] => {
        const sum = sums[at] as number;
        const isShown = sum > 0 && (kept?.[at]?.has(index) ?? true);
        return isShown ? [[timeMs / 1000, valueText(sum, query.metric)]] : [];
      }),
    }))
    .filter(({ values }) => values.length > 0);
}

/** All times of a range; those of Loki are limited, too. */
export function evaluationTimes({ startMs, endMs, stepMs }: EvaluationTimes): number[] {
  const count = Math.floor((endMs - startMs) / stepMs) + 1;
  if (count > MAX_POINTS) throw tooMuch(`the step is too small: ${count} points, more than ${MAX_POINTS}`);
  return Array.from({ length: Math.max(0, count) }, (_, index) => startMs + index * stepMs);
}

/** The engine counts in buckets that start at multiples of their width. */
function alignTimes({ startMs, endMs, stepMs }: EvaluationTimes): EvaluationTimes {
  return { startMs: Math.floor(startMs / stepMs) * stepMs, endMs: Math.floor(endMs / stepMs) * stepMs, stepMs };
}

/** For each point the sum of the buckets in the range before it. */
function slidingSums(
  counts: ReadonlyMap<number, number>,
  { points, rangeMs, bucketMs }: { points: readonly number[]; rangeMs: number; bucketMs: number },
): Float64Array {
  const sums = new Float64Array(points.length);
  const [first = 0] = points;
  const stepMs = (points[1] ?? first + bucketMs) - first;
  for (const [startMs, count] of counts) {
    // Those whose range has the bucket: after its start, and not later than the range after it.
    const from = Math.max(0, Math.ceil((startMs + bucketMs - first) / stepMs));
    const to = Math.min(points.length - 1, Math.floor((startMs + rangeMs - first) / stepMs));
    if (from > to) continue;
    sums[from] = (sums[from] as number) + count;
    if (to + 1 < sums.length) sums[to + 1] = (sums[to + 1] as number) - count;
  }
  // Until here each has what is added and left out at it: ranges may overlap by thousands of points.
  for (let at = 1; at < sums.length; at++) sums[at] = (sums[at] as number) + (sums[at - 1] as number);
  return sums;
}

/** For each point the indexes of the series with the largest values. */
function largestAt(series: readonly { sums: Float64Array }[], points: number, top: number): Set<number>[] {
  return Array.from({ length: points }, (_, at) => {
    const sorted = [...series.keys()].sort((a, b) => (series[b]?.sums[at] ?? 0) - (series[a]?.sums[at] ?? 0));
    return new Set(sorted.slice(0, top));
  });
}

interface CountRange {
  fromMs: number;
  toMs: number;
  /** `undefined`: only the sum is wanted. */
  bucketMs: number | undefined;
}

/** A request for counts, and the labels that all of them have. */
interface CountPart {
  selection: MemberSelection;
  labels: LokiLabels;
  query: QueryNode | undefined;
}

async function countSeries(
  cluster: ClusterState,
  { metric, streams }: MetricQuery,
  range: CountRange,
  call: QueryCall,
): Promise<ReturnType<SeriesCounts['list']>> {
  if (streams.selection === undefined) return [];
  const wanted = wantedLabels(metric, streams);
  const parts = splitParts(metric, streams, wanted);
  if (parts.length > MAX_REQUESTS)
    throw tooMuch(
      `it needs ${parts.length} requests, more than ${MAX_REQUESTS}: sum by fewer labels, or select fewer logs`,
    );
  const counts = new SeriesCounts();
  const counting = { cluster, streams, wanted, range, call, counts };
  const waiting = [...parts];
  const work = async () => {
    for (let part = waiting.shift(); part; part = waiting.shift()) await countPart(part, counting);
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return counts.list();
}

/** The labels of the result, by where they come from. */
interface WantedLabels {
  nodes: readonly string[];
  hasLog: boolean;
  hasLevel: boolean;
  field: string | undefined;
}

function wantedLabels({ by, logs }: LogqlMetric, { nodeLabels }: Streams): WantedLabels {
  if (by === undefined && logs.hasFields)
    throw new PortholeError('QUERY_INVALID', 'not supported here: a metric of all fields: use sum by (...)');
  const names = by ?? [...nodeLabels, 'log', 'level'];
  const others = names.filter((name) => !nodeLabels.has(name) && name !== 'log' && name !== 'level');
  // Other labels no record has, but for the fields that a parser finds.
  const fields = logs.hasFields ? others.filter((name) => name !== 'detected_level') : [];
  if (fields.length > 1)
    throw new PortholeError('QUERY_INVALID', `not supported here: by several fields (${fields.join(', ')})`);
  return {
    nodes: names.filter((name) => nodeLabels.has(name)),
    hasLog: names.includes('log'),
    hasLevel: names.includes('level'),
    field: fields[0],
  };
}

function splitParts(
  { logs }: LogqlMetric,
  streams: Streams,
  { nodes, hasLog, hasLevel, field }: WantedLabels,
): CountPart[] {
  const { selection = {} } = streams;
  // A count has the level of records, or their node, but not both.
  const groups =
    nodes.length > 0 && (hasLevel || field !== undefined) ? groupNodes(streams, nodes) : [{ selection, labels: {} }];
  const ofLogs = hasLog
    ? [...new Set(streams.streams.map(({ log }) => log))].map((name) => ({ name, src: [familySource(name)] }))
    : [{ name: undefined, ...streams.requestedLogs() }];
  const levels = hasLevel && field !== undefined ? [...LEVELS, undefined] : ['all' as const];
  return groups.flatMap((group) =>
    ofLogs.flatMap(({ name, src }) =>
      levels.map((level) => ({
        selection: { ...group.selection, ...(src && { src }) },
        labels: {
          ...group.labels,
          ...(name !== undefined && { log: name }),
          ...(level !== 'all' && level !== undefined && { level: level.toLowerCase() }),
        },
        query: level === 'all' ? logs.query : withLevel(logs.query, level),
      })),
    ),
  );
}

/** Nodes with the same values of these labels. */
function groupNodes(streams: Streams, names: readonly string[]): { selection: MemberSelection; labels: LokiLabels }[] {
  const groups = new Map<string, { selection: { nodes: string[] }; labels: LokiLabels }>();
  for (const node of new Set(streams.streams.map((stream) => stream.node))) {
    const labels = pickLabels(streams.labelsOf(node), names);
    const key = JSON.stringify(labels);
    const group = groups.get(key) ?? { selection: { nodes: [] }, labels };
    groups.set(key, group);
    group.selection.nodes.push(node);
  }
  return [...groups.values()];
}

function pickLabels(labels: LokiLabels, names: readonly string[]): LokiLabels {
  return Object.fromEntries(names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])));
}

function withLevel(query: QueryNode | undefined, level: string | undefined): QueryNode {
  const condition: QueryNode =
    level === undefined
      ? { kind: 'not', node: { kind: 'exists', field: 'level' } }
      : { kind: 'field', field: 'level', operator: '=', value: level };
  return query ? { kind: 'and', nodes: [query, condition] } : condition;
}

/** What one query counts, and where its counts are added up. */
interface Counting {
  cluster: ClusterState;
  streams: Streams;
  wanted: WantedLabels;
  range: CountRange;
  call: QueryCall;
  counts: SeriesCounts;
}

async function countPart(part: CountPart, counting: Counting): Promise<void> {
  const { field } = counting.wanted;
  if (field === undefined) return countRecords(part, counting);
  const names = fieldsOf(field);
  for (const name of names) await countValues(part, name, counting);
  // Records without the field are a series without the label.
  const absent = names.map((name): QueryNode => ({ kind: 'not', node: { kind: 'exists', field: name } }));
  const query: QueryNode = { kind: 'and', nodes: [...(part.query ? [part.query] : []), ...absent] };
  await countRecords({ ...part, query }, counting);
}

async function countRecords(part: CountPart, counting: Counting): Promise<void> {
  const { cluster, range, call, streams, wanted, counts } = counting;
  const { fromMs, toMs, bucketMs = toMs - fromMs } = range;
  const request = { ...toRequest(part, range), bucketMs, buckets: 1 };
  const response = await cluster.logHistogram(request, searchOptions(call));
  streams.warn(response);
  checkWidth(response.bucketMs, range);
  const hasLevel = wanted.hasLevel && wanted.field === undefined;
  for (const { startMs, counts: levels, nodes } of response.buckets) {
    if (hasLevel)
      for (const [level, count] of Object.entries(levels))
        counts.add(level === 'NONE' ? part.labels : { ...part.labels, level: level.toLowerCase() }, startMs, count);
    else
      for (const [node, count] of Object.entries(nodes))
        counts.add({ ...pickLabels(streams.labelsOf(node), wanted.nodes), ...part.labels }, startMs, count);
  }
}

async function countValues(part: CountPart, field: string, counting: Counting): Promise<void> {
  const { cluster, range, call, streams, counts } = counting;
  const buckets = range.bucketMs === undefined ? {} : { bucketMs: range.bucketMs };
  const request = { ...toRequest(part, range), by: field, limit: MAX_VALUES, ...buckets };
  const response = await cluster.logTop(request, searchOptions(call));
  streams.warn(response);
  checkWidth(response.bucketMs, range);
  if (response.others > 0)
    streams.warnings.add(
      `${response.others} records have other values of ${field} than the ${MAX_VALUES} most frequent`,
    );
  if (!response.isExact) streams.warnings.add(`the counts by ${field} are estimated: it has too many values`);
  for (const { value, count, buckets: cells } of response.values) {
    const labels = { ...part.labels, [labelName(field)]: value };
    if (range.bucketMs === undefined) counts.add(labels, range.fromMs, count);
    else for (const cell of cells ?? []) counts.add(labels, cell.startMs, cell.count);
  }
}

function toRequest({ selection, query }: CountPart, { fromMs, toMs }: CountRange) {
  return { ...selection, fromMs, toMs, ...(query && { query }) };
}

/** The engine widens buckets of which there would be too many. */
function checkWidth(givenMs: number | undefined, { bucketMs }: CountRange): void {
  if (bucketMs !== undefined && givenMs !== bucketMs)
    throw tooMuch(`counts of ${bucketMs} ms are too many for the range`);
}

function valueText(count: number, { isRate, rangeMs }: LogqlMetric): string {
  return String(isRate ? count / (rangeMs / 1000) : count);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

function tooMuch(detail: string): PortholeError {
  return new PortholeError('QUERY_INVALID', `this query is too large: ${detail}; use a larger step or a shorter range`);
}
