import type { FileProblem, MemberReport } from '@porthole/client';

/** The last report of each member, in the order of ids. The same list where nothing is new. */
export function mergeReports(known: readonly MemberReport[], told: readonly MemberReport[]): readonly MemberReport[] {
  if (told.length === 0) return known;
  const reports = new Map(known.map((report) => [report.id, report]));
  for (const report of told) reports.set(report.id, report);
  return [...reports.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function mergeProblems(known: readonly FileProblem[], told: readonly FileProblem[]): readonly FileProblem[] {
  if (told.length === 0) return known;
  const problems = new Map([...known, ...told].map((problem) => [`${problem.file} ${problem.code}`, problem]));
  return [...problems.values()];
}
