import {
  type ClusterHistogram,
  LEVELS,
  type MemberSelection,
  mergeBuckets,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import { bucketWidth } from '@porthole/logs';
import type { Histogram, HistogramQuery, LogFileDetails } from '@porthole/logs/types';
import { type ChosenMember, chooseMembers } from '../choose-members.ts';
import { type QueriedMember, queryMembers, type StateDeps } from '../state-deps.ts';
import { correctedQuery, countedRange, memberBudget, withTruncation } from './counting.ts';

/**
 * A member with a clock offset is queried with buckets narrower by this factor, if it divides the width: a merged bucket
 * counts where its middle falls.
 */
const FINER = [20, 10, 8, 5, 4, 3, 2];

/** Maximum buckets of a node; for more it would widen them. */
const MAX_BUCKETS = 10_000;

/** Width if the time range of the logs is unknown. */
const UNKNOWN_SPAN_MS = 24 * 3_600_000;

/** Fraction of the member timeout for finding the time range of its logs. */
const SPAN_SHARE = 0.25;

/** Larger clock errors are implausible: such a timestamp must not affect the range of the others. */
const MAX_AHEAD_MS = 24 * 3_600_000;

const COUNTED_LEVELS: ReadonlySet<string> = new Set([...LEVELS, 'NONE']);

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
    bucketMs,
    buckets: mergeBuckets(histograms, { bucketMs, fromMs: request.fromMs, toMs: request.toMs }),
    untimed: histograms.reduce((sum, { histogram }) => sum + histogram.untimed, 0),
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
  return Object.entries(counts).every(([level, count]) => COUNTED_LEVELS.has(level) && isCount(count));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function totalCount({ buckets, untimed }: Histogram): number {
  return buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, untimed);
}
