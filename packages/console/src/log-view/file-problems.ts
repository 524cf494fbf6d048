import type { FileProblem } from '@porthole/client';

/** A file that was not read, or not wholly, and of which node it is. */
export interface ShownProblem extends FileProblem {
  node: string;
}

/** The code of files that take part only when they are chosen by name: those without timestamps, and binary ones. */
const LEFT_OUT = 'LEFT_OUT';

/** What should have been read and was not. */
export function failedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code !== LEFT_OUT);
}

export function leftOutFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code === LEFT_OUT);
}

/** Each problem of each file once. */
export function mergeProblems(known: readonly ShownProblem[], more: readonly ShownProblem[]): readonly ShownProblem[] {
  if (more.length === 0) return known;
  const problems = new Map(
    [...known, ...more].map((problem) => [JSON.stringify([problem.node, problem.file, problem.code]), problem]),
  );
  return [...problems.values()];
}
