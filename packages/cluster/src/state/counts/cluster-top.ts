import {
  addBuckets,
  type ClusterTop,
  compareValues,
  type MemberReport,
  type MemberSelection,
  mergeTop,
  PortholeError,
  type SearchOptions,
  type TopOverTime,
} from '@porthole/contract';
import { canonicalField } from '@porthole/logs/query';
import type { Top, TopQuery, TopValue } from '@porthole/logs/types';
import { describeUncertainty, offsetAt, type SteppedClock } from '../../fan-out/clock-steps.ts';
import type { MemberResponse } from '../../fan-out/fan-out.ts';
import {
  type ChosenMember,
  chooseMembers,
  type QueriedMember,
  queryMembers,
  type StateDeps,
  toCall,
} from '../query-members.ts';
import { type BucketPlan, MAX_BUCKETS, planBuckets } from './bucket-span.ts';
import { correctedQuery, countedRange, isCount, memberBudget, withTruncation } from './counting.ts';

/** Maximum values of a node. As many are requested: one that is rare everywhere may be among the most frequent overall. */
const MAX_VALUES = 10_000;

/** Maximum values that a node counts by name, the empty one not among them; further ones have no buckets. */
const MAX_GIVEN_VALUES = 1000;

/** Maximum buckets of a node, of all values together. */
const MAX_BUCKETS_OF_ALL = 100_000;

type ClusterTopQuery = TopQuery & MemberSelection;

interface CountedTop extends TopOverTime {
  top: Top;
  clock: SteppedClock;
  doubt: string | undefined;
}

type TopResponse = MemberResponse<CountedTop>;

/** Counts by value of all members. */
export async function clusterTop(
  deps: StateDeps,
  request: ClusterTopQuery,
  options: SearchOptions = {},
): Promise<ClusterTop> {
  const peers = chooseMembers(deps, request);
  const { buckets, bucketMs, ...query } = request;
  const isOverTime = buckets !== undefined || bucketMs !== undefined;
  // Over time there are two requests: which values are the most frequent is known only after the first.
  const counting = isOverTime ? { ...deps, timeoutMs: deps.timeoutMs / 2 } : deps;
  const responses = await fetchTops(counting, peers, {
    options,
    toQuery: () => ({ ...query, limit: MAX_VALUES }),
  });
  const tops = responses.flatMap(({ value }) => value ?? []);
  const { by, limit, values: given } = request;
  const merged = {
    by: canonicalField(by),
    ...mergeTop(tops, { limit, areGiven: given !== undefined }),
    counted: countedRange(tops.map(({ clock, top: { end } }) => ({ clock, end }))),
    members: toReports(responses),
  };
  if (!isOverTime) return merged;
  return countOverTime(counting, { peers, request, options, merged, first: responses });
}

interface OverTime {
  peers: readonly ChosenMember[];
  request: ClusterTopQuery;
  options: SearchOptions;
  merged: ClusterTop;
  /** Responses to the first request. */
  first: readonly TopResponse[];
}

/** Asks for the values of the first response again, by time. */
async function countOverTime(
  deps: StateDeps,
  { peers, request, options, merged, first }: OverTime,
): Promise<ClusterTop> {
  const { buckets = 1, bucketMs: width, ...query } = request;
  const grid = { ...request, buckets, ...(width !== undefined && { bucketMs: width }) };
  const values = merged.values.flatMap(({ value }) => (value === '' ? [] : [value])).slice(0, MAX_GIVEN_VALUES);
  const plan = await planBuckets(deps, peers, { request: grid, options, maxBuckets: bucketsFor(values.length) });
  const { bucketMs, timeoutMs } = plan;
  if (values.length === 0) return { ...merged, bucketMs };
  // What a member has not counted cannot be divided.
  const counted = peers.filter((_, index) => first[index]?.value !== undefined);
  const second = await fetchTops({ ...deps, timeoutMs }, counted, {
    options,
    plan,
    toQuery: (memberMs) => ({ ...query, values, limit: values.length, ...(memberMs && { bucketMs: memberMs }) }),
  });
  const tops = second.flatMap(({ value }) => value ?? []);
  const isWhole = tops.length === counted.length && tops.every(({ top: { end } }) => end.reason === 'exhausted');
  const exact = isWhole && !merged.isExact ? withExactCounts(merged.values, tops) : merged.values;
  const total = merged.others + countAll(merged.values);
  const reports = new Map(toReports(second).map((report) => [report.id, report]));
  return {
    ...merged,
    values: addBuckets(exact, tops, { bucketMs, fromMs: request.fromMs, toMs: request.toMs }),
    others: Math.max(0, total - countAll(exact)),
    bucketMs,
    members: merged.members.map((report) => laterFailure(report, reports.get(report.id))),
  };
}

/** The report of the second request where it went worse than the first. */
function laterFailure(first: MemberReport, second: MemberReport | undefined): MemberReport {
  const isWorse = second !== undefined && (second.outcome !== first.outcome || second.isPartial) && !first.isPartial;
  return isWorse ? { ...second, count: first.count } : first;
}

function bucketsFor(values: number): number {
  return Math.max(1, Math.min(MAX_BUCKETS, Math.floor(MAX_BUCKETS_OF_ALL / Math.max(1, values))));
}

interface FetchOptions {
  options: SearchOptions;
  /** For counts over time. */
  plan?: BucketPlan;
  /** The query for a member, given the width of its buckets. */
  toQuery(bucketMs: number | undefined): ClusterTopQuery;
}

function fetchTops(
  deps: StateDeps,
  peers: readonly ChosenMember[],
  { options, plan, toQuery }: FetchOptions,
): Promise<TopResponse[]> {
  const call = async ({ member, state, clock }: QueriedMember, callOptions: SearchOptions): Promise<CountedTop> => {
    const bucketMs = plan?.memberWidth(clock);
    const asked = toQuery(bucketMs);
    const query = correctedQuery(asked, { member, clock });
    const top = await state.logTop(query, { ...toCall(callOptions), ...memberBudget(deps, options) });
    check(top, query);
    const doubt = describeUncertainty(clock, asked);
    return { id: member.id, clock, offsetAt: (timeMs) => offsetAt(clock, timeMs), top, doubt };
  };
  return queryMembers(deps, peers, call, {
    ...(options.signal && { signal: options.signal }),
    countOf: ({ top }) => countAll(top.values) + top.others,
  });
}

function toReports(responses: readonly TopResponse[]) {
  return responses.map(({ value, report }) => withTruncation(report, value?.top.end, value?.doubt));
}

/** Responses of members are untrusted. */
function check(top: Top, { limit, bucketMs }: TopQuery): void {
  const { values, others, missing, distinct, isExact } = top;
  const isRight =
    values.length <= limit &&
    [others, missing, distinct].every(isCount) &&
    typeof isExact === 'boolean' &&
    values.every(isValue);
  if (!isRight) throw new PortholeError('BAD_ANSWER', 'invalid counts in the response');
  if (top.bucketMs !== bucketMs)
    throw new PortholeError('BAD_ANSWER', `the response has buckets of ${top.bucketMs} ms instead of ${bucketMs} ms`);
}

function isValue({ value, count, error = 0, buckets = [] }: TopValue): boolean {
  const areBuckets = buckets.every((bucket) => Number.isFinite(bucket.startMs) && isCount(bucket.count));
  return typeof value === 'string' && [count, error].every(isCount) && buckets.length <= MAX_BUCKETS + 1 && areBuckets;
}

function countAll(values: readonly TopValue[]): number {
  return values.reduce((sum, { count }) => sum + count, 0);
}

type ClusterValue = ClusterTop['values'][number];

/** The values with the counts of a second request about them only, which are exact. */
function withExactCounts(values: readonly ClusterValue[], tops: readonly CountedTop[]): ClusterValue[] {
  const merged = mergeTop(tops, { limit: Number.POSITIVE_INFINITY, areGiven: true });
  const counted = new Map(merged.values.map((value) => [value.value, value]));
  return values.map((value) => counted.get(value.value) ?? value).sort(compareValues);
}
