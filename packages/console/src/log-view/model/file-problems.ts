import type { FileProblem, MemberDuplicateFile } from '@porthole/client';

/** A file that was not, or only partly, read, and its node. */
export interface ShownProblem extends FileProblem {
  node: string;
}

/** Code of files that are only read when selected by name: binary, or without timestamps. */
const LEFT_OUT = 'LEFT_OUT';

/** Files that should have been read but could not be. */
export function failedFiles(problems: readonly ShownProblem[]): ShownProblem[] {
  return problems.filter(({ code }) => code !== LEFT_OUT);
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
