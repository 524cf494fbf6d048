import type { MemberDuplicateFile, MemberFileProblem } from '@porthole/contract';
import type { SearchEnd } from '@porthole/logs/types';

/** Per member: a broken one must not fill the response. */
const MAX_LISTED = 100;

/** The end of what a member returned; `undefined`: it has not ended. */
interface EndOfMember {
  id: string;
  end: Partial<SearchEnd> | undefined;
}

/** Files that members did not read. */
export function fileProblems(ends: readonly EndOfMember[]): MemberFileProblem[] {
  return listed(ends, 'problems', ['file', 'code', 'detail']);
}

/** Files that members skipped as copies of others. */
export function duplicateFiles(ends: readonly EndOfMember[]): { duplicates?: MemberDuplicateFile[] } {
  const duplicates = listed(ends, 'duplicates', ['file', 'sameAs']);
  return duplicates.length === 0 ? {} : { duplicates };
}

/** Collects a list from the ends of all members: the named texts of each entry. The entries are untrusted. */
function listed<K extends string>(
  ends: readonly EndOfMember[],
  list: 'problems' | 'duplicates',
  names: readonly K[],
): (Record<K, string> & { node: string })[] {
  return ends.flatMap(({ id, end }) => {
    const own: unknown = end?.[list];
    return (Array.isArray(own) ? own : [])
      .filter((entry): entry is Record<K, string> => hasTexts(entry, names))
      .slice(0, MAX_LISTED)
      .map((entry) => ({ ...pick(entry, names), node: id }));
  });
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return names.every((name) => typeof fields[name] === 'string');
}

function pick<K extends string>(entry: Record<K, string>, names: readonly K[]): Record<K, string> {
  return Object.fromEntries(names.map((name) => [name, entry[name]])) as Record<K, string>;
}
