import {
  type Floors,
  type MemberReport,
  type MemberSelection,
  requestOf,
  type SearchOptions,
  type SelectableMember,
} from '@porthole/contract';
import type { SearchEnd } from '@porthole/logs/types';
import { type SteppedClock, toMemberEdge, toMemberRange, toOwnTime } from '../../fan-out/clock-steps.ts';
import { unreadPart } from '../../requests/member-failure.ts';
import type { StateDeps } from '../query-members.ts';

/** Fraction of the member timeout used as its scan budget; the rest is for the network. Incomplete counts are still returned. */
const SCAN_SHARE = 0.8;

/** A time range no record is in: a range must not be empty. The last millisecond that has a four-digit year. */
const NEVER_MS = 253_402_300_799_998;

/** As far as a time can go back: the member is asked for everything. */
const ALWAYS_MS = -8.64e15;

/** The scan budget of a member: as requested, but within its timeout. */
export function memberBudget(
  { timeoutMs }: Pick<StateDeps, 'timeoutMs'>,
  { budgetMs = Infinity, client }: SearchOptions,
): SearchOptions {
  return { budgetMs: Math.max(1, Math.floor(Math.min(budgetMs, timeoutMs * SCAN_SHARE))), client };
}

/** Marks an incomplete scan in the report, or one of which it is uncertain what should be counted. */
export function withTruncation(
  report: MemberReport,
  end: Pick<SearchEnd, 'reason' | 'problems' | 'limits'> | undefined,
  doubt?: string,
): MemberReport {
  if (end === undefined) return report;
  if (end.reason !== 'exhausted') return { ...report, detail: `scan stopped: ${end.reason}`, isPartial: true };
  const detail = unreadPart(end) ?? doubt;
  return detail === undefined ? report : { ...report, detail, isPartial: true };
}

/** The part of the time range that was counted of a member that has not counted all of it, by the clock of this node. */
export function withCounted(report: MemberReport, counted: Counted | undefined): MemberReport {
  if (counted === undefined) return report;
  const { clock, end } = counted;
  if (report.outcome === 'ok' && end.reason === 'exhausted' && end.limits === undefined) return report;
  const { coveredFromMs, coveredToMs } = end;
  // Untrusted, like all that members say.
  const isRange = Number.isFinite(coveredFromMs) && Number.isFinite(coveredToMs);
  const toOwn = (timeMs: number | null) => (isRange ? Math.round(toOwnTime(clock, timeMs ?? 0)) : null);
  return { ...report, coveredFromMs: toOwn(coveredFromMs), coveredToMs: toOwn(coveredToMs) };
}

interface Counted {
  clock: SteppedClock;
  end: Pick<SearchEnd, 'reason' | 'coveredFromMs' | 'coveredToMs' | 'limits'>;
}

/** The time range all members have scanned, by the clock of this node; `null` if no scan was stopped early. */
export function countedRange(responses: readonly Counted[]): { fromMs: number; toMs: number } | null {
  const cut = responses.filter(({ end }) => end.reason !== 'exhausted' || end.limits !== undefined);
  if (cut.length === 0) return null;
  let [fromMs, toMs] = [-Infinity, Infinity];
  for (const { clock, end } of cut) {
    // Untrusted: an invalid time covers nothing.
    fromMs = Math.max(fromMs, toOwnTime(clock, toTime(end.coveredFromMs)));
    toMs = Math.min(toMs, toOwnTime(clock, toTime(end.coveredToMs)));
  }
  return { fromMs: Math.round(fromMs), toMs: Math.round(Math.max(fromMs, toMs)) };
}

function toTime(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** The fields of a query that are times. */
interface TimedQuery extends MemberSelection {
  fromMs?: number;
  toMs?: number;
  newSinceMs?: number;
}

/** The query for one member: with times by its clock, and only the logs that are selected of it. */
export function correctedQuery<Q extends TimedQuery>(
  request: Q,
  { member, clock }: { member: SelectableMember; clock: SteppedClock },
): ReturnType<typeof requestOf<Q>> {
  const { newSinceMs, floors } = request;
  const corrected = {
    ...requestOf(member, request),
    ...toMemberRange(clock, request),
    ...(newSinceMs !== undefined && { newSinceMs: toMemberEdge(clock, newSinceMs, 'from') }),
  };
  return withFloor(corrected, floors, member.id);
}

/** Whether a number of another member is a count. */
export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The query of a member, by its clock, without the records before its floor: those are read from the archive. */
export function withFloor<Query extends { fromMs?: number; toMs?: number }>(
  query: Query,
  floors: Floors | undefined,
  id: string,
): Query {
  const floorMs = floors && (Object.hasOwn(floors, id) ? floors[id] : floors['*']);
  if (floorMs === undefined || floorMs <= ALWAYS_MS) return query;
  const { fromMs = floorMs, toMs } = query;
  const startMs = Math.max(fromMs, floorMs);
  if (toMs !== undefined && startMs >= toMs) return { ...query, fromMs: NEVER_MS, toMs: NEVER_MS + 1 };
  return { ...query, fromMs: startMs };
}
