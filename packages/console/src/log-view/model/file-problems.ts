import type { FileProblem, MemberDuplicateFile } from '@porthole/client';

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

export function skippedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code === LEFT_OUT);
}

/** Each problem of each file once. */
export function mergeProblems(known: readonly ShownProblem[], more: readonly ShownProblem[]): readonly ShownProblem[] {
  return mergeBy(({ node, file, code }) => [node, file, code], known, more);
}

/** Each copy once. */
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
