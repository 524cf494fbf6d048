import { codeOf, type ErrorCode, type MemberReport } from '@porthole/contract';
import { unreadPart } from '../../requests/member-failure.ts';
import { slowIfAlive } from '../../state/query-members.ts';
import type { QueriedLane } from '../merge/member-lane.ts';
import type { ClusterDeps } from './cluster-deps.ts';

/** Error codes of a request that every member would reject. */
const INVALID_REQUEST_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BAD_REQUEST',
  'PARAMETER_INVALID',
  'QUERY_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'CURSOR_INVALID',
  'CURSOR_GONE',
  'FILE_NAME_MISSING',
  'FILE_NAME_INVALID',
]);

const LOG_MISSING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

/**
 * Throws if no member accepted the request: one of them rejects it, or none has such a log. `isFirst`: there was no earlier
 * page.
 */
export function throwIfRejected(
  lanes: readonly (Pick<QueriedLane, 'hasAnswered' | 'problem'> & Partial<Pick<QueriedLane, 'recorded'>>)[],
  { isFirst }: { isFirst: boolean },
): void {
  if (lanes.some(({ hasAnswered }) => hasAnswered)) return;
  const problems = lanes.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const refusal = problems.find(isInvalidRequest);
  if (refusal !== undefined) throw refusal;
  const isNowhere = problems.length > 0 && problems.length === lanes.length && lanes.every(hasNoSuchLog);
  if (isNowhere && isFirst) throw problems[0];
}

export function isInvalidRequest(problem: unknown): boolean {
  return INVALID_REQUEST_CODES.has(codeOf(problem));
}

/** Whether the member has no such log. */
export function isLogMissing(problem: unknown): boolean {
  return LOG_MISSING_CODES.has(codeOf(problem));
}

/** The same of the member itself: that no such log was recorded says nothing. */
function hasNoSuchLog({ problem, recorded }: Partial<Pick<QueriedLane, 'problem' | 'recorded'>>): boolean {
  return isLogMissing(problem) && recorded === undefined;
}

/** A member without such a log responded successfully. */
export function laneReport(lane: QueriedLane, { directory }: Pick<ClusterDeps, 'directory'>): MemberReport {
  const report = lane.recorded ? partialReport(lane) : slowIfAlive(partialReport(lane), directory);
  // One that was late has accepted the request: it may be scanning.
  const isScanning = lane.hasAnswered && lane.problem === undefined && lane.recorded === undefined;
  return { ...report, ...directory.standingOf(report.id, isScanning ? 'ok' : report.outcome) };
}

function partialReport(lane: QueriedLane): MemberReport {
  const report = lane.report();
  if (hasNoSuchLog(lane)) return { ...report, outcome: 'ok', detail: 'no such log' };
  // It has more than was recorded. One that left has said goodbye, and is not missed.
  if (lane.recorded && report.outcome !== 'left') return { ...report, isPartial: true };
  const unread = report.outcome === 'ok' && report.detail === null && lane.lastEnd ? unreadPart(lane.lastEnd) : null;
  return unread === null ? report : { ...report, detail: unread, isPartial: true };
}
