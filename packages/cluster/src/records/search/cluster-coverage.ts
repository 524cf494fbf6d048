import type { MemberReport } from '@porthole/contract';
import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { QueriedLane } from '../merge/member-lane.ts';
import type { QueriedMember } from './resume-position.ts';

/** How far records of one log may be out of order. */
const DISORDER_MS = 60_000;

/** Both ends included. `null`: no coverage. */
export type Coverage = Pick<SearchEnd, 'coveredFromMs' | 'coveredToMs'>;

export interface CoverageFacts {
  order: SearchQuery['order'];
  /** Where the previous page stopped; `null` for the first page. */
  beganMs: number | null;
  queried: readonly QueriedMember[];
  /** Reports of members that are exhausted or gone. */
  reports: readonly MemberReport[];
}

const NONE: Coverage = { coveredFromMs: null, coveredToMs: null };

/** Coverage of one member, by the clock of this node; nothing until it has reported it. */
export function memberCoverage({ lane }: Pick<QueriedMember, 'lane'>, order: SearchQuery['order']): Coverage {
  const own = lane.ownCoverage;
  if (!own) return NONE;
  let [from, to] = [own.fromMs, own.toMs];
  // Records that it sent beyond the limit are not in the response.
  const { firstUndeliveredMs: atMs } = lane;
  if (atMs !== undefined) {
    if (order === 'newest') from = Math.max(from, atMs + 1);
    else to = Math.min(to, atMs - 1);
  }
  return from <= to ? { coveredFromMs: from, coveredToMs: to } : NONE;
}

/**
 * The time range for which the response has every matching record of the members with outcome `ok`. An exhausted member does
 * not limit it, however few records it had.
 */
export function clusterCoverage({ order, beganMs, queried, reports }: CoverageFacts): Coverage {
  const responding = queried.filter(({ lane }) => lane.report().outcome === 'ok');
  // The side that remains to be read, and the side where it started.
  const limits = { from: -Infinity, to: Infinity };
  const named = { from: Infinity, to: -Infinity };
  for (const member of responding) {
    const { coveredFromMs, coveredToMs } = memberCoverage(member, order);
    const isWhole = isExhausted(member.lane);
    if (coveredFromMs === null || coveredToMs === null) {
      // A member without timestamps does not limit the range.
      if (isWhole && member.lane.ownCoverage === null && member.began === 'beginning') continue;
      return NONE;
    }
    named.from = Math.min(named.from, coveredFromMs);
    named.to = Math.max(named.to, coveredToMs);
    const isFirstPage = member.began === 'beginning';
    if (!(order === 'newest' ? isWhole : isFirstPage)) limits.from = Math.max(limits.from, coveredFromMs);
    if (!(order === 'newest' ? isFirstPage : isWhole)) limits.to = Math.min(limits.to, coveredToMs);
  }
  // Records of exhausted members up to the end of the previous page are in that page.
  if (beganMs !== null) {
    const slackMs = reports.some(({ outcome }) => outcome === 'ok') ? DISORDER_MS : 0;
    if (order === 'newest') limits.to = Math.min(limits.to, Math.ceil(beganMs) - 1 - slackMs);
    else limits.from = Math.max(limits.from, Math.floor(beganMs) + 1 + slackMs);
  }
  const fromMs = limits.from === -Infinity ? named.from : limits.from;
  const toMs = limits.to === Infinity ? named.to : limits.to;
  const isRange = Number.isFinite(fromMs) && Number.isFinite(toMs) && fromMs <= toMs;
  return isRange ? { coveredFromMs: fromMs, coveredToMs: toMs } : NONE;
}

/** Whether the response has everything of a member: not if it serves only the ends of its files. */
function isExhausted({ end, hasNext }: QueriedLane): boolean {
  return end?.reason === 'exhausted' && end.limits === undefined && !hasNext;
}
