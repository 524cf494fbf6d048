import { LogSources, type MemberSelection, type SearchOptions } from '@porthole/contract';
import { bucketWidth } from '@porthole/logs';
import type { LogFileDetails, LogSelection, RecordFilter } from '@porthole/logs/types';
import { type SteppedClock, toOwnTime } from '../../fan-out/clock-steps.ts';
import { type ChosenMember, type QueriedMember, queryMembers, type StateDeps, toCall } from '../query-members.ts';

/* The common buckets of counts over time: the range they divide, and the width of those of a member. */

/**
 * A member with a clock offset is queried with buckets narrower by this factor, if it divides the width: a merged bucket
 * counts where its middle falls.
 */
const FINER = [20, 10, 8, 5, 4, 3, 2];

/** Maximum buckets of a node. */
export const MAX_BUCKETS = 10_000;

/** Width if the time range of the logs is unknown. */
const UNKNOWN_SPAN_MS = 24 * 3_600_000;

/** Fraction of the member timeout for finding the time range of its logs. */
const SPAN_SHARE = 0.25;

/** Larger clock errors are implausible: such a timestamp must not affect the range of the others. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/** The part of a query that decides which time range is divided. */
interface SpanQuery extends LogSelection, Pick<RecordFilter, 'fromMs' | 'toMs'>, MemberSelection {}

interface BucketRequest extends SpanQuery {
  bucketMs?: number;
  buckets: number;
}

interface PlanOptions {
  request: BucketRequest;
  options: SearchOptions;
  /** For more, a node would widen them. */
  maxBuckets?: number;
}

/** Buckets that the counts of all members are merged into. */
export interface BucketPlan {
  bucketMs: number;
  /** Width of the buckets of a member with this clock. */
  memberWidth(clock: SteppedClock): number;
  /** What is left of the timeout of each member. */
  timeoutMs: number;
}

/** Chooses the buckets, for which members may have to be asked what their logs cover. */
export async function planBuckets(
  deps: StateDeps,
  peers: readonly ChosenMember[],
  { request, options, maxBuckets = MAX_BUCKETS }: PlanOptions,
): Promise<BucketPlan> {
  const isSpanKnown = request.fromMs !== undefined && request.toMs !== undefined;
  const spanShare = isSpanKnown ? 0 : SPAN_SHARE;
  const spanMs = await fetchSpan({ ...deps, timeoutMs: deps.timeoutMs * spanShare }, peers, { request, options });
  const bucketMs = bucketWidth({ spanMs, bucketMs: request.bucketMs, buckets: request.buckets, maxBuckets });
  return {
    bucketMs,
    memberWidth: ({ offsetMs, steps = [] }) => {
      const isAligned = [offsetMs, ...steps.map((step) => step.offsetMs)].every((each) => each % bucketMs === 0);
      return isAligned ? bucketMs : finerWidth({ bucketMs, spanMs, maxBuckets });
    },
    timeoutMs: deps.timeoutMs * (1 - spanShare),
  };
}

/** The time range of the response: as requested, or that of the files of the members. */
async function fetchSpan(
  deps: StateDeps,
  peers: readonly ChosenMember[],
  { request, options }: { request: SpanQuery; options: SearchOptions },
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
  { request, ...callOptions }: SearchOptions & { request: SpanQuery },
): Promise<number[]> {
  const files = await state.logFiles(toCall(callOptions));
  const logs = new LogSources(request.src);
  const isAsked = ({ name, family }: LogFileDetails) => logs.hasFile(name, family);
  return files
    .filter(isAsked)
    .flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs])
    .filter((timeMs): timeMs is number => typeof timeMs === 'number' && Number.isFinite(timeMs))
    .map((timeMs) => toOwnTime(clock, timeMs));
}

function finerWidth({
  bucketMs,
  spanMs,
  maxBuckets,
}: {
  bucketMs: number;
  spanMs: number;
  maxBuckets: number;
}): number {
  const isUsable = (factor: number) => bucketMs % factor === 0 && (spanMs / bucketMs) * factor < maxBuckets / 2;
  return bucketMs / (FINER.find(isUsable) ?? 1);
}
