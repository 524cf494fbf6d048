import { isMarked } from '../../cursor/file-mark.ts';
import {
  type FamilyDeps,
  type OpenedFamily,
  type OpenedMember,
  openFamily,
  readFileStart,
  type SeenMember,
} from './family-files.ts';
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
  /** Some successors may be missing: the old file was deleted, or the directory kept changing. */
  mayBeIncomplete: boolean;
  /** For successors that were listed but deleted before they could be opened: the ids of the files before them. */
  missed: (string | undefined)[];
  /** The files known not to be newer than the next one. */
  members: SeenMember[];
}

/** A file's rank within the family, as far as known. */
interface Standing {
  /** In the family's order; -1 if it was deleted, or the order is not certain. */
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
  const found = await openFamily(family, deps, { isWanted, isExpected: ({ id }) => id === old.id || id === nextId });
  try {
    // Only now: what the archives just opened contain was in the files themselves before, so their heads are known.
    await succession.catchUp();
    const start = await readFileStart((next ?? old).handle, deps);
    const modifiedNs = next ? await deps.readModifiedNs(next) : 0n;
    const successors = chooseSuccessors(succession, found, { ...start, modifiedNs });
    const returned = new Set([...successors.copies, ...successors.between]);
    for (const member of found.opened) if (!returned.has(member)) member.handle.release();
    return successors;
  } catch (error) {
    for (const { handle } of found.opened) handle.release();
    throw error;
  }
}

function chooseSuccessors(
  succession: Succession,
  found: OpenedFamily,
  nextStart: Pick<OpenedMember, 'head' | 'firstTimeMs' | 'modifiedNs'>,
): Successors {
  const { old, next, known } = succession;
  const nextId = next?.id ?? old.id;
  const { members, opened, isStable } = found;
  const order = new FamilyOrder(found);
  const copies = opened.filter((member) => isCopyOfOld(succession, member));
  // Copies of the next file, made while we listed the directory: its text is read from the open file, not from there.
  const nextCopies = opened.filter(
    ({ head, compressed }) => (compressed || !next) && haveSameStart(head, nextStart.head),
  );
  const unknown = opened.filter(
    (member) => !copies.includes(member) && !nextCopies.includes(member) && !isEmitted(member, succession),
  );
  const oldIndex = order.findIndex([...(next ? [old] : []), ...copies]);
  const oldStanding = replacedStanding(succession, oldIndex);
  const nextStanding = next && { ...nextStart, index: order.findIndex([next, ...nextCopies]) };
  // Files newer than the next one, from rotations meanwhile: they are emitted when it is their turn.
  const settled = unknown.filter((member) => !nextStanding || !isAfter(order.standing(member), nextStanding));
  const isBetween = (member: OpenedMember) =>
    isAfter(order.standing(member), oldStanding) && (next !== undefined || !isOlder(succession, member));
  const between = settled.filter((member) => isBetween(member) && !order.isTwin(member));
  const settledIds = new Set([old.id, nextId, ...[...copies, ...settled].map(({ id }) => id)]);
  const settledMembers = members.filter((member) => settledIds.has(member.id) || known.has(member));
  // An empty file counts, because its writer may just have opened it; but not if it is a copy in progress.
  const isEmptyCopy = ({ head, compressed }: OpenedMember) => head.length === 0 && (compressed || !next);
  const empty = between.filter(isEmptyCopy).length;
  const isOldFound = oldIndex >= 0 || (old.text.isUnread && empty > 0);
  const isNextLive = members.some(({ id, live }) => live && id === nextId);
  return {
    oldName: members.findLast(({ id }) => id === old.id || copies.some((copy) => copy.id === id))?.name,
    copies: copies.sort((a, b) => Number(a.compressed) - Number(b.compressed) || order.compareNames(b, a)),
    between: between
      .filter((member) => !isEmptyCopy(member))
      .sort((a, b) => compare(order.standing(a), order.standing(b))),
    empty,
    missed: arePacked(found.missed, unknown) ? [] : found.missed.map(({ after }) => after),
    mayBeIncomplete: !isStable || (!isOldFound && (between.length > empty || !isNextLive)),
    members: isStable ? settledMembers : [...known.members, ...settledMembers],
  };
}

/** The order of the files by name, as far as it is certain. */
class FamilyOrder {
  readonly #members: readonly SeenMember[];
  readonly #isStable: boolean;
  /** The archives of files that were compressed while the directory was listed, and found in both forms. */
  readonly #archives = new Map<OpenedMember, OpenedMember>();

  constructor({ members, opened, isStable }: OpenedFamily) {
    this.#members = members;
    this.#isStable = isStable;
    for (const plain of opened) {
      if (plain.compressed || plain.head.length === 0) continue;
      const archive = opened.find(({ compressed, head }) => compressed && head.equals(plain.head));
      if (archive) this.#archives.set(plain, archive);
    }
  }

  /** The index of the newest of these files; -1 if none was listed, or the order is not certain. */
  findIndex(files: readonly { id: string }[]): number {
    if (!this.#isStable) return -1;
    return this.#members.findLastIndex((member) => files.some(({ id }) => id === member.id));
  }

  standing(member: OpenedMember): Standing {
    const archive = this.#archives.get(member);
    return { ...member, index: this.findIndex(archive ? [member, archive] : [member]) };
  }

  /** Whether it is an archive of a file that was also found itself. */
  isTwin(member: OpenedMember): boolean {
    return [...this.#archives.values()].includes(member);
  }

  compareNames(a: OpenedMember, b: OpenedMember): number {
    return this.findIndex([a]) - this.findIndex([b]);
  }
}

/** Whether it is an archive or copy of a file that was emitted, or is still read. */
function isEmitted(member: OpenedMember, { known, rotated }: Succession): boolean {
  return known.isCopy(member) || rotated.some(({ text }) => isCopyOf(text.mark, member));
}

/** Whether files that could not be opened are read from their archives, which were listed later. */
function arePacked(missed: OpenedFamily['missed'], unknown: readonly OpenedMember[]): boolean {
  return missed.every(
    ({ round }, index) => unknown.filter((member) => member.compressed && member.round > round).length > index,
  );
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
