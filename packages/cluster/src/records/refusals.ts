import { codeOf, type ErrorCode, type MemberReport } from '@porthole/contract';
import { unreadPart } from '../state/counts/counting.ts';
import type { ClusterDeps } from './cluster-deps.ts';
import type { MemberLane } from './merge/member-lane.ts';

/** What a member says of a question that no member could answer. */
const INVALID_REQUEST_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BAD_REQUEST',
  'PARAMETER_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'CURSOR_INVALID',
  'CURSOR_GONE',
  'FILE_NAME_MISSING',
  'FILE_NAME_INVALID',
]);

const LOG_MISSING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

type QueriedLane = Pick<MemberLane, 'hasAnswered' | 'problem'>;

/**
 * Throws what is wrong with a question that no member has taken: one of them refuses it, or none of them has such a log.
 * `isFirst`: no member has answered an earlier page.
 */
export function throwIfRejected(lanes: readonly QueriedLane[], { isFirst }: { isFirst: boolean }): void {
  if (lanes.some(({ hasAnswered }) => hasAnswered)) return;
  const problems = lanes.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const refusal = problems.find(isInvalidRequest);
  if (refusal !== undefined) throw refusal;
  const isNowhere = problems.length > 0 && problems.length === lanes.length && problems.every(isLogMissing);
  if (isNowhere && isFirst) throw problems[0];
}

export function isInvalidRequest(problem: unknown): boolean {
  return INVALID_REQUEST_CODES.has(codeOf(problem));
}

/** The member simply has no such log. */
export function isLogMissing(problem: unknown): boolean {
  return LOG_MISSING_CODES.has(codeOf(problem));
}

/** To have no such log is an answer. */
export function laneReport(lane: MemberLane, { directory }: Pick<ClusterDeps, 'directory'>): MemberReport {
  const report = partialReport(lane);
  return { ...report, ...directory.standingOf(report.id, report.outcome) };
}

function partialReport(lane: MemberLane): MemberReport {
  const report = lane.report();
  if (isLogMissing(lane.problem)) return { ...report, outcome: 'ok', detail: 'it has no such log' };
  const unread = report.outcome === 'ok' && report.detail === null && lane.end ? unreadPart(lane.end) : null;
  return unread === null ? report : { ...report, detail: unread, isPartial: true };
}
