import { type ClusterHistogram, type MemberSelection, PortholeError, type SearchOptions } from '@porthole/contract';
import { bucketWidth } from '@porthole/logs';
import type { Histogram, HistogramQuery, LogFileDetails } from '@porthole/logs/types';
import { type ChosenMember, chooseMembers } from '../choose-members.ts';
import { type QueriedMember, queryMembers, type StateDeps } from '../state-deps.ts';
import { correctedQuery } from './corrected-query.ts';
import { countedRange, memberBudget, withTruncation } from './counting.ts';
import { mergeHistograms } from './merge-histograms.ts';

/** A member whose clock is off is asked for stretches so much narrower, where they divide the width. */
const FINER = [20, 10, 8, 5, 4, 3, 2];

/** What a node gives at most; more would be made wider there. */
const MAX_BUCKETS = 10_000;

/** The width where nobody tells how long the logs are. */
const UNKNOWN_SPAN_MS = 24 * 3_600_000;

/** Of a member's time, what telling how long its logs are may take. */
const SPAN_SHARE = 0.25;

/** Clocks are wrong by hours and zones, not by more: such a time says nothing about the others' logs. */
const MAX_AHEAD_MS = 24 * 3_600_000;

const LEVELS: ReadonlySet<string> = new Set(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'NONE']);

type ClusterHistogramQuery = HistogramQuery & MemberSelection;

/** Counts of all members in one grid, by our clock. */
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

/** How long a time the answer covers: what was asked for, else what the members' files cover. */
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

/** What counts in other stretches than it was asked for cannot be added to the rest. */
function check({ bucketMs, buckets, untimed }: Histogram, askedMs: number): void {
  if (bucketMs !== askedMs)
    throw new PortholeError(
      'BAD_ANSWER',
      `it counts in stretches of ${bucketMs} ms where ${askedMs} ms were asked for`,
    );
  const isRight = buckets.length <= MAX_BUCKETS + 1 && isCount(untimed) && buckets.every(isBucket);
  if (!isRight) throw new PortholeError('BAD_ANSWER', 'its counts make no sense');
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
