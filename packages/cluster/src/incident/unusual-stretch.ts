import type { ClusterHistogram } from '@porthole/contract';

/** Counts in a time range. */
export interface Counted {
  count: number;
  ms: number;
}

/**
 * The log-likelihood ratio (G²) of two counts: how much more likely they are with a rate of each than with one of both. It
 * is negative where the first rate is lower. Rates that are the same exceed 10.8 in one of a thousand cases.
 */
export function likelihoodRatio(now: Counted, usual: Counted): number {
  const total = now.count + usual.count;
  const ms = now.ms + usual.ms;
  if (total === 0 || now.ms <= 0 || usual.ms <= 0) return 0;
  const term = (count: number, expected: number) => (count === 0 ? 0 : count * Math.log(count / expected));
  const ratio = 2 * (term(now.count, (total * now.ms) / ms) + term(usual.count, (total * usual.ms) / ms));
  return now.count / now.ms < usual.count / usual.ms ? -ratio : Math.max(0, ratio);
}

/** Counts of one node, or of all, by bucket. */
interface Series {
  node: string | null;
  counts: readonly number[];
  /** Those of the time before; of a node that was not there yet, what the others had on average. */
  before: readonly number[];
}

/** A time range in which something is unusual, and by how much. */
export interface Unusual {
  fromMs: number;
  toMs: number;
  /** `null`: of all nodes together. */
  node: string | null;
  weight: number;
}

interface Rule {
  /** Fewer records are never unusual. */
  minCount: number;
  /** The rate is at least so many times the usual one. */
  minTimes: number;
  /** The log-likelihood ratio is at least this, divided by how much the usual counts vary. */
  minRatio: number;
}

/**
 * When the rate of a level is unusual: G² at the least, for as many stretches as are tried, so that one of a few hundred
 * quiet hours is taken for an incident by chance.
 */
export const ERROR_RULE: Rule = { minCount: 5, minTimes: 2, minRatio: 30 };
export const WARNING_RULE: Rule = { minCount: 10, minTimes: 3, minRatio: 40 };
/** Of one pattern: there is less that hides it, but more of them are tried. */
export const PATTERN_RULE: Rule = { minCount: 8, minTimes: 3, minRatio: 40 };

interface LoadedRule extends Rule {
  load(from: number, to: number): number;
}

/** Stretches that are closer than this are one incident. */
const GAP_MS = 5 * 60_000;

export interface Grid {
  fromMs: number;
  bucketMs: number;
  /** Buckets of the time before, and all. */
  usual: number;
  total: number;
  /** Nodes that logged next to nothing in the time before. */
  isNew(node: string): boolean;
}

/** The most that errors may rise only because there is more to do. */
const MAX_LOAD = 3;
/** So few records are no measure of how much there is to do. */
const LOAD_NOISE = 20;

/**
 * The stretches of each node, and of all together, in which there were unusually many. `work`: the other records, with
 * which errors may rise.
 */
export function unusualStretches(
  histogram: ClusterHistogram,
  grid: Grid,
  rule: Rule,
  work?: ClusterHistogram,
): Unusual[] {
  const loads = new Map(work ? toSeries(work, grid).map((series) => [series.node, series] as const) : []);
  return toSeries(histogram, grid).flatMap((series) => {
    const load = createLoad(series, loads.get(series.node), grid);
    return findIn(series, grid, { ...rule, load }, { from: grid.usual, to: grid.total });
  });
}

/** How many times the usual work a stretch has, at least 1. */
function createLoad(own: Series, work: Series | undefined, { usual }: Grid): (from: number, to: number) => number {
  if (!work) return () => 1;
  const sums = [0];
  for (const [at, count] of work.counts.entries())
    sums.push((sums[at] ?? 0) + Math.max(0, count - (own.counts[at] ?? 0)));
  const before = Math.max(0, sum(work.before) - sum(own.before)) / usual;
  return (from, to) => {
    const count = (sums[to] ?? 0) - (sums[from] ?? 0);
    const times = (count + LOAD_NOISE) / (before * (to - from) + LOAD_NOISE);
    return Math.min(MAX_LOAD, Math.max(1, times));
  };
}

function toSeries({ buckets }: ClusterHistogram, { fromMs, bucketMs, usual, total, isNew }: Grid): Series[] {
  const all = new Array<number>(total).fill(0);
  const nodes = new Map<string, number[]>();
  for (const { startMs, nodes: counts } of buckets) {
    const at = Math.floor((startMs - fromMs) / bucketMs);
    if (at < 0 || at >= total) continue;
    for (const [node, count] of Object.entries(counts)) {
      const own = nodes.get(node) ?? new Array<number>(total).fill(0);
      own[at] = (own[at] ?? 0) + count;
      all[at] = (all[at] ?? 0) + count;
      nodes.set(node, own);
    }
  }
  const old = [...nodes].filter(([node]) => !isNew(node)).map(([, counts]) => counts);
  const average = all
    .slice(0, usual)
    .map((_, at) => sum(old.map((counts) => counts[at] ?? 0)) / Math.max(1, old.length));
  const each = [...nodes].map(([node, counts]) => ({
    node,
    counts,
    before: isNew(node) ? average : counts.slice(0, usual),
  }));
  return each.length > 1 ? [...each, { node: null, counts: all, before: all.slice(0, usual) }] : each;
}

/** The most unusual stretch of a part, and those left and right of it. */
function findIn(series: Series, grid: Grid, rule: LoadedRule, part: { from: number; to: number }): Unusual[] {
  const { counts, node } = series;
  const { bucketMs, usual } = grid;
  const before = { count: sum(series.before), ms: usual * bucketMs };
  const varies = dispersion(series.before);
  let best: { from: number; to: number; weight: number } | undefined;
  for (let from = part.from; from < part.to; from++) {
    if (!counts[from]) continue;
    let count = 0;
    for (let to = from + 1; to <= part.to; to++) {
      const last = counts[to - 1] ?? 0;
      count += last;
      if (last === 0 || count < rule.minCount) continue;
      const now = { count, ms: (to - from) * bucketMs * rule.load(from, to) };
      if (now.count / now.ms < rule.minTimes * (before.count / before.ms)) continue;
      const weight = likelihoodRatio(now, before) / varies;
      if (weight >= rule.minRatio && weight > (best?.weight ?? 0)) best = { from, to, weight };
    }
  }
  if (!best) return [];
  const { from, to, weight } = best;
  return [
    ...findIn(series, grid, rule, { from: part.from, to: from }),
    { fromMs: grid.fromMs + from * bucketMs, toMs: grid.fromMs + to * bucketMs, node, weight },
    ...findIn(series, grid, rule, { from: to, to: part.to }),
  ];
}

/** How much more the counts vary than those of records that have nothing to do with each other: 1 or more. */
function dispersion(counts: readonly number[]): number {
  return Math.max(1, ...[1, 4].map((size) => varianceByMean(counts, size)));
}

function varianceByMean(counts: readonly number[], size: number): number {
  const blocks: number[] = [];
  for (let at = 0; at + size <= counts.length; at += size) blocks.push(sum(counts.slice(at, at + size)));
  const mean = sum(blocks) / blocks.length;
  if (blocks.length < 3 || mean === 0) return 1;
  return sum(blocks.map((count) => (count - mean) ** 2)) / (blocks.length - 1) / mean;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A stretch of time and everything that is unusual in it. */
export interface Stretch {
  fromMs: number;
  toMs: number;
  weight: number;
}

/** The heaviest of the stretches that what is unusual makes up; `undefined` if nothing is. */
export function heaviestStretch(unusual: readonly Unusual[]): Stretch | undefined {
  const stretches: Stretch[] = [];
  for (const { fromMs, toMs, weight } of [...unusual].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = stretches.at(-1);
    if (last && fromMs - last.toMs <= GAP_MS) {
      last.toMs = Math.max(last.toMs, toMs);
      last.weight += weight;
    } else stretches.push({ fromMs, toMs, weight });
  }
  return stretches.reduce<Stretch | undefined>(
    (best, one) => (best && best.weight >= one.weight ? best : one),
    undefined,
  );
}

/** Records that should have been there: fewer may be missing by chance. */
const MISSED_RECORDS = 50;
const SILENT_MS = 3 * 60_000;

/** When one of these nodes logged nothing although it always had, and others went on. */
export function silentStretches(histogram: ClusterHistogram, grid: Grid, nodes: readonly string[]): Unusual[] {
  const { bucketMs, fromMs, usual, total } = grid;
  const series = toSeries(histogram, grid);
  const all = series.find(({ node }) => node === null);
  return series.flatMap(({ node, counts, before }): Unusual[] => {
    if (node === null || !nodes.includes(node) || grid.isNew(node)) return [];
    if (before.filter((count) => count === 0).length > usual / 20) return [];
    const rate = sum(before) / usual;
    let from = total;
    const found: Unusual[] = [];
    for (let at = usual; at <= total; at++) {
      if (at < total && counts[at] === 0) from = Math.min(from, at);
      else if (from < at) {
        const ms = (at - from) * bucketMs;
        const others = all ? sum(all.counts.slice(from, at)) : 1;
        const missed = (rate * (at - from)) / dispersion(before);
        if (ms >= SILENT_MS && missed >= MISSED_RECORDS && others > 0)
          found.push({ fromMs: fromMs + from * bucketMs, toMs: fromMs + at * bucketMs, node, weight: 2 * missed });
        from = total;
      }
    }
    return found;
  });
}
