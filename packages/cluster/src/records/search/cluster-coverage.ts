import type { MemberReport } from '@porthole/contract';
import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import type { MemberLane } from '../merge/member-lane.ts';
import { isTime } from '../to-cluster-record.ts';
import type { QueriedMember } from './resume-position.ts';

/** Records of one log may be so much out of order. */
const DISORDER_MS = 60_000;

/** Both ends included. `null`: there is no such time range. */
export type Coverage = Pick<SearchEnd, 'coveredFromMs' | 'coveredToMs'>;

export interface CoverageFacts {
  order: SearchQuery['order'];
  /** Where an earlier page stopped; `null` where this is the first one. */
  beganMs: number | null;
  asked: readonly QueriedMember[];
  /** On members that have nothing left, or are not there any more. */
  reports: readonly MemberReport[];
}

const NONE: Coverage = { coveredFromMs: null, coveredToMs: null };

/** What is covered of one member's records, by this node's clock; nothing before it has said so itself. */
export function memberCoverage({ lane }: Pick<QueriedMember, 'lane'>, order: SearchQuery['order']): Coverage {
  const own = lane.ownCoverage;
  if (!own) return NONE;
  let [from, to] = [own.fromMs, own.toMs];
  // Records that it gave and that are beyond the limit are not in the response.
  for (const atMs of lane.undeliveredTimes()) {
    if (order === 'newest') from = Math.max(from, atMs + 1);
    else to = Math.min(to, atMs - 1);
  }
  return from <= to ? { coveredFromMs: from, coveredToMs: to } : NONE;
}

/**
 * The time range of which the response has every matching record of the members whose outcome is `ok`. A member that gave
 * everything it has does not limit it, however few records that were.
 */
export function clusterCoverage({ order, beganMs, asked, reports }: CoverageFacts): Coverage {
  const responding = asked.filter(({ lane }) => lane.report().outcome === 'ok');
  // The side that is left to be read, and the side where it began.
  const limits = { from: -Infinity, to: Infinity };
  const named = { from: Infinity, to: -Infinity };
  for (const member of responding) {
    const { coveredFromMs, coveredToMs } = memberCoverage(member, order);
    const isWhole = isExhausted(member.lane);
    if (coveredFromMs === null || coveredToMs === null) {
      // One without any record that has a time leaves nothing out.
      if (isWhole && member.lane.ownCoverage === null && member.began === 'beginning') continue;
      return NONE;
    }
    named.from = Math.min(named.from, coveredFromMs);
    named.to = Math.max(named.to, coveredToMs);
    const isFirstPage = member.began === 'beginning';
    if (!(order === 'newest' ? isWhole : isFirstPage)) limits.from = Math.max(limits.from, coveredFromMs);
    if (!(order === 'newest' ? isFirstPage : isWhole)) limits.to = Math.min(limits.to, coveredToMs);
  }
  // Of members that had nothing left, records up to where the earlier page ended are in that page.
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

/** Whether all that a member has is in the response: not of one that serves only the ends of its files. */
function isExhausted({ end, hasNext }: MemberLane): boolean {
  return end?.reason === 'exhausted' && end.limits === undefined && !hasNext;
}

/** A member may say anything: what is no time range covers nothing. */
export function coveredRange(
  { coveredFromMs, coveredToMs }: Coverage,
  offsetMs: number,
): { fromMs: number; toMs: number } | null {
  if (!isTime(coveredFromMs) || !isTime(coveredToMs) || coveredFromMs > coveredToMs) return null;
  return { fromMs: Math.ceil(coveredFromMs - offsetMs), toMs: Math.floor(coveredToMs - offsetMs) };
}
