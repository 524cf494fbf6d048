import {
  type ClusterHistogram,
  LEVELS,
  type MemberSelection,
  mergeBuckets,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import type { Histogram, HistogramQuery } from '@porthole/logs/types';
import { describeUncertainty, offsetAt } from '../../fan-out/clock-steps.ts';
import { chooseMembers, type QueriedMember, queryMembers, type StateDeps, toCall } from '../query-members.ts';
import { MAX_BUCKETS, planBuckets } from './bucket-span.ts';
import { correctedQuery, countedRange, isCount, memberBudget, withCounted, withTruncation } from './counting.ts';

const COUNTED_LEVELS: ReadonlySet<string> = new Set([...LEVELS, 'NONE']);

type ClusterHistogramQuery = HistogramQuery & MemberSelection;

/** Counts of all members in common buckets, by the clock of this node. */
export async function clusterHistogram(
  deps: StateDeps,
  request: ClusterHistogramQuery,
  options: SearchOptions = {},
): Promise<ClusterHistogram> {
  const peers = chooseMembers(deps, request);
  const { bucketMs, memberWidth, timeoutMs } = await planBuckets(deps, peers, { request, options });
  const counting = { ...deps, timeoutMs };
  const call = async ({ member, state, clock }: QueriedMember, callOptions: SearchOptions) => {
    const width = memberWidth(clock);
    const query = { ...correctedQuery(request, { member, clock }), bucketMs: width };
    const histogram = await state.logHistogram(query, {
      ...toCall(callOptions),
      ...memberBudget(counting, options),
    });
    check(histogram, width);
    const doubt = describeUncertainty(clock, request);
    return { id: member.id, clock, offsetAt: (timeMs: number) => offsetAt(clock, timeMs), histogram, doubt };
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
    counted: countedRange(histograms.map(({ clock, histogram: { end } }) => ({ clock, end }))),
    members: responses.map(({ value, report }) => {
      const counted = value && { clock: value.clock, end: value.histogram.end };
      return withCounted(withTruncation(report, value?.histogram.end, value?.doubt), counted);
    }),
  };
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

function totalCount({ buckets, untimed }: Histogram): number {
  return buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, untimed);
}
