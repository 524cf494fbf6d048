import { isMarked } from '../../cursor/file-mark.ts';
import { type FamilyDeps, type OpenedMember, openFamily, readFileStart, type SeenMember } from './family-files.ts';
import { isCopyOf, type KnownFiles } from './known-files.ts';
import type { OpenFiles } from './open-files.ts';
import type { TailFile } from './tail-file.ts';

export interface Succession {
  /** The file read so far. */
  old: TailFile;
  /** The file that has the name now; `undefined` if the old file still has it but was truncated. */
  next: TailFile | undefined;
  modifiedNs: bigint;
  /** Time of the newest record read. */
  newestMs: number | undefined;
  known: KnownFiles;
  /** Files before it that are still read. */
  rotated: readonly TailFile[];
  /** Reads what was appended to those, and to the old file if it was replaced. */
  catchUp(): Promise<void>;
}

export interface Successors {
  /** The present name of the old file; `undefined` if it was deleted. */
  oldName: string | undefined;
  /** Copies and archives of the old file. Plain files before archives, the newest first. */
  copies: OpenedMember[];
  /** Files that were live after the old one without being noticed, in order. */
  between: OpenedMember[];
  /** Archives of such files that are empty. */
  empty: number;
  /** The old file was deleted, and perhaps some of its successors, too. */
  mayBeIncomplete: boolean;
  /** For successors that were listed but deleted before they could be opened: the ids of the files before them. */
  missed: (string | undefined)[];
  /** The files known not to be newer than the next one. */
  members: SeenMember[];
}

/** A file's rank within the family, as far as known. */
interface Standing {
  /** In the family's order; -1 if it was deleted. */
  index: number;
  firstTimeMs: number | undefined;
  modifiedNs: bigint;
}

/** Finds what became of a file, and opens the files between it and the next one. The caller releases them. */
export async function findSuccessors(
  family: string,
  succession: Succession,
  deps: FamilyDeps & Pick<OpenFiles, 'readModifiedNs'>,
): Promise<Successors> {
  const { old, next, known } = succession;
  const nextId = next?.id ?? old.id;
  const isWanted = (member: SeenMember) =>
    member.id !== old.id && member.id !== nextId && !member.live && !known.has(member);
  const { members, opened, missed } = await openFamily(family, deps, isWanted);
  // Only now: what the archives just opened contain was in the files themselves before, so their heads are known.
  await succession.catchUp();
  const indexOf = (id: string) => members.findLastIndex((member) => member.id === id);
  const standing = (member: OpenedMember): Standing => ({ ...member, index: indexOf(member.id) });

  const copies = opened.filter((member) => isCopyOfOld(succession, member));
  const nextStart = await readFileStart((next ?? old).handle, deps);
  // Copies of the next file, made while we listed the directory: its text is read from the open file, not from there.
  const nextCopies = opened.filter(
    ({ head, compressed }) => (compressed || !next) && haveSameStart(head, nextStart.head),
  );
  const others = opened.filter((member) => {
    const { head, compressed } = member;
    if (copies.includes(member) || nextCopies.includes(member) || known.isCopy(member)) return false;
    if (succession.rotated.some(({ text }) => isCopyOf(text.mark, member))) return false;
    // An empty file counts, because its writer may just have opened it; but not if it is a copy in progress.
    return head.length > 0 || (!compressed && next !== undefined);
  });
  const oldIndex = Math.max(next ? indexOf(old.id) : -1, ...copies.map(({ id }) => indexOf(id)));
  const oldStanding = replacedStanding(succession, oldIndex);
  const nextIndex = Math.max(indexOf(nextId), ...nextCopies.map(({ id }) => indexOf(id)));
  const nextStanding = next && { ...nextStart, index: nextIndex, modifiedNs: await deps.readModifiedNs(next) };
  // Files newer than the next one, from rotations meanwhile: they are emitted when it is their turn.
  const newer = new Set(others.filter((member) => nextStanding && isAfter(standing(member), nextStanding)));
  const between = others.filter(
    (member) => !newer.has(member) && isAfter(standing(member), oldStanding) && (next || !isOlder(succession, member)),
  );
  const returned = new Set([...copies, ...between]);
  for (const member of opened) if (!returned.has(member)) member.handle.release();
  const settled = new Set([old.id, nextId, ...others.filter((member) => !newer.has(member)).map(({ id }) => id)]);
  for (const { id } of copies) settled.add(id);
  return {
    oldName: members[oldIndex]?.name,
    copies: copies.sort((a, b) => Number(a.compressed) - Number(b.compressed) || indexOf(b.id) - indexOf(a.id)),
    between: withoutDuplicates(between.sort((a, b) => compare(standing(a), standing(b)))),
    empty: opened.filter(({ head, compressed }) => compressed && head.length === 0).length,
    // A file that was compressed before it could be opened is read from its archive, which was listed later.
    missed: missed.some(
      ({ round }, index) => others.filter((member) => member.compressed && member.round > round).length <= index,
    )
      ? missed.map(({ after }) => after)
      : [],
    mayBeIncomplete: oldIndex < 0 && (others.length > 0 || !members.some(({ id, live }) => live && id === nextId)),
    members: members.filter((member) => settled.has(member.id) || known.has(member)),
  };
}

/** Of a text of which nothing was read, it is only known that it is not older than what was read before. */
function replacedStanding({ old, modifiedNs, newestMs }: Succession, index: number): Standing {
  if (old.text.mark.headBytes > 0 || newestMs === undefined)
    return { index, firstTimeMs: old.text.firstTimeMs, modifiedNs };
  return { index, firstTimeMs: newestMs, modifiedNs: 0n };
}

/** A text written after a truncation does not begin with anything older than what was read before. */
function isOlder({ newestMs }: Succession, { firstTimeMs }: OpenedMember): boolean {
  return newestMs !== undefined && firstTimeMs !== undefined && firstTimeMs < newestMs;
}

function isCopyOfOld({ old, next }: Succession, member: OpenedMember): boolean {
  const { mark } = old.text;
  return next ? isCopyOf(mark, member) : mark.headBytes > 0 && isMarked(mark, member.head);
}

/** One of the two may be shorter, if that file was still growing. */
function haveSameStart(a: Buffer, b: Buffer): boolean {
  const length = Math.min(a.length, b.length);
  return length > 0 && a.subarray(0, length).equals(b.subarray(0, length));
}

/**
 * By name, or by the time of the first record: names may count upwards, and clocks may be set back. Known files were
 * excluded before, so either will do.
 */
function isAfter(member: Standing, other: Standing): boolean {
  if (other.index >= 0 && member.index >= 0) {
    return member.index > other.index;
  }
  return compareTimes(member, other) > 0;
}

function compareTimes(a: Standing, b: Standing): number {
  if (a.firstTimeMs !== undefined && b.firstTimeMs !== undefined && a.firstTimeMs !== b.firstTimeMs) {
    return a.firstTimeMs - b.firstTimeMs;
  }
  return Number(a.modifiedNs - b.modifiedNs);
}

function compare(a: Standing, b: Standing): number {
  const timed = a.firstTimeMs !== undefined && b.firstTimeMs !== undefined && a.firstTimeMs !== b.firstTimeMs;
  return timed ? compareTimes(a, b) : a.index - b.index;
}

/** A file that was compressed while the directory was listed was found in both forms. */
function withoutDuplicates(members: OpenedMember[]): OpenedMember[] {
  return members.filter((member) => {
    const isTwin = member.compressed && members.some((other) => !other.compressed && other.head.equals(member.head));
    if (isTwin) member.handle.release();
    return !isTwin;
  });
}
