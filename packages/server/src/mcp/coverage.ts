import {
  type AnswerFacts,
  type ClusterEnd,
  coverageOf,
  isRest,
  type MemberReport,
  missingText,
} from '@porthole/contract';

/**
 * Of what the result of a tool is the whole, in words: whoever reads it must not mistake a part for the whole. `gaps` is
 * empty if nothing is missing.
 */
export interface ResultCoverage {
  /** What was read: `every matching record of 3 nodes`. */
  about: string;
  gaps: string[];
}

export function describeSearch(end: ClusterEnd, limit: number): ResultCoverage {
  const gaps = describeGaps(end);
  if (end.reason === 'limit')
    gaps.push(
      end.cursor === null
        ? `a node has more than ${limit} records: ask for a shorter time, or narrow the question`
        : `there are more than ${limit} records: pass "cursor" to continue, or narrow the question`,
    );
  if (end.reason === 'time budget') gaps.push('the time for one search was used up: pass "cursor" to continue');
  if (end.reason === 'cancelled') gaps.push('the search was cancelled');
  const { coveredFromMs, coveredToMs } = end;
  const range =
    typeof coveredFromMs === 'number' && typeof coveredToMs === 'number'
      ? ` from ${new Date(coveredFromMs).toISOString()} to ${new Date(coveredToMs).toISOString()}`
      : '';
  return { about: `every matching record${range} of ${countNodes(end.members)}`, gaps };
}

/** One line for each part that is missing, or of which an earlier state is shown. */
export function describeGaps(answer: AnswerFacts): string[] {
  return coverageOf(answer).missing.flatMap((part) => (isRest(part) ? [] : [missingText(part)]));
}

export function countNodes(members: readonly MemberReport[]): string {
  return members.length === 1 ? 'node '.concat(members[0]?.id ?? '') : `${members.length} nodes`;
}

/** The first `most` of a list. What is left out is a gap. */
export function takeFirst<T>(items: readonly T[], most: number, what: string): { taken: T[]; gaps: string[] } {
  const gaps = items.length > most ? [`${items.length - most} of ${items.length} ${what} are left out`] : [];
  return { taken: items.slice(0, most), gaps };
}
