import { HEAD_BYTES } from '../../cursor/cursor.ts';
import { type FamilyFile, groupManyFamilies } from '../../file/families.ts';
import { statFd } from '../../file/fs-calls.ts';
import { gunzipRange, packedHead } from '../../file/gunzip.ts';
import type { HandleCache } from '../../file/handle-cache.ts';
import type { LogHandle } from '../../file/log-handle.ts';
import { findTextStart, maskStart, readStart } from '../../file/read-start.ts';
import { SharedReads } from '../../file/shared-reads.ts';
import { isGzipName } from '../../file/text-source.ts';
import { detectFormat } from '../../parse/detect-format.ts';
import type { Format } from '../../parse/format.ts';
import type { Zone } from '../../parse/zone.ts';
import type { SeenFile } from '../../read/list.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { findFirstTime } from './tail-file.ts';

/** Looks at the directory before what was seen is taken for all there is, although a rotation goes on and on. */
const MAX_ROUNDS = 10;

/** Enough to name a file and to find the time of its first record. */
const START_BYTES = 4 * 1024;

export interface FamilyDeps {
  handles: HandleCache;
  zone: Zone;
  /** What masks secrets at the moment. */
  scrubber(): Scrubber | undefined;
  /** Of the file before: the likeliest, and telling it anew takes long. */
  format?: Format;
  /** Of all files; or of one log, and perhaps of others. */
  list(family?: string): Promise<SeenFile[]>;
}

/** What the first bytes of a file tell. */
export interface FileStart {
  format: Format;
  head: Buffer;
  firstTimeMs: number | undefined;
}

/** A file of the family, held open: whatever it is renamed to meanwhile, it can be read. */
export interface OpenedMember extends FileStart {
  id: string;
  name: string;
  handle: LogHandle;
  compressed: boolean;
  modifiedNs: bigint;
  /** Number of the look at the directory that found it first. */
  round: number;
}

/** What the names of a family led to, oldest first as far as names tell. */
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
  /** Files that were seen, and gone before they could be opened, those of the latest look at the directory first. */
  missed: MissedFile[];
}

export interface MissedFile {
  /** Number of the look that found it first. */
  round: number;
  /** The file that was next to it and older; `undefined` where it was the oldest. */
  after: string | undefined;
}

/** The files of every family as they stand in one listing. */
export async function groupMembers(files: readonly SeenFile[]): Promise<Map<string, SeenMember[]>> {
  const byName = new Map(files.map((file) => [file.name, file]));
  const toMember = ({ name, state, compressed }: FamilyFile): SeenMember[] => {
    const stats = byName.get(name)?.stats;
    if (!stats) return [];
    const { birthtimeNs: birthNs, mtimeNs: modifiedNs, size } = stats;
    return [{ id: `${stats.dev}:${stats.ino}`, name, compressed, live: state === 'live', birthNs, modifiedNs, size }];
  };
  const families = await groupManyFamilies([...byName.keys()]);
  return new Map(families.map(({ name, files: members }) => [name, members.flatMap(toMember)]));
}

/** The files of one of them. */
export async function familyMembers(files: readonly SeenFile[], family: string): Promise<SeenMember[]> {
  return (await groupMembers(files)).get(family) ?? [];
}

/**
 * Opens every file of the family that is wanted. Files are renamed one after the other while we look, so it looks
 * again until two looks are the same: what has an entry in the directory all the time is then never missed.
 */
export async function openFamily(
  family: string,
  deps: FamilyDeps,
  isWanted: (member: SeenMember) => boolean,
): Promise<OpenedFamily> {
  const opened = new Map<string, OpenedMember>();
  const seen = new Map<string, MissedFile>();
  const isNew = (member: SeenMember) => isWanted(member) && !opened.has(member.id);
  let members: SeenMember[] = [];
  let before = '';
  for (let round = 0; round < MAX_ROUNDS; round++) {
    members = await familyMembers(await deps.list(family), family);
    const now = members.map(({ name, id }) => `${name}=${id}`).join('/');
    const names = new Set(members.map(({ name }) => name));
    // While a file is being compressed both are there, and only the plain one is whole.
    const isHalf = ({ name, compressed }: SeenMember) => compressed && names.has(name.slice(0, -'.gz'.length));
    const wanted = members.filter((member) => isNew(member) && !isHalf(member));
    let failed = false;
    for (const member of wanted) {
      if (!seen.has(member.id)) seen.set(member.id, { round, after: members[members.indexOf(member) - 1]?.id });
      const found = await openMember(member, deps, isNew);
      if (found) opened.set(found.id, { ...found, round: seen.get(found.id)?.round ?? round });
      failed ||= found?.id !== member.id;
    }
    if (now === before && !failed) break;
    before = now;
  }
  const missed = [...seen].flatMap(([id, file]) => (opened.has(id) ? [] : [file]));
  return { members, opened: [...opened.values()], missed: missed.sort((a, b) => b.round - a.round) };
}

/** Opens what the name leads to by now; `undefined` where that is nothing, or nothing new. */
async function openMember(
  member: SeenMember,
  deps: FamilyDeps,
  isNew: (member: SeenMember) => boolean,
): Promise<Omit<OpenedMember, 'round'> | undefined> {
  const { name, compressed } = member;
  const handle = await deps.handles.acquire(name).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { dev, ino, birthtimeNs: birthNs, mtimeNs: modifiedNs, size } = await statFd(handle.fd);
    const id = `${dev}:${ino}`;
    if (isNew({ ...member, id, birthNs, modifiedNs, size })) {
      return { id, name, handle, compressed, modifiedNs, ...(await readFileStart(handle, deps)) };
    }
  } catch {
    // It is looked for again.
  }
  handle.release();
  return undefined;
}

export async function readFileStart(
  handle: LogHandle,
  { zone, scrubber, format: likely }: FamilyDeps,
): Promise<FileStart> {
  const first = await readTextStart(handle, scrubber());
  const start = first[0] === 0 ? await readStartAfterHole(handle, scrubber()) : first;
  const head = start.subarray(0, HEAD_BYTES);
  const likelyMs = likely && findFirstTime(start, likely);
  if (likely && likelyMs !== undefined) return { format: likely, head, firstTimeMs: likelyMs };
  const format = detectFormat(start, { zone, writtenMs: Number(handle.modifiedNs / 1_000_000n) });
  return { format, head, firstTimeMs: findFirstTime(start, format) };
}

/** The first bytes of the text; of an archive that is not whole yet, what can be unpacked. Secrets are masked. */
async function readTextStart(handle: LogHandle, scrubber: Scrubber | undefined): Promise<Buffer> {
  // Not bounded by its size when it was opened: it may have been empty then.
  if (!isGzipName(handle.name)) return readStart(handle.fd, START_BYTES, scrubber);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of unpack(handle, 0, START_BYTES + (scrubber?.rightBytes ?? 0)))
      chunks.push(Buffer.from(chunk));
  } catch {
    // Half of an archive: its plain form is still there, or it is damaged and says so when it is read.
  }
  return maskStart(Buffer.concat(chunks), START_BYTES, scrubber);
}

async function readStartAfterHole(handle: LogHandle, scrubber: Scrubber | undefined): Promise<Buffer> {
  if (isGzipName(handle.name)) {
    const { head } = await packedHead({ handle, reads: new SharedReads() }, START_BYTES + (scrubber?.rightBytes ?? 0));
    return maskStart(head, START_BYTES, scrubber);
  }
  const from = await findTextStart(handle.fd, Number((await statFd(handle.fd)).size));
  return readStart(handle.fd, START_BYTES, scrubber, from);
}

/** As it is: secrets are not masked. */
export function unpack(handle: LogHandle, start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
  return gunzipRange({ handle, reads: new SharedReads() }, start, end);
}
