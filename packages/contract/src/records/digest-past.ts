import type { DigestBaseline, DigestQuery } from '@porthole/logs/types';
import type { ClusterDigest } from '../cluster-state.ts';
import type { MemberReport, MemberSelection } from '../member.ts';

/* Which groups are new is known from those of all records before that time. */

type NewQuery = DigestQuery & MemberSelection & { newSinceMs: number };

/** Asks for the groups that the groups of a request are compared with. */
export function pastRequest(request: NewQuery, limit: number): DigestQuery & MemberSelection {
  const { fromMs: _fromMs, newSinceMs, onlyNew: _onlyNew, floors: _floors, ...query } = request;
  return { ...query, toMs: newSinceMs, limit };
}

/** What that response is worth: the groups of the past, and of whom some may be missing. */
export function readPast(
  { groups, totalGroups, ungrouped, members, archive }: Omit<ClusterDigest, 'baseline'>,
  newSinceMs: number,
): { past: { newSinceMs: number; groups: ClusterDigest['groups']; unread: string[] }; baseline: DigestBaseline } {
  const gaps = new Map<string, string>();
  for (const report of members)
    if (!wasRead(report, newSinceMs)) gaps.set(report.id, `${report.id}: ${report.detail ?? report.outcome}`);
  if (archive?.problem) gaps.set('', `archive: ${archive.problem}`);
  if (gaps.size === 0 && (totalGroups > groups.length || ungrouped > 0)) gaps.set('', 'too many groups');
  const fromMs = groups.reduce((first, group) => Math.min(first, group.firstMs ?? Infinity), Infinity);
  return {
    past: { newSinceMs, groups, unread: [...gaps.keys()] },
    baseline: {
      fromMs: Number.isFinite(fromMs) ? fromMs : null,
      isComplete: gaps.size === 0,
      ...(gaps.size > 0 && { detail: shorten([...gaps.values()]) }),
    },
  };
}

/** Of a node that no longer exists, the archive is all there is. */
function wasRead({ outcome, isPartial, archive }: MemberReport, newSinceMs: number): boolean {
  if (isPartial) return false;
  if (outcome === 'ok' || !archive) return outcome === 'ok';
  return outcome === 'left' || outcome === 'gone' || (archive.shippedToMs ?? -Infinity) >= newSinceMs;
}

const NAMED_GAPS = 3;

function shorten(gaps: readonly string[]): string {
  const more = gaps.length - NAMED_GAPS;
  return `${gaps.slice(0, NAMED_GAPS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
