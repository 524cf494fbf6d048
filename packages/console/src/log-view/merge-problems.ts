import type { FileProblem } from '@porthole/client';

export function mergeProblems(known: readonly FileProblem[], told: readonly FileProblem[]): readonly FileProblem[] {
  if (told.length === 0) return known;
  const problems = new Map([...known, ...told].map((problem) => [`${problem.file} ${problem.code}`, problem]));
  return [...problems.values()];
}
