import { isMarked } from '../../cursor/file-mark.ts';
import { isFileFailure, undefinedIfUnreadable } from '../../log-error.ts';
import { decodeAnyUtf16 } from '../../packed/utf16.ts';
import type { RecordRing, RingWriter } from '../ring/record-ring.ts';
import {
  type FamilyDeps,
  isCopyOf,
  type KnownFiles,
  listMembers,
  type OpenedFamily,
  type OpenedMember,
  openFamily,
  readFileStart,
  readMember,
  type SeenMember,
} from './family-files.ts';
import type { OpenFiles } from './open-files.ts';
import type { TailFile } from './tail-file.ts';
import { TailText } from './tail-text.ts';

interface RotationDeps {
  /** The name of the log in events. */
  name: string;
  /** The family searched for successors; `undefined` to know only the files given. */
  family: string | undefined;
  files: FamilyDeps;
  ring: RecordRing;
  writer: RingWriter;
  open: OpenFiles;
  rotated: RotatedFiles;
  known: KnownFiles;
  /** The present name of the live file. */
  liveName(): string;
}

interface Replacement {
  next: TailFile;
  /** How many files are known to have been live since, including the next one. */
  atLeast: number;
}

/** Emits what is lost sight of when the live file of a log is replaced or truncated. */
export class Rotation {
  readonly #deps: RotationDeps;
  #emitting: TailText | undefined;

  constructor(deps: RotationDeps) {
    this.#deps = deps;
  }

  /** The text emitted last while a rotation is followed: that of the old file, then of those between it and the next. */
  get emitting(): TailText | undefined {
    return this.#emitting;
  }

  /** The live file is read again. */
  settle(): void {
    this.#emitting = undefined;
  }

  /**
   * The name belongs to another file now: emits the rest of the old file, and the files that were live in between. If
   * reading fails, a gap is reported and the follow continues with the next file. Returns how many files were found,
   * including the next one.
   */
  async followReplacement(old: TailFile, replacement: Replacement): Promise<number> {
    this.#emitting = old.text;
    try {
      return await this.#emitReplaced(old, replacement);
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      this.#emitGap('gone');
      return 1;
    }
  }

  async #emitReplaced(old: TailFile, { next, atLeast }: Replacement): Promise<number> {
    const { writer, open, known, rotated } = this.#deps;
    const successors = await this.#findSuccessors(old, next);
    const { oldName, copies, between, empty, mayBeIncomplete, missed, members } = successors;
    const files = between.length + empty + 1;
    const gaps = gapsAfter(missed, { old, between, isCountShort: files < atLeast });
    releaseAll(copies);
    // Only now: the writer may have appended to it meanwhile.
    await open.drain(old);
    writer.write(old.text.flushLines());
    let from = oldName ?? old.name;
    old.text.name = from;
    known.addMark(old.text.mark);
    rotated.add(old);
    if (mayBeIncomplete || gaps.has(old.id)) this.#emitGap('gone');
    for (const member of between) {
      this.#emitRotated(from, member.name);
      await this.#emitWholeFile(member, old);
      from = member.name;
      if (gaps.has(member.id)) this.#emitGap('gone');
    }
    this.#emitRotated(from, next.name);
    known.remember(members);
    return files;
  }

  /**
   * The file was truncated. What was written before may be in a copy; what was written between the copy and the
   * truncation is lost, and nobody knows how much.
   */
  async followTruncation(file: TailFile): Promise<void> {
    this.#emitting = file.text;
    try {
      await this.#emitTruncatedText(file);
    } finally {
      this.settle();
    }
  }

  async #emitTruncatedText(file: TailFile): Promise<void> {
    const { writer, known, liveName } = this.#deps;
    const { copies, between, members } = await this.#findSuccessors(file);
    await this.#emitFromCopy(file, copies);
    writer.write(file.text.flushAll());
    known.addMark(file.text.mark);
    for (const member of between) {
      this.#emitTruncated();
      await this.#emitWholeFile(member, file);
    }
    this.#emitTruncated();
    known.remember(members);
    // The rest of the old text was read from its copy; the new text is in the live file.
    file.text.name = liveName();
    file.restart();
  }

  /**
   * A truncated file may have been truncated again before any of its new text was read. Then there is nothing to compare
   * it with, only unknown copies.
   */
  async followUnseenTruncations(file: TailFile): Promise<void> {
    const { copies, between, members } = await this.#findSuccessors(file);
    releaseAll(copies);
    try {
      for (const member of between) {
        await this.#emitWholeFile(member, file);
        this.#emitTruncated();
      }
    } finally {
      this.settle();
    }
    this.#deps.known.remember(members);
  }

  /** Without `next` the old file was truncated. */
  async #findSuccessors(old: TailFile, next?: TailFile): Promise<Successors> {
    const { family, files, open, rotated, ring, known } = this.#deps;
    const nothing = { copies: [], between: [], empty: 0, missed: [], members: [] };
    if (family === undefined) return { ...nothing, oldName: undefined, mayBeIncomplete: false };
    try {
      // A truncated file was modified by that: what was read of it is as old as the last read.
      const modifiedNs = next ? await open.readModifiedNs(old) : old.quietNs;
      const readModifiedNs = (file: TailFile) => open.readModifiedNs(file);
      const catchUp = async () => {
        await rotated.drainAll();
        if (next) await open.drain(old);
      };
      const succession = { old, next, modifiedNs, newestMs: ring.newestMs, known, rotated: rotated.all, catchUp };
      return await findSuccessors(family, succession, { ...files, format: old.text.format, readModifiedNs });
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      // The directory cannot be listed: only the open files are known.
      return { ...nothing, oldName: old.name, mayBeIncomplete: true };
    }
  }

  async #emitFromCopy(file: TailFile, copies: readonly OpenedMember[]): Promise<void> {
    const { position } = file;
    try {
      for (const copy of copies) {
        for await (const data of readBeyond(copy, file)) {
          file.text.name = copy.name;
          await this.#deps.writer.writeAll(file.push(data));
        }
        if (file.position > position) return;
      }
    } catch (error) {
      // A damaged copy: what could not be read from it is part of the gap that is reported anyway.
      if (!isFileFailure(error)) throw error;
    } finally {
      releaseAll(copies);
    }
  }

  /** Emits a file that was live only between two polls. A plain one may still be written to. */
  async #emitWholeFile(member: OpenedMember, before: TailFile): Promise<void> {
    const { open, writer, known, rotated, files } = this.#deps;
    if (!member.compressed) {
      const file = await open.open(member.handle, 'start', before);
      this.#emitting = file.text;
      await open.drain(file);
      writer.write(file.text.flushLines());
      known.addMark(file.text.mark);
      rotated.add(file);
      return;
    }
    const { name, format } = member;
    const text = new TailText({ name, offset: 0, head: Buffer.alloc(0), format, scrubber: files.scrubber });
    this.#emitting = text;
    try {
      for await (const data of decodeAnyUtf16(readMember(member, 0)))
        await writer.writeAll(text.push(data, performance.now()));
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      this.#emitGap('gone');
    } finally {
      member.handle.release();
    }
    writer.write(text.flushAll());
    known.addMark(text.mark);
  }

  #emitRotated(from: string, to: string): void {
    this.#deps.writer.writeEvent({ type: 'rotated', family: this.#deps.name, from, to });
  }

  #emitTruncated(): void {
    this.#deps.writer.writeEvent({ type: 'truncated', file: this.#deps.liveName(), lostBytes: null });
    this.#emitGap('truncated');
  }

  /** A gap of unknown size that cannot be loaded any more. */
  #emitGap(reason: 'truncated' | 'gone'): void {
    const { ring, writer, name: family } = this.#deps;
    const seq = ring.findLast(({ kind }) => kind === 'record');
    const last = seq === undefined ? undefined : ring.at(seq);
    const after = last?.kind === 'record' ? last.cursor : null;
    writer.writeEvent({ type: 'gap', family, reason, bytes: null, after, until: null });
  }
}

/** The ids of the files after which a file is missing; all of them if it is not known where. */
function gapsAfter(
  missed: readonly (string | undefined)[],
  { old, between, isCountShort }: { old: TailFile; between: readonly OpenedMember[]; isCountShort: boolean },
): ReadonlySet<string> {
  const files = new Set([old.id, ...between.map(({ id }) => id)]);
  const isKnown = missed.every((after) => after !== undefined && files.has(after));
  return isKnown && !isCountShort ? new Set(missed.flatMap((after) => after ?? [])) : files;
}

/** What a copy contains beyond the position in the original; nothing if the bytes before it differ: not a copy then. */
async function* readBeyond(
  copy: OpenedMember,
  { position, before }: TailFile,
): AsyncGenerator<Buffer, void, undefined> {
  let checked = 0;
  for await (const chunk of readMember(copy, position - before.length)) {
    const part = Math.min(before.length - checked, chunk.length);
    if (!chunk.subarray(0, part).equals(before.subarray(checked, checked + part))) return;
    checked += part;
    if (part < chunk.length) yield chunk.subarray(part);
  }
}

function releaseAll(members: readonly OpenedMember[]): void {
  for (const { handle } of members) handle.release();
}

interface Succession {
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

interface Successors {
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
async function findSuccessors(
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

/** A text of which nothing was read is only known not to be older than what was read before. */
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

/** Writers notice late that their file was renamed, so it is read this much longer. Then its disk space is released. */
export const LINGER_MS = 5000;

/** Renamed files that are still read; if there are more, rotation is so quick that the oldest have surely been left. */
const MAX_ROTATED = 8;

interface RotatedFilesDeps {
  open: OpenFiles;
  writer: RingWriter;
  known: KnownFiles;
  lingerMs: number;
}

interface LeftDeps extends Pick<FamilyDeps, 'list' | 'handles'> {
  family: string;
  /** Its files, as they were listed before the live one was opened. */
  listed: readonly SeenMember[];
}

/** Files that were live and may still be written to, oldest first. */
export class RotatedFiles {
  readonly #deps: RotatedFilesDeps;
  readonly #files: TailFile[] = [];

  constructor(deps: RotatedFilesDeps) {
    this.#deps = deps;
  }

  get all(): readonly TailFile[] {
    return this.#files;
  }

  add(file: TailFile): void {
    file.rotatedMs = performance.now();
    this.#files.push(file);
    while (this.#files.length > MAX_ROTATED) this.#retireOldest();
  }

  /**
   * The follow may begin in the middle of a rotation: there is no live file, or it is still empty. Then adds the newest
   * rotated one if it was written to a moment ago, because its writers may not have opened the next file yet.
   */
  async addLeft(current: TailFile | undefined, { family, listed, list, handles }: LeftDeps): Promise<void> {
    if (current && !current.text.isUnread) return;
    const { open, lingerMs } = this.#deps;
    const isListed = listed.some(({ live, id }) => live && id === current?.id);
    const members = isListed ? listed : await listMembers(family, { list });
    const left = members.findLast(({ live }) => !live);
    // clock: compared with times of the file system
    if (!left || left.compressed || Date.now() - Number(left.modifiedNs / 1_000_000n) > lingerMs) return;
    const handle = await handles.acquire(left.name).catch(undefinedIfUnreadable);
    // One that cannot be read does not end the follow of the others.
    const file = handle && (await open.open(handle, 'end').catch(undefinedIfUnreadable));
    if (file) this.add(file);
  }

  /** Removes and returns a file that is live again. */
  takeBack(id: string): TailFile | undefined {
    const index = this.#files.findIndex((file) => file.id === id);
    return index < 0 ? undefined : this.#files.splice(index, 1)[0];
  }

  /** Emits what was appended to them. */
  async drainAll(): Promise<void> {
    const { open, writer, lingerMs } = this.#deps;
    for (const file of this.#files) {
      await open.drain(file);
      writer.write(file.text.flushLines());
    }
    while (this.#files[0] && performance.now() - this.#files[0].rotatedMs >= lingerMs) this.#retireOldest();
  }

  #retireOldest(): void {
    const { open, writer, known } = this.#deps;
    const file = this.#files.shift();
    if (!file) return;
    writer.write(file.text.flushAll());
    known.addMark(file.text.mark);
    open.release(file);
  }
}
