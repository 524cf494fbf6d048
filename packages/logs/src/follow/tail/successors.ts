import { isMarked } from '../../cursor/file-mark.ts';
import { type FamilyDeps, type OpenedMember, openFamily, readFileStart, type SeenMember } from './family-files.ts';
import { isCopyOf, type KnownFiles } from './known-files.ts';
import type { OpenFiles } from './open-files.ts';
import type { TailFile } from './tail-file.ts';

export interface Succession {
  /** The file read last. */
  old: TailFile;
  /** The file the name leads to; without one, it is the old one still, with another text. */
  next: TailFile | undefined;
  modifiedNs: bigint;
  /** Of the newest record read. */
  newestMs: number | undefined;
  known: KnownFiles;
  /** Files before it that are still looked at. */
  rotated: readonly TailFile[];
  /** Reads what was added to those, and to the old one if it was replaced. */
  catchUp(): Promise<void>;
}

export interface Successors {
  /** What the old file is called now; `undefined` where it is gone. */
  oldName: string | undefined;
  /** Others with the old file's text: its copy, or its archive. Plain ones before archives, the newest first. */
  copies: OpenedMember[];
  /** Files that came and went unseen after the old one, in order. */
  between: OpenedMember[];
  /** Archives of files that came and went without a line in them. */
  empty: number;
  /** The family has dropped the old file, and perhaps some of those that came after it. */
  mayBeIncomplete: boolean;
  /** Some of those that came after it were seen, and gone before they could be opened: the files they came after. */
  missed: (string | undefined)[];
  /** The files of which it is known that they are not newer than the next one. */
  members: SeenMember[];
}

/** Where a file stands among the others, as far as is known. */
interface Standing {
  /** In the family's order; -1 where it is gone. */
  index: number;
  firstTimeMs: number | undefined;
  modifiedNs: bigint;
}

/** Finds what became of a file, and the files between it and the next one, held open. The caller releases them. */
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
  // Only now: what stands in the archives just seen has been in the files themselves before, so their starts are known.
  await succession.catchUp();
  const indexOf = (id: string) => members.findLastIndex((member) => member.id === id);
  const standing = (member: OpenedMember): Standing => ({ ...member, index: indexOf(member.id) });

  const copies = opened.filter((member) => isCopyOfOld(succession, member));
  const nextStart = await readFileStart((next ?? old).handle, deps);
  // It was compressed, or copied to be truncated again, while we looked: read from what we have open, not from there.
  const nextCopies = opened.filter(
    ({ head, compressed }) => (compressed || !next) && haveSameStart(head, nextStart.head),
  );
  const others = opened.filter((member) => {
    const { head, compressed } = member;
    if (copies.includes(member) || nextCopies.includes(member) || known.isCopy(member)) return false;
    if (succession.rotated.some(({ text }) => isCopyOf(text.mark, member))) return false;
    // One that is still empty counts: its writer may just have opened it. But not a copy that is being made.
    return head.length > 0 || (!compressed && next !== undefined);
  });
  const oldIndex = Math.max(next ? indexOf(old.id) : -1, ...copies.map(({ id }) => indexOf(id)));
  const oldStanding = replacedStanding(succession, oldIndex);
  const nextIndex = Math.max(indexOf(nextId), ...nextCopies.map(({ id }) => indexOf(id)));
  const nextStanding = next && { ...nextStart, index: nextIndex, modifiedNs: await deps.readModifiedNs(next) };
  // The family may have gone on while we looked: those are told when it is their turn.
  const newer = new Set(others.filter((member) => nextStanding && isAfter(standing(member), nextStanding)));
  const between = others.filter(
    (member) => !newer.has(member) && isAfter(standing(member), oldStanding) && (next || !isOlder(succession, member)),
  );
  const kept = new Set([...copies, ...between]);
  for (const member of opened) if (!kept.has(member)) member.handle.release();
  const settled = new Set([old.id, nextId, ...others.filter((member) => !newer.has(member)).map(({ id }) => id)]);
  for (const { id } of copies) settled.add(id);
  return {
    oldName: members[oldIndex]?.name,
    copies: copies.sort((a, b) => Number(a.compressed) - Number(b.compressed) || indexOf(b.id) - indexOf(a.id)),
    between: withoutDuplicates(between.sort((a, b) => compare(standing(a), standing(b)))),
    empty: opened.filter(({ head, compressed }) => compressed && head.length === 0).length,
    // One that was compressed before it could be opened is read from its archive, which was not there when it was seen.
    missed: missed.some(
      ({ round }, index) => others.filter((member) => member.compressed && member.round > round).length <= index,
    )
      ? missed.map(({ after }) => after)
      : [],
    mayBeIncomplete: oldIndex < 0 && (others.length > 0 || !members.some(({ id, live }) => live && id === nextId)),
    members: members.filter((member) => settled.has(member.id) || known.has(member)),
  };
}

/** Of a text of which nothing was read, only that it is not older than what was read before it is known. */
function replacedStanding({ old, modifiedNs, newestMs }: Succession, index: number): Standing {
  if (old.text.mark.headBytes > 0 || newestMs === undefined)
    return { index, firstTimeMs: old.text.firstTimeMs, modifiedNs };
  return { index, firstTimeMs: newestMs, modifiedNs: 0n };
}

/** A text that was written after a truncation begins with nothing that is older than what was read before. */
function isOlder({ newestMs }: Succession, { firstTimeMs }: OpenedMember): boolean {
  return newestMs !== undefined && firstTimeMs !== undefined && firstTimeMs < newestMs;
}

function isCopyOfOld({ old, next }: Succession, member: OpenedMember): boolean {
  const { mark } = old.text;
  return next ? isCopyOf(mark, member) : mark.headBytes > 0 && isMarked(mark, member.head);
}

/** Of two starts one may be shorter: that file was still growing. */
function haveSameStart(a: Buffer, b: Buffer): boolean {
  const length = Math.min(a.length, b.length);
  return length > 0 && a.subarray(0, length).equals(b.subarray(0, length));
}

/**
 * By its name, or by the time of its first record: names may count upwards, and clocks are set back. What is known was
 * left out before, so that either will do.
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

/** A file that was compressed while we looked was seen in both forms. */
function withoutDuplicates(members: OpenedMember[]): OpenedMember[] {
  return members.filter((member) => {
    const isTwin = member.compressed && members.some((other) => !other.compressed && other.head.equals(member.head));
    if (isTwin) member.handle.release();
    return !isTwin;
  });
}
