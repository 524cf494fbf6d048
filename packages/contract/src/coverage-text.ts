import type { Coverage, Missing, MissingReason } from './coverage.ts';
import type { MemberOutcome, MemberReport } from './member.ts';

/** The words every client uses for the same fact. */
const REASONS: Readonly<Record<MissingReason, string>> = {
  refused: 'no connection',
  timeout: 'timed out',
  tls: 'certificate not trusted',
  auth: 'rejected our credentials',
  'not supported': 'not supported',
  version: 'invalid response',
  failed: 'failed',
  gone: 'registration expired',
  left: 'left the cluster',
  limit: 'there are more',
  'time budget': 'the time for one search was used up',
  cancelled: 'the search was stopped',
  unreadable: 'not read, or only in part',
  part: 'only a part',
  archive: 'what only the archive has is missing',
  registry: 'the list of nodes is an earlier one',
};

export function outcomeText(outcome: MemberOutcome): string {
  return outcome === 'ok' ? 'up' : REASONS[outcome];
}

export type ShowTime = (timeMs: number) => string;

const showIso: ShowTime = (timeMs) => new Date(timeMs).toISOString();

/** `node-2: no connection: connect ECONNREFUSED; shown as of 2026-11-15T10:00:00.000Z`. */
export function missingText({ node, reason, detail, asOfMs }: Omit<Missing, 'isExpected'>, showTime = showIso): string {
  const asOf = asOfMs === null ? '' : `; shown as of ${showTime(asOfMs)}`;
  // A file and its cause, or a part and which, say it all; many causes begin with the same words.
  const isPlain =
    detail !== null && (reason === 'part' || reason === 'unreadable' || detail.startsWith(REASONS[reason]));
  const why = [...(isPlain ? [] : [REASONS[reason]]), ...(detail === null ? [] : [detail])].join(': ');
  return `${node === null ? '' : `${node}: `}${why}${asOf}`;
}

/** The same for one member, also where nothing is missing. */
export function reportText({ id, outcome, detail, asOfMs }: MemberReport): string {
  return missingText({
    node: id,
    reason: outcome === 'ok' ? 'part' : outcome,
    detail: detail ?? (outcome === 'ok' ? 'up' : null),
    asOfMs,
  });
}

/** Parts that are named in a sentence; the rest is a number. */
const MAX_NAMED = 3;

/** What is missing, in one line; empty if nothing is. */
export function gapsText(coverage: Coverage, showTime = showIso): string {
  const gaps = coverage.missing.map((part) => missingText(part, showTime));
  const more = gaps.length > MAX_NAMED ? [`${gaps.length - MAX_NAMED} more`] : [];
  return [...gaps.slice(0, MAX_NAMED), ...more].join(' · ');
}

/**
 * A statement of absence, as far as the coverage allows it: `no match`, or `no match in what was read`. What is missing
 * is said once, beside it.
 */
export function absenceText(claim: string, { isComplete }: Pick<Coverage, 'isComplete'>): string {
  return isComplete ? claim : `${claim} in what was read`;
}

/** `2 of 3 nodes responded`, `3 of 3 nodes responded, 2 of them in part`; of members that have left, nothing is expected. */
export function respondedText(members: readonly MemberReport[]): string {
  const asked = members.filter(({ outcome }) => outcome !== 'left');
  const responded = asked.filter(({ outcome }) => outcome === 'ok');
  const inPart = responded.filter(({ isPartial }) => isPartial).length;
  const part = inPart === 0 ? '' : `, ${inPart === responded.length ? 'all' : inPart} of them in part`;
  return `${responded.length} of ${asked.length} nodes responded${part}`;
}
