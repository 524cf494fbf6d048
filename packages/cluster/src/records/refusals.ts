import { codeOf, type ErrorCode, type MemberReport } from '@porthole/contract';
import { unreadPart } from '../state/counting.ts';
import type { ClusterParts } from './cluster-parts.ts';
import type { MemberLane } from './member-lane.ts';

/** What a member says of a question that no member could answer. */
const WRONG_QUESTIONS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BAD_REQUEST',
  'PARAMETER_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'CURSOR_INVALID',
  'CURSOR_GONE',
  'FILE_NAME_MISSING',
  'FILE_NAME_INVALID',
]);

const NO_SUCH_LOG: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

type Asked = Pick<MemberLane, 'hasAnswered' | 'problem'>;

/**
 * Throws what is wrong with a question that no member has taken: one of them refuses it, or none of them has such a log.
 * `isFirst`: no member has answered an earlier page.
 */
export function throwIfRefused(lanes: readonly Asked[], { isFirst }: { isFirst: boolean }): void {
  if (lanes.some(({ hasAnswered }) => hasAnswered)) return;
  const problems = lanes.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const refusal = problems.find(isWrongQuestion);
  if (refusal !== undefined) throw refusal;
  const isNowhere = problems.length > 0 && problems.length === lanes.length && problems.every(isWithoutLog);
  if (isNowhere && isFirst) throw problems[0];
}

export function isWrongQuestion(problem: unknown): boolean {
  return WRONG_QUESTIONS.has(codeOf(problem));
}

/** The member simply has no such log. */
export function isWithoutLog(problem: unknown): boolean {
  return NO_SUCH_LOG.has(codeOf(problem));
}

/** To have no such log is an answer. */
export function reportOf(lane: MemberLane, { directory }: Pick<ClusterParts, 'directory'>): MemberReport {
  const report = partialReport(lane);
  return { ...report, ...directory.standingOf(report.id, report.outcome) };
}

function partialReport(lane: MemberLane): MemberReport {
  const report = lane.report();
  if (isWithoutLog(lane.problem)) return { ...report, outcome: 'ok', detail: 'it has no such log' };
  const unread = report.outcome === 'ok' && report.detail === null && lane.end ? unreadPart(lane.end) : null;
  return unread === null ? report : { ...report, detail: unread, isPartial: true };
}
