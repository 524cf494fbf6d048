import type { FileProblem, MemberDuplicateFile, MemberReport } from '@porthole/client';
import { coverageOf, failures, isUnread } from '@porthole/contract';

/** Whether something that was requested could not be read. */
export function isPart(answer: { members: readonly MemberReport[]; problems?: readonly ShownProblem[] }): boolean {
  return failures(coverageOf(answer)).length > 0;
}

/** The kind of request a member reported on. */
export type RequestKind = 'page' | 'follow' | 'count';

/**
 * The last report of each member for each kind of request. A failure stays until the same kind succeeds: a member that
 * is followed again has not returned the records it missed.
 */
export type MemberReports = Readonly<Record<RequestKind, ReadonlyMap<string, MemberReport>>>;

export const NO_REPORTS: MemberReports = { page: new Map(), follow: new Map(), count: new Map() };

export function addReports(known: MemberReports, kind: RequestKind, more: readonly MemberReport[]): MemberReports {
  return { ...known, [kind]: new Map([...known[kind], ...more.map((report) => [report.id, report] as const)]) };
}

/** All members by id, each with its worst report. */
export function worstReports(reports: MemberReports): MemberReport[] {
  const worst = new Map<string, MemberReport>();
  for (const known of Object.values(reports))
    for (const [id, report] of known) if ((worst.get(id)?.outcome ?? 'ok') === 'ok') worst.set(id, report);
  return [...worst.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A file that was not, or only partly, read, and its node. */
export interface ShownProblem extends FileProblem {
  node: string;
}

/** Code of files that are only read when selected by name: binary, or without timestamps. */
const LEFT_OUT = 'LEFT_OUT';

/** Files that should have been read but could not be. */
export function failedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(isUnread);
}

export function skippedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code === LEFT_OUT);
}

/** Unique problems. */
export function mergeProblems(known: readonly ShownProblem[], more: readonly ShownProblem[]): readonly ShownProblem[] {
  return mergeBy(({ node, file, code }) => [node, file, code], known, more);
}

/** Unique copies. */
export function mergeDuplicates(
  known: readonly MemberDuplicateFile[],
  more: readonly MemberDuplicateFile[],
): readonly MemberDuplicateFile[] {
  return mergeBy(({ node, file }) => [node, file], known, more);
}

function mergeBy<T>(keyOf: (item: T) => readonly string[], known: readonly T[], more: readonly T[]): readonly T[] {
  if (more.length === 0) return known;
  return [...new Map([...known, ...more].map((item) => [JSON.stringify(keyOf(item)), item])).values()];
}
