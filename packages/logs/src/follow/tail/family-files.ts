import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import { isPackedName, isUndecodedName, plainName } from '../../file/compression.ts';
import { type FamilyFile, groupManyFamilies } from '../../file/families.ts';
import type { HandleCache, LogHandle } from '../../file/handle-cache.ts';
import { findTextStart, maskStart, readStart } from '../../file/read-range.ts';
import { SharedReads } from '../../file/shared-reads.ts';
import { packedHead, unpackRange } from '../../file/unpack.ts';
import { readFd, statFd } from '../../fs-calls.ts';
import { isFileFailure, undefinedIfUnreadable } from '../../log-error.ts';
import { decodeUtf16, detectUtf16 } from '../../packed/utf16.ts';
import { BUILT_IN_FORMATS, type FormatSet } from '../../parse/detect-format.ts';
import type { Format } from '../../parse/format.ts';
import type { Zone } from '../../parse/zone.ts';
import { familySource, fileSource, type LogSources } from '../../query/log-sources.ts';
import { type SeenFile, withoutLinkedFamilies } from '../../read/list.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { findFirstTime, READ_BYTES } from './tail-file.ts';

export interface TailDeps extends FamilyDeps {
  reads: SharedReads;
  times: AssemblerTimes & Partial<Record<'missingMs' | 'lingerMs' | 'listMs', number | undefined>>;
  limitBytes(): number;
  onRead(): void;
}

/** Where reading begins; a number is the size that the file had. */
export type FirstPosition = 'start' | 'end' | number;

export interface TailTarget {
  /** The file name followed. */
  name: string;
  /** The family searched for successors at a rotation; `undefined` to follow only this name. */
  family: string | undefined;
}

/** By family, because what was emitted under the name of a log may be in rotated files by now. */
export function targetSource({ name, family }: TailTarget): string {
  return family === undefined ? fileSource(name) : familySource(family);
}

/** Whether the log is selected, or the file that is written now. */
export function isFollowed({ name, family = name }: TailTarget, logs: LogSources): boolean {
  return logs.hasFile(name, family);
}

/** Whether it is selected by name, not only by a pattern or with all others. */
export function isNamed({ name, family = name }: TailTarget, logs: LogSources): boolean {
  return logs.names('family', family) || logs.names('file', name);
}

/**
 * Listings, and the time they may take, before the result is accepted although rotations keep changing the directory.
 * Meanwhile the files found so far are held open, so that none of them is lost.
 */
const MAX_ROUNDS = 10;
const MAX_ROUNDS_MS = 2000;

/** Equal listings in a row, after the first, if an expected file is not listed. */
const MIN_EQUAL_ROUNDS = 3;

/** Enough to identify a file and to find the time of its first record. */
const START_BYTES = 4 * 1024;

export interface FamilyDeps {
  handles: HandleCache;
  zone: Zone;
  formats?: FormatSet;
  /** The current masking of secrets. */
  scrubber(): Scrubber | undefined;
  /** The format of the previous file: it most likely fits, and detecting one is slow. */
  format?: Format;
  /** How long the directory is listed again while rotations keep changing it. */
  listMs?: number | undefined;
  /** Lists all files, or at least those of one log. */
  list(family?: string): Promise<SeenFile[]>;
}

/** What the first bytes of a file reveal. */
interface FileStart {
  format: Format;
  head: Buffer;
  firstTimeMs: number | undefined;
}

/** A file of the family, held open so that it can be read even if it is renamed meanwhile. */
export interface OpenedMember extends FileStart {
  id: string;
  name: string;
  handle: LogHandle;
  compressed: boolean;
  modifiedNs: bigint;
  /** Number of the listing that found it first. */
  round: number;
}

/** A file of a family as listed. Families are ordered oldest first, as far as names reveal the order. */
export interface SeenMember {
  id: string;
  name: string;
  compressed: boolean;
  live: boolean;
  birthNs: bigint;
  modifiedNs: bigint;
  size: bigint;
}

export interface OpenedFamily {
  members: SeenMember[];
  opened: OpenedMember[];
  /** Files that were listed but deleted before they could be opened, those of the latest listing first. */
  missed: MissedFile[];
  /**
   * Two listings in a row were equal. If not, files may have been renamed during the listing: one may be missing from
   * it, or listed in the wrong order.
   */
  isStable: boolean;
}

interface MissedFile {
  /** Number of the listing that found it first. */
  round: number;
  /** The id of the next older file; `undefined` if it was the oldest. */
  after: string | undefined;
}

/** Groups one listing by family, without files of a compression that is not read. */
export async function groupMembers(files: readonly SeenFile[]): Promise<Map<string, SeenMember[]>> {
  const byName = new Map(files.map((file) => [file.name, file]));
  const toMember = ({ name, state, compressed }: FamilyFile): SeenMember[] => {
    const stats = byName.get(name)?.stats;
    if (!stats || isUndecodedName(name)) return [];
    const { birthtimeNs: birthNs, mtimeNs: modifiedNs, size } = stats;
    return [{ id: `${stats.dev}:${stats.ino}`, name, compressed, live: state === 'live', birthNs, modifiedNs, size }];
  };
  const families = await groupManyFamilies([...byName.keys()]);
  return new Map(families.map(({ name, files: members }) => [name, members.flatMap(toMember)]));
}

/** The same without links to other logs, for a listing of the whole directory. */
export async function groupLogs(files: readonly SeenFile[]): Promise<Map<string, SeenMember[]>> {
  const families = Array.from(await groupMembers(files), ([name, members]) => {
    return { name, members, files: members.map((member) => member.name) };
  });
  return new Map(withoutLinkedFamilies(families, files).map(({ name, members }) => [name, members]));
}

/** The files of one family. */
export async function familyMembers(files: readonly SeenFile[], family: string): Promise<SeenMember[]> {
  return (await groupMembers(files)).get(family) ?? [];
}

/** The files of one family at present; none if the directory cannot be listed. */
export async function listMembers(family: string, { list }: Pick<FamilyDeps, 'list'>): Promise<SeenMember[]> {
  return familyMembers((await list(family).catch(undefinedIfUnreadable)) ?? [], family);
}

/**
 * Opens every wanted file of the family. A rotation renames files one by one meanwhile, so the directory is listed until
 * two listings are equal: a file that always had an entry in the directory is then never missed. `isExpected`: it should
 * be listed, unless it was deleted.
 */
export async function openFamily(
  family: string,
  deps: FamilyDeps,
  { isWanted, isExpected }: Record<'isWanted' | 'isExpected', (member: SeenMember) => boolean>,
): Promise<OpenedFamily> {
  const opened = new Map<string, OpenedMember>();
  const seen = new Map<string, MissedFile>();
  const isNew = (member: SeenMember) => isWanted(member) && !opened.has(member.id);
  const endMs = performance.now() + (deps.listMs ?? MAX_ROUNDS_MS);
  let members: SeenMember[] = [];
  let before = { names: '', failed: '' };
  let equalRounds = 0;
  let isStable = false;
  for (let round = 0; !isStable && (round < MAX_ROUNDS || performance.now() < endMs); round++) {
    members = await familyMembers(await deps.list(family), family);
    const listed = new Set(members.map(({ name }) => name));
    // While a file is being compressed both exist, and only the plain one is complete.
    const isHalf = ({ name, compressed }: SeenMember) => compressed && listed.has(plainName(name));
    const failed: string[] = [];
    for (const member of members.filter((one) => isNew(one) && !isHalf(one))) {
      if (!seen.has(member.id)) seen.set(member.id, { round, after: members[members.indexOf(member) - 1]?.id });
      const found = await openMember(member, deps, isNew);
      // One that was not listed yet got its name after this listing.
      if (found) opened.set(found.id, { ...found, round: seen.get(found.id)?.round ?? round + 1 });
      if (found?.id !== member.id) failed.push(member.name);
    }
    const now = { names: members.map(({ name, id }) => `${name}=${id}`).join('/'), failed: failed.join('/') };
    // A file that cannot be opened although its name has not changed never will be.
    const isEqual = now.names === before.names && (now.failed === '' || now.failed === before.failed);
    equalRounds = isEqual ? equalRounds + 1 : 0;
    // All of a small family may be renamed twice between the listing of the names and that of the files.
    isStable = equalRounds >= (members.some(isExpected) ? 1 : MIN_EQUAL_ROUNDS);
    before = now;
  }
  await readGrownStarts([...opened.values()], deps);
  const missed = [...seen].flatMap(([id, file]) => (opened.has(id) ? [] : [file]));
  return { members, opened: [...opened.values()], missed: missed.sort((a, b) => b.round - a.round), isStable };
}

/** Opens the file that has the name now; `undefined` if there is none, or it is not new. */
async function openMember(
  member: SeenMember,
  deps: FamilyDeps,
  isNew: (member: SeenMember) => boolean,
): Promise<Omit<OpenedMember, 'round'> | undefined> {
  const { name, compressed } = member;
  const handle = await deps.handles.acquire(name).catch(undefinedIfUnreadable);
  if (!handle) return undefined;
  try {
    const { dev, ino, birthtimeNs: birthNs, mtimeNs: modifiedNs, size } = await statFd(handle.fd);
    const id = `${dev}:${ino}`;
    // It may have got its name after the listing, and be incomplete.
    const isHalf = compressed && (await exists(plainName(name), deps));
    if (!isHalf && isNew({ ...member, id, birthNs, modifiedNs, size })) {
      return { id, name, handle, compressed, modifiedNs, ...(await readFileStart(handle, deps)) };
    }
  } catch (error) {
    handle.release();
    // The next listing finds it again.
    return undefinedIfUnreadable(error);
  }
  handle.release();
  return undefined;
}

async function exists(name: string, { handles }: FamilyDeps): Promise<boolean> {
  const handle = await handles.acquire(name).catch(undefinedIfUnreadable);
  handle?.release();
  return handle !== undefined;
}

/** A plain file may have grown since it was opened, and its archive, which was found later, has all of it. */
async function readGrownStarts(opened: readonly OpenedMember[], deps: FamilyDeps): Promise<void> {
  for (const member of opened) {
    if (member.compressed || member.head.length >= HEAD_BYTES) continue;
    Object.assign(member, await readFileStart(member.handle, deps).catch(undefinedIfUnreadable));
  }
}

export async function readFileStart(
  handle: LogHandle,
  { zone, formats = BUILT_IN_FORMATS, scrubber, format: likely }: FamilyDeps,
): Promise<FileStart> {
  const first = decodeStart(await readTextStart(handle, scrubber()), scrubber());
  const start = first[0] === 0 ? await readStartAfterHole(handle, scrubber()) : first;
  const head = start.subarray(0, HEAD_BYTES);
  const likelyMs = likely && findFirstTime(start, likely);
  if (likely && likelyMs !== undefined) return { format: likely, head, firstTimeMs: likelyMs };
  const format = formats.detect(start, { zone, writtenMs: Number(handle.modifiedNs / 1_000_000n) });
  return { format, head, firstTimeMs: findFirstTime(start, format) };
}

/** In UTF-8. */
function decodeStart(bytes: Buffer, scrubber: Scrubber | undefined): Buffer {
  const encoding = detectUtf16(bytes);
  return encoding ? maskStart(decodeUtf16(bytes, encoding), START_BYTES, scrubber) : bytes;
}

/** The first bytes of the text; of an incomplete archive, what can be unpacked. Secrets are masked. */
async function readTextStart(handle: LogHandle, scrubber: Scrubber | undefined): Promise<Buffer> {
  // Not bounded by its size at opening: it may have been empty then.
  if (!isPackedName(handle.name)) return readStart(handle.fd, START_BYTES, scrubber);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of unpack(handle, 0, START_BYTES + (scrubber?.rightBytes ?? 0)))
      chunks.push(Buffer.from(chunk));
  } catch (error) {
    // An incomplete archive: its plain file still exists, or it is damaged, which is reported when it is read.
    if (!isFileFailure(error)) throw error;
  }
  return maskStart(Buffer.concat(chunks), START_BYTES, scrubber);
}

async function readStartAfterHole(handle: LogHandle, scrubber: Scrubber | undefined): Promise<Buffer> {
  if (isPackedName(handle.name)) {
    const { head } = await packedHead({ handle, reads: new SharedReads() }, START_BYTES + (scrubber?.rightBytes ?? 0));
    return maskStart(head, START_BYTES, scrubber);
  }
  const from = await findTextStart(handle.fd, Number((await statFd(handle.fd)).size));
  return readStart(handle.fd, START_BYTES, scrubber, from);
}

/** The text of a file of the family from `start` to its end, plain or unpacked. Secrets are not masked. */
export function readMember(
  { handle, compressed }: Pick<OpenedMember, 'handle' | 'compressed'>,
  start: number,
): AsyncGenerator<Buffer, void, undefined> {
  return compressed ? unpack(handle, start, Infinity) : readPlain(handle, start);
}

async function* readPlain({ fd }: LogHandle, start: number): AsyncGenerator<Buffer, void, undefined> {
  let position = start;
  while (true) {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const got = await readFd(fd, buffer, { position, length: buffer.length });
    if (got > 0) yield got < READ_BYTES / 2 ? Buffer.from(buffer.subarray(0, got)) : buffer.subarray(0, got);
    if (got < buffer.length) return;
    position += got;
  }
}

/** Secrets are not masked. */
function unpack(handle: LogHandle, start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
  return unpackRange({ handle, reads: new SharedReads() }, start, end);
}

/** Marks of emitted files; older files have left any family that keeps a sane number of them. */
const MAX_MARKS = 256;

/** The files of a family that must not be emitted: they were emitted already, or are older than the follow. */
export class KnownFiles {
  #members = new Map<string, SeenMember>();
  #marks: FileMark[] = [];

  /** Replaces the known files. Deleted ones are forgotten, because a new file may get the same inode number. */
  remember(members: readonly SeenMember[]): void {
    this.#members = new Map(members.map((member) => [member.id, member]));
  }

  get members(): SeenMember[] {
    return [...this.#members.values()];
  }

  addMark(mark: FileMark): void {
    if (mark.headBytes === 0) return;
    this.#marks.push(mark);
    if (this.#marks.length > MAX_MARKS) this.#marks.shift();
  }

  /** Whether it is the very same file. The inode number alone is no proof: file systems reuse it for the next new file. */
  has(member: SeenMember): boolean {
    const known = this.#members.get(member.id);
    if (!known) return false;
    const isUnchanged = known.size === member.size && known.modifiedNs === member.modifiedNs;
    return isUnchanged || (known.birthNs > 0n && known.birthNs === member.birthNs);
  }

  /** Whether it is an archive or a full copy of an emitted file. */
  isCopy(member: OpenedMember): boolean {
    return this.#marks.some((mark) => isCopyOf(mark, member));
  }
}

/** A few equal bytes prove nothing for a plain file, but an archive is always an archive of another file. */
export function isCopyOf(mark: FileMark, { head, compressed }: OpenedMember): boolean {
  if (mark.headBytes === 0 || (!compressed && mark.headBytes < HEAD_BYTES)) return false;
  return isMarked(mark, head);
}
