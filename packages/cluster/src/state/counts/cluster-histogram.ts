import { type ClusterHistogram, type MemberSelection, PortholeError, type SearchOptions } from '@porthole/contract';
import { bucketWidth } from '@porthole/logs';
import type { Histogram, HistogramQuery, LogFileDetails } from '@porthole/logs/types';
import { type ChosenMember, chooseMembers } from '../choose-members.ts';
import { type QueriedMember, queryMembers, type StateDeps } from '../state-deps.ts';
import { correctedQuery, countedRange, memberBudget, withTruncation } from './counting.ts';

/** A member with a clock offset is queried with buckets narrower by this factor, if it divides the width. */
const FINER = [20, 10, 8, 5, 4, 3, 2];

/** Maximum buckets of a node; for more it would widen them. */
const MAX_BUCKETS = 10_000;

/** Width if the time range of the logs is unknown. */
const UNKNOWN_SPAN_MS = 24 * 3_600_000;

/** Fraction of the member timeout for finding the time range of its logs. */
const SPAN_SHARE = 0.25;

/** Larger clock errors are implausible: such a timestamp must not affect the range of the others. */
const MAX_AHEAD_MS = 24 * 3_600_000;

const LEVELS: ReadonlySet<string> = new Set(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'NONE']);

type ClusterHistogramQuery = HistogramQuery & MemberSelection;

/** Counts of all members in common buckets, by the clock of this node. */
export async function clusterHistogram(
  deps: StateDeps,
  request: ClusterHistogramQuery,
  options: SearchOptions = {},
): Promise<ClusterHistogram> {
  const peers = chooseMembers(deps, request);
  const isSpanKnown = request.fromMs !== undefined && request.toMs !== undefined;
  const spanShare = isSpanKnown ? 0 : SPAN_SHARE;
  const spanMs = await fetchSpan({ ...deps, timeoutMs: deps.timeoutMs * spanShare }, peers, { request, options });
  const bucketMs = bucketWidth({ spanMs, bucketMs: request.bucketMs, buckets: request.buckets });
  const counting = { ...deps, timeoutMs: deps.timeoutMs * (1 - spanShare) };
  const call = async ({ id, state, clock }: QueriedMember, { signal }: SearchOptions) => {
    const width = clock.offsetMs % bucketMs === 0 ? bucketMs : finerWidth(bucketMs, spanMs);
    const query = { ...correctedQuery(request, clock.offsetMs), bucketMs: width };
    const histogram = await state.logHistogram(query, {
      ...(signal && { signal }),
      ...memberBudget(counting, options),
    });
    check(histogram, width);
    return { id, offsetMs: clock.offsetMs, histogram };
  };
  const responses = await queryMembers(counting, peers, call, {
    ...(options.signal && { signal: options.signal }),
    countOf: ({ histogram }) => totalCount(histogram),
  });
  const histograms = responses.flatMap(({ value }) => value ?? []);
  return {
    ...mergeHistograms(histograms, { bucketMs, fromMs: request.fromMs, toMs: request.toMs }),
    counted: countedRange(histograms.map(({ offsetMs, histogram: { end } }) => ({ offsetMs, end }))),
    members: responses.map(({ value, report }) => withTruncation(report, value?.histogram.end)),
  };
}

/** The time range of the response: as requested, or that of the files of the members. */
async function fetchSpan(
  deps: StateDeps,
  peers: readonly ChosenMember[],
  { request, options }: { request: ClusterHistogramQuery; options: SearchOptions },
): Promise<number> {
  let { fromMs, toMs } = request;
  if (fromMs === undefined || toMs === undefined) {
    const responses = await queryMembers(
      deps,
      peers,
      (member, callOptions) => fetchFileTimes(member, { request, ...callOptions }),
      {
        ...(options.signal && { signal: options.signal }),
        countOf: () => 0,
      },
    );
    const latestMs = deps.nowMs() + MAX_AHEAD_MS;
    const times = responses.flatMap(({ value = [] }) => value).filter((timeMs) => timeMs <= latestMs);
    if (times.length === 0) return UNKNOWN_SPAN_MS;
    fromMs ??= times.reduce((a, b) => Math.min(a, b));
    toMs ??= times.reduce((a, b) => Math.max(a, b));
  }
  return Math.max(0, toMs - fromMs);
}

async function fetchFileTimes(
  { state, clock }: QueriedMember,
  { request, signal }: SearchOptions & { request: ClusterHistogramQuery },
): Promise<number[]> {
  const files = await state.logFiles(signal ? { signal } : {});
  const isAsked = ({ name, family }: LogFileDetails) =>
    (request.file === undefined || request.file === name) &&
    (request.family === undefined || request.family === family);
  return files
    .filter(isAsked)
    .flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs])
    .filter((timeMs): timeMs is number => typeof timeMs === 'number' && Number.isFinite(timeMs))
    .map((timeMs) => timeMs - clock.offsetMs);
}

function finerWidth(bucketMs: number, spanMs: number): number {
  const deps = FINER.find((count) => bucketMs % count === 0 && (spanMs / bucketMs) * count < MAX_BUCKETS / 2) ?? 1;
  return bucketMs / deps;
}

/** Rejects counts with another bucket width than requested. */
function check({ bucketMs, buckets, untimed }: Histogram, askedMs: number): void {
  if (bucketMs !== askedMs)
    throw new PortholeError('BAD_ANSWER', `the response has buckets of ${bucketMs} ms instead of ${askedMs} ms`);
  const isRight = buckets.length <= MAX_BUCKETS + 1 && isCount(untimed) && buckets.every(isBucket);
  if (!isRight) throw new PortholeError('BAD_ANSWER', 'invalid counts in the response');
}

function isBucket({ startMs, counts }: Histogram['buckets'][number]): boolean {
  if (!Number.isFinite(startMs) || typeof counts !== 'object' || counts === null) return false;
  return Object.entries(counts).every(([level, count]) => LEVELS.has(level) && isCount(count));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function totalCount({ buckets, untimed }: Histogram): number {
  return buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, untimed);
}

type Counts = Histogram['buckets'][number]['counts'];

/** The counts of a member, by its own clock, in buckets at most as wide as those of the response. */
interface MemberHistogram {
  id: string;
  offsetMs: number;
  histogram: Pick<Histogram, 'bucketMs' | 'buckets' | 'untimed'>;
}

interface HistogramGrid {
  bucketMs: number;
  /** The requested range, by the clock of this node: nothing outside is returned. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

/**
 * Common buckets by the clock of this node. A bucket of a member counts where its middle falls: wrong by at most half its
 * width, which is why members with a clock offset are queried with narrower ones.
 */
function mergeHistograms(
  histograms: readonly MemberHistogram[],
  { bucketMs, fromMs = -Infinity, toMs = Infinity }: HistogramGrid,
): Omit<ClusterHistogram, 'members' | 'counted'> {
  const first = Math.floor(fromMs / bucketMs);
  const last = Math.ceil(toMs / bucketMs) - 1;
  const merged = new Map<number, { counts: Map<keyof Counts, number>; nodes: Map<string, number> }>();
  let untimed = 0;
  for (const { id, offsetMs, histogram } of histograms) {
    untimed += histogram.untimed;
    for (const { startMs, counts } of histogram.buckets) {
      const middleMs = startMs + histogram.bucketMs / 2 - offsetMs;
      const place = Math.min(Math.max(Math.floor(middleMs / bucketMs), first), last);
      const bucket = merged.get(place) ?? { counts: new Map(), nodes: new Map() };
      merged.set(place, bucket);
      for (const [level, count] of Object.entries(counts) as [keyof Counts, number][]) {
        add(bucket.counts, level, count);
        add(bucket.nodes, id, count);
      }
    }
  }
  const buckets = [...merged]
    .sort(([a], [b]) => a - b)
    .map(([place, { counts, nodes }]) => ({
      startMs: place * bucketMs,
      counts: Object.fromEntries(counts) as Counts,
      nodes: Object.fromEntries(nodes),
    }));
  return { bucketMs, buckets, untimed };
}

function add<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
