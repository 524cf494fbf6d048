import { appendFile, chmod, mkdir, open, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MemberClock } from '@porthole/contract';
import {
  encodeMark,
  groupFamilies,
  isSafeName,
  positionAnchor,
  type RecordMark,
  readItemText,
  replaceFile,
} from '@porthole/logs';
import type { FollowedText, FollowQuery, FoundRecord } from '@porthole/logs/types';
import { joinCursors } from '@porthole/records';

/*
 * What a member wrote lately, on the disk of another node: the text of its records as it was delivered, in files that the
 * engine reads like any log, and beside each of them where its text is in the log of the member. So a record that is read
 * here has the position, and the cursor, that it has there. See docs/adr/0052-recordings-of-members.md.
 *
 *     recorded/MEMBER/log/FAMILY-19700101-0000000007   text
 *     recorded/MEMBER/positions/0000000007             lines of JSON: the pieces of that text
 *     recorded/MEMBER/recording.json                   what is known of the recording as a whole
 *
 * Of a contract-only member, which cannot be followed, the newest part of each file is copied under its own name, and records
 * have the positions of the copies:
 *
 *     recorded/MEMBER/copy-ID/log/FILE                 text
 */

/** The files of a family are named like rotated ones, which the engine reads in this order. The date says nothing. */
const SUFFIX = /-19700101-(\d{10})$/;

/** Directories below the log directory of a member; see `log.recursive-depth`. */
export const RECORDED_DEPTH = 8;

/** With the suffix, and a directory for each level, within what file systems allow. */
const MAX_NAME = 200;

/** The recording has this many files at most of its size and of its time: the oldest is deleted as a whole. */
const PARTS = 8;

/** Names of files that are known: a member may make them up. Of most nodes it is all. */
const MAX_NAMES = 1000;

/** What the position of a piece takes in memory; on disk that of a file with a long name takes more. */
const PIECE_BYTES = 128;
const MAX_PIECE_BYTES = 1024;

/** So much of one record is left out at most: no program writes a line like that. */
const MAX_LEFT_OUT = 128 * 1024 ** 2;

/** So much waits in memory to be written. */
const WAITING_BYTES = 1024 ** 2;

/** Read at the end of a file to find its last complete line. */
const TORN_BYTES = 1024 * 1024;

/** A head as long as this one identifies a file; the beginning of two files may be the same. */
const WHOLE_HEAD = 1024;

const NEWLINE = 10;
const HEAD = /^([0-9a-f]{16})\.([0-9a-z]{1,4})(?=\.)/;

/** What a recording is made of. */
export type RecordedItem = FoundRecord | FollowedText;

export interface RecordingLimits {
  maxBytes: number;
  maxMs: number;
}

/** What is known of a recording besides its text. Times are by the clock of the node that records, unless it says otherwise. */
export interface RecordingFacts {
  /** The time zone of the member, for times without one; empty if it is not known. */
  zone: string;
  /** Nothing is missing since this time, by the clock of the member; `null`: only what was followed is there. */
  sinceMs: number | null;
  /** The last sign of life. */
  asOfMs: number;
  /** When the connection was lost; `null` while the member is followed. Not after `asOfMs` if it said goodbye. */
  lostMs: number | null;
  clock: MemberClock | null;
  /** Copies of the files of a contract-only member, instead of what was followed, by the name of their directory. */
  copy: { name: string; bytes: number; lastRecordMs: number | null } | null;
}

/** Where a part of the text is in the log of the member. */
interface Piece {
  /** Its start in this file, and in the file of the member. */
  at: number;
  offset: number;
  /** The name of the file when it was read. */
  file: string;
  /** What its cursors begin with: it identifies the file. */
  head: string;
  /** The time of its first record, or of one before it; by the clock of the member. */
  timeMs: number | null;
  run: Run;
}

/** The text of one file of the member. */
interface Run {
  /** The end of what was recorded, in the file of the member. */
  next: number;
  lastMs: number | null;
}

interface Part {
  family: string;
  number: number;
  bytes: number;
  pieces: Piece[];
  /** What the positions of the pieces take. */
  positionBytes: number;
  begunMs: number;
  writtenMs: number;
  endsLine: boolean;
}

/** A position in a file of the member, as its cursors name it. */
export interface MemberPlace {
  file: string;
  head: string;
  offset: number;
}

/** A range of bytes of a file of the recording. */
export interface RecordedRange {
  path: string;
  from: number;
  to: number;
}

/** What is to be written of a part. */
interface Waiting {
  texts: Buffer[];
  pieces: Piece[];
}

/** A member sends what can only be meant to fill a disk. */
export class RecordingRefused extends Error {
  readonly code = 'RECORDING_REFUSED';
}

const NOTHING: RecordingFacts = { zone: '', sinceMs: null, asOfMs: 0, lostMs: null, clock: null, copy: null };

const COPY_NAME = /^copy-[0-9a-f-]{36}$/;

export class Recording {
  readonly dir: string;
  facts: RecordingFacts = NOTHING;
  readonly #limits: RecordingLimits;
  readonly #nowMs: () => number;
  /** Oldest first. */
  #parts: Part[] = [];
  #bytes = 0;
  /** The newest of each family. */
  readonly #lasts = new Map<string, Part>();
  /** By family and head. */
  readonly #runs = new Map<string, Run>();
  readonly #families = new Map<string, string>();
  #lastNumber = 0;
  /** Of the record that was last cut. */
  #leftOutBytes = 0;

  private constructor(dir: string, limits: RecordingLimits, nowMs: () => number) {
    this.dir = dir;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Reads what an earlier process has left; a line that it did not finish is dropped. */
  // clock: ages of what is recorded, which outlives the process
  static async open(dir: string, limits: RecordingLimits, nowMs = () => Date.now()): Promise<Recording> {
    const recording = new Recording(dir, limits, nowMs);
    await recording.#load();
    return recording;
  }

  /** Where the engine reads its text. */
  get logDir(): string {
    return join(this.dir, this.facts.copy?.name ?? '', 'log');
  }

  /** Of the text and the positions in it. */
  get bytes(): number {
    return this.#bytes + (this.facts.copy?.bytes ?? 0);
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.facts.copy === null;
  }

  /** The names of the files that its text comes from. */
  get files(): string[] {
    return [...new Set(this.#parts.flatMap(({ pieces }) => pieces.map(({ file }) => file)))];
  }

  /** Where to follow the member from so that nothing is missing; `undefined` if nothing was recorded. */
  resume(): Exclude<FollowQuery['start'], 'end'> | undefined {
    const ends = new Map<string, string>();
    let lastMs = this.facts.sinceMs;
    for (const { family, pieces } of this.#parts) {
      const last = pieces.at(-1);
      if (!last) continue;
      // A follow continues after the record that a position is in: the next one begins behind it.
      ends.set(family, encodePlace({ ...last, offset: Math.max(0, last.run.next - 1) }));
      lastMs = Math.max(lastMs ?? -Infinity, last.run.lastMs ?? -Infinity);
    }
    if (ends.size === 0 || lastMs === null) return undefined;
    return { cursor: joinCursors(ends.values()), sinceMs: lastMs };
  }

  /** The time of the newest record, by the clock of the member. */
  get lastRecordMs(): number | null {
    if (this.facts.copy) return this.facts.copy.lastRecordMs;
    const times = this.#parts.flatMap(({ pieces }) => pieces.at(-1)?.run.lastMs ?? []);
    return times.length === 0 ? null : Math.max(...times);
  }

  /**
   * Adds the text of records, or records that have it. What is recorded already is left out, so that a follow may begin
   * earlier. If it fails, the recording must be opened again.
   */
  async append(items: readonly RecordedItem[]): Promise<void> {
    const writes = new Map<Part, Waiting>();
    let writtenBytes = this.#bytes;
    for (const item of items) {
      this.#add(item, writes);
      if (this.#bytes - writtenBytes < WAITING_BYTES) continue;
      await this.#writeAll(writes);
      writtenBytes = this.#bytes;
    }
    await this.#writeAll(writes);
  }

  async #writeAll(writes: Map<Part, Waiting>): Promise<void> {
    for (const part of await this.#trim()) writes.delete(part);
    for (const [part, { texts, pieces }] of writes) {
      // First the positions: there is never a text without one.
      if (pieces.length > 0)
        await this.#write(
          this.#positionsPath(part),
          Buffer.from(pieces.map((piece) => `${writePiece(piece)}\n`).join('')),
        );
      await this.#write(this.#textPath(part), Buffer.concat(texts));
    }
    writes.clear();
  }

  /** A file of this family begins anew: a short beginning that it has in common with the old one says nothing. */
  forgetShortHeads(family: string): void {
    for (const key of this.#runs.keys())
      if (key.startsWith(`${family}\n`) && headBytes(key) < WHOLE_HEAD) this.#runs.delete(key);
  }

  async saveFacts(): Promise<void> {
    await replaceFile(join(this.dir, 'recording.json'), JSON.stringify(this.facts));
  }

  /** Whether records are missing anywhere: nobody has recorded all of them. */
  get isIncomplete(): boolean {
    return this.facts.sinceMs === null;
  }

  /** Removes what was recorded in another way, which nothing can continue, and copies that nobody writes to. */
  async clearUnless(copy: string | undefined): Promise<void> {
    if (copy !== undefined || this.isIncomplete) {
      for (const part of [...this.#parts]) await this.#remove(part);
      this.#runs.clear();
    }
    if (copy === undefined && (this.facts.copy || this.isIncomplete)) this.facts = NOTHING;
    for (const name of await readdir(this.dir))
      if (COPY_NAME.test(name) && name !== copy) await rm(join(this.dir, name), { recursive: true, force: true });
  }

  /** The position of a record of the engine in the log of the member. */
  toMember(name: string, offset: number): MemberPlace | undefined {
    const piece = this.#part(name)?.pieces.findLast(({ at }) => at <= offset);
    return piece && { file: piece.file, head: piece.head, offset: piece.offset + offset - piece.at };
  }

  /**
   * Where the engine continues after a position of the member. `start`: with the first record of its log. `undefined`: it is
   * not known what is before and what is after it.
   */
  toRecorded(mark: RecordMark, order: 'newest' | 'oldest'): { name: string; offset: number } | 'start' | undefined {
    const family = this.familyOf(mark.file);
    const run = this.#runs.get(runKey(family, `${mark.headHash}.${mark.headBytes.toString(36)}`));
    if (!run) return undefined;
    const pieces = this.#pieces().filter(({ piece }) => piece.run === run);
    const last = pieces.at(-1);
    const holder = pieces.findLast(({ piece, part, to }) => {
      const end = piece.offset + to - piece.at;
      return mark.offset >= piece.offset && (mark.offset < end || piece === last?.piece) && part.family === family;
    });
    if (holder) {
      const { part, piece, to } = holder;
      return { name: partName(part), offset: Math.min(to, piece.at + mark.offset - piece.offset) };
    }
    // It is in a part of the file that was not recorded.
    const next = pieces.find(({ piece }) => piece.offset > mark.offset);
    if (!next) return undefined;
    const { part, piece } = next;
    if (order === 'newest') return { name: partName(part), offset: piece.at };
    // Oldest first, the position next to a record is the byte before it.
    if (piece.at > 0) return { name: partName(part), offset: piece.at - 1 };
    const before = this.#parts.findLast((other) => other.family === family && other.number < part.number);
    return before ? { name: partName(before), offset: before.bytes } : 'start';
  }

  /** What was recorded of the file that last had this name, oldest first. */
  rangesOf(file: string): RecordedRange[] {
    const pieces = this.#pieces();
    const last = pieces.findLast(({ piece }) => piece.file === file)?.piece.run;
    return pieces
      .filter(({ piece }) => piece.run === last && piece.file === file)
      .map(({ part, piece, to }) => ({ path: this.#textPath(part), from: piece.at, to }));
  }

  #pieces(): { part: Part; piece: Piece; to: number }[] {
    return this.#parts.flatMap((part) =>
      part.pieces.map((piece, index) => ({ part, piece, to: part.pieces[index + 1]?.at ?? part.bytes })),
    );
  }

  /** The family of a file, by the names that were recorded. */
  familyOf(file: string): string {
    const known = this.#families.get(file);
    if (known !== undefined) return known;
    const names = [...new Set([...this.#families.keys(), file])];
    const family = groupFamilies(names).find(({ files }) => files.some(({ name }) => name === file))?.name ?? file;
    this.#families.set(file, family);
    return family;
  }

  hasFamily(family: string): boolean {
    return this.#parts.some((part) => part.family === family);
  }

  #add(item: RecordedItem, writes: Map<Part, Waiting>): void {
    const { file, offset, cursor, bytes, timeMs, continued = false } = item;
    const head = HEAD.exec(cursor)?.[0];
    // It comes from a member: nothing of it may lead elsewhere.
    if (head === undefined || file.length > MAX_NAME || !isSafeName(file, RECORDED_DEPTH)) return;
    if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(bytes) || offset < 0 || bytes < 0) return;
    const read = readItemText(item);
    if (!read || (!this.#families.has(file) && this.#families.size >= MAX_NAMES)) {
      this.#noteMissing(item);
      return;
    }
    const family = this.familyOf(file);
    const last = this.#lasts.get(family);
    const lastPiece = last?.pieces.at(-1);
    const run = this.#runOf({ file, head, offset }, { family, timeMs, lastPiece });
    const skipped = Math.max(0, run.next - offset);
    if (skipped >= bytes && bytes > 0) return;
    const { isExact } = read;
    const whole = isExact ? read.text.subarray(skipped) : read.text;
    const isBegun = continued || skipped > 0;
    const part = this.#partFor(family, { isBegun, last });
    run.next = Math.max(run.next, offset + bytes);
    const text = this.#cut(whole, part);
    if (!isBegun) this.#leftOutBytes = 0;
    if (text.length < whole.length) this.#leaveOut(item, whole.length - text.length);
    if (text.length === 0 && whole.length > 0) return;
    const write = writes.get(part) ?? { texts: [], pieces: [] };
    writes.set(part, write);
    const place = { file, head, offset: isExact ? offset + skipped : offset };
    if (!this.#isContinued(part, place, run)) {
      // What was cut off before ends here.
      if (!part.endsLine) {
        write.texts.push(Buffer.from('\n'));
        part.bytes++;
        this.#bytes++;
      }
      const piece = { at: part.bytes, ...place, timeMs: timeMs ?? run.lastMs, run };
      part.pieces.push(piece);
      write.pieces.push(piece);
      const pieceBytes = sizeOfPiece(writePiece(piece));
      part.positionBytes += pieceBytes;
      this.#bytes += pieceBytes;
    }
    write.texts.push(text);
    part.bytes += text.length;
    this.#bytes += text.length;
    part.writtenMs = this.#nowMs();
    part.endsLine = text.length === 0 ? part.endsLine : text.at(-1) === NEWLINE;
    const lastMs = latestMs(item);
    if (lastMs !== undefined) run.lastMs = Math.max(run.lastMs ?? lastMs, lastMs);
  }

  /** From here on something is missing. */
  #noteMissing(item: RecordedItem): void {
    const { sinceMs } = this.facts;
    if (sinceMs === null) return;
    this.facts = { ...this.facts, sinceMs: Math.max(sinceMs, latestMs(item) ?? this.#nowMs()) };
  }

  /** What there is room for of a text: whole lines, or else the start of its line, which then ends there. */
  #cut(text: Buffer, part: Part): Buffer {
    const room = Math.floor(this.#limits.maxBytes) - sizeOf(part) - MAX_PIECE_BYTES;
    if (text.length <= room) return text;
    if (room <= 0) return Buffer.alloc(0);
    const end = text.lastIndexOf(NEWLINE, room - 1) + 1;
    return end > 0 ? text.subarray(0, end) : Buffer.concat([text.subarray(0, room - 1), Buffer.from('\n')]);
  }

  #leaveOut(item: RecordedItem, bytes: number): void {
    this.#noteMissing(item);
    this.#leftOutBytes += bytes;
    if (this.#leftOutBytes > MAX_LEFT_OUT)
      throw new RecordingRefused(`it sends a line of ${item.file.slice(0, 100)} that does not end`);
  }

  /** The file that a record is in. A short beginning may be that of another file too: then the time decides. */
  #runOf(
    { file, head, offset }: MemberPlace,
    { family, timeMs, lastPiece }: { family: string; timeMs: number | undefined; lastPiece: Piece | undefined },
  ): Run {
    const key = runKey(family, head);
    const isLater = ({ next, lastMs }: Run) =>
      offset < next && timeMs !== undefined && lastMs !== null && timeMs > lastMs;
    let run = this.#runs.get(key);
    if (run && headBytes(head) < WHOLE_HEAD && isLater(run)) run = undefined;
    const last = lastPiece?.run;
    const isGrown = lastPiece !== undefined && hasGrown(lastPiece.head, head);
    const isNext = last?.next === offset && (lastPiece?.file === file || isGrown);
    const isBefore = last && offset < last.next && timeMs !== undefined && !isLater(last);
    if (isNext || (isGrown && isBefore)) run ??= last;
    run ??= { next: offset, lastMs: lastPiece?.run.lastMs ?? null };
    this.#runs.set(key, run);
    return run;
  }

  /** Whether a text belongs to the last piece: its distance from the start of that piece is the same in both files. */
  #isContinued({ pieces, bytes }: Part, { file, head, offset }: MemberPlace, run: Run): boolean {
    const last = pieces.at(-1);
    if (!last || last.run !== run || last.file !== file || last.head !== head) return false;
    // The times of these must be known after a restart, see `#runOf`; the file is short.
    if (headBytes(head) < WHOLE_HEAD) return false;
    return offset - last.offset === bytes - last.at;
  }

  #partFor(family: string, { isBegun, last }: { isBegun: boolean; last: Part | undefined }): Part {
    const { maxBytes, maxMs } = this.#limits;
    const nowMs = this.#nowMs();
    const isFull = last && (sizeOf(last) >= maxBytes / PARTS || nowMs - last.begunMs >= maxMs / PARTS);
    if (last && (!isFull || isBegun)) return last;
    const times = { begunMs: nowMs, writtenMs: nowMs };
    const empty = { bytes: 0, pieces: [], positionBytes: 0, endsLine: true };
    const begun: Part = { family, number: ++this.#lastNumber, ...empty, ...times };
    this.#parts.push(begun);
    this.#lasts.set(family, begun);
    return begun;
  }

  /**
   * Deletes the oldest, before anything is written, and returns it. What is recent enough is determined by what comes: that
   * of a member that is gone stays.
   */
  async #trim(): Promise<Part[]> {
    const removed: Part[] = [];
    const { maxBytes, maxMs } = this.#limits;
    const oldestMs = this.#nowMs() - maxMs;
    for (const part of [...this.#parts]) {
      const isOld = part.writtenMs < oldestMs && this.#lasts.get(part.family) !== part;
      if (!isOld && (this.#bytes <= maxBytes || this.#parts.length === 1)) continue;
      const next = this.#parts.find(({ family, number }) => family === part.family && number > part.number);
      await this.#remove(part);
      removed.push(part);
      const fromMs = next ? next.pieces[0]?.timeMs : part.pieces.at(-1)?.run.lastMs;
      const { sinceMs } = this.facts;
      if (fromMs != null && sinceMs !== null) this.facts = { ...this.facts, sinceMs: Math.max(sinceMs, fromMs) };
    }
    if (Math.max(this.#runs.size, this.#families.size) >= MAX_NAMES) this.#forgetUnused();
    return removed;
  }

  /** Names and files of which nothing is left. */
  #forgetUnused(): void {
    const files = new Set(this.files);
    for (const name of this.#families.keys()) if (!files.has(name)) this.#families.delete(name);
    const runs = new Set(this.#parts.flatMap(({ pieces }) => pieces.map(({ run }) => run)));
    for (const [key, run] of this.#runs) if (!runs.has(run)) this.#runs.delete(key);
  }

  async #remove(part: Part): Promise<void> {
    this.#parts = this.#parts.filter((other) => other !== part);
    this.#bytes -= sizeOf(part);
    if (this.#lasts.get(part.family) === part) this.#lasts.delete(part.family);
    await rm(this.#textPath(part), { force: true });
    await rm(this.#positionsPath(part), { force: true });
  }

  async #write(path: string, bytes: Buffer): Promise<void> {
    await appendFile(path, bytes, { mode: 0o600 }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await appendFile(path, bytes, { mode: 0o600 });
    });
  }

  async #load(): Promise<void> {
    for (const path of [this.dir, this.#partsDir, join(this.dir, 'positions')]) {
      // An existing directory may be accessible to others.
      if ((await mkdir(path, { recursive: true, mode: 0o700 })) === undefined) await chmod(path, 0o700);
    }
    this.facts = (await readFacts(join(this.dir, 'recording.json'))) ?? NOTHING;
    for (const name of await readdir(this.#partsDir, { recursive: true })) {
      const [suffix, number] = SUFFIX.exec(name) ?? [];
      if (suffix === undefined) continue;
      this.#lastNumber = Math.max(this.#lastNumber, Number(number));
      const part = await this.#loadPart(name.slice(0, -suffix.length), Number(number));
      this.#parts.push(part);
    }
    this.#parts.sort((a, b) => a.number - b.number);
    this.#bytes = this.#parts.reduce((sum, part) => sum + sizeOf(part), 0);
    for (const part of this.#parts) this.#lasts.set(part.family, part);
    for (const part of [...this.#parts]) if (part.pieces.length === 0 || part.bytes === 0) await this.#remove(part);
    const lasts = new Map<string, Piece>();
    for (const part of this.#parts) this.#joinRuns(part, lasts);
    // The process may have been killed before it could write when it last heard of the member.
    const writtenMs = this.#parts.reduce((last, part) => Math.max(last, part.writtenMs), 0);
    if (writtenMs > this.facts.asOfMs) this.facts = { ...this.facts, asOfMs: Math.min(writtenMs, this.#nowMs()) };
  }

  async #loadPart(family: string, number: number): Promise<Part> {
    const part: Part = {
      ...{ family, number, bytes: 0, positionBytes: 0, pieces: [] },
      ...{ begunMs: 0, writtenMs: 0, endsLine: true },
    };
    const path = this.#textPath(part);
    part.bytes = await dropTornLine(path);
    const { mtimeMs, birthtimeMs } = await stat(path);
    part.writtenMs = mtimeMs;
    part.begunMs = Math.min(mtimeMs, birthtimeMs || mtimeMs);
    const lines = (await readFile(this.#positionsPath(part), 'utf8').catch(emptyIfMissing)).split('\n');
    // The last one is empty, or was not written completely.
    for (const line of lines.slice(0, -1)) {
      const piece = readPiece(line);
      if (piece && piece.at < part.bytes) part.pieces.push(piece);
      part.positionBytes += sizeOfPiece(line);
    }
    for (const { file } of part.pieces) this.#families.set(file, family);
    return part;
  }

  /** Pieces that follow each other in the log of the member are of the same file, whatever was known of its beginning. */
  #joinRuns({ family, pieces, bytes }: Part, lasts: Map<string, Piece>): void {
    let last = lasts.get(family);
    for (const [index, piece] of pieces.entries()) {
      const key = runKey(family, piece.head);
      const isSame = last && (last.file === piece.file || hasGrown(last.head, piece.head));
      const isNext = isSame && last?.run.next === piece.offset;
      const run = this.#runs.get(key) ?? (isNext && last ? last.run : piece.run);
      this.#runs.set(key, run);
      piece.run = run;
      run.next = Math.max(run.next, piece.offset + (pieces[index + 1]?.at ?? bytes) - piece.at);
      run.lastMs = piece.timeMs === null ? run.lastMs : Math.max(run.lastMs ?? piece.timeMs, piece.timeMs);
      last = piece;
      lasts.set(family, piece);
    }
  }

  #part(name: string): Part | undefined {
    return this.#parts.find((part) => partName(part) === name);
  }

  get #partsDir(): string {
    return join(this.dir, 'log');
  }

  #textPath(part: Pick<Part, 'family' | 'number'>): string {
    return join(this.#partsDir, partName(part));
  }

  #positionsPath({ number }: Pick<Part, 'number'>): string {
    return join(this.dir, 'positions', String(number).padStart(10, '0'));
  }
}

/** The time of the last record of an item, or of a later one before it. */
export function latestMs(item: RecordedItem): number | undefined {
  return item.type === 'text' ? item.lastMs : item.timeMs;
}

/** The cursor of a position of the member, or of the record there if there is something to verify it by. */
export function encodePlace(
  { file, head, offset }: MemberPlace,
  { check, checkBytes }: Pick<RecordMark, 'check' | 'checkBytes'> = positionAnchor(offset),
): string {
  const [, headHash = '', length = ''] = HEAD.exec(`${head}.`) ?? [];
  return encodeMark({ file, headHash, headBytes: Number.parseInt(length, 36), offset, check, checkBytes });
}

function sizeOf({ bytes, positionBytes }: Pick<Part, 'bytes' | 'positionBytes'>): number {
  return bytes + positionBytes;
}

function sizeOfPiece(line: string): number {
  return Math.max(PIECE_BYTES, Buffer.byteLength(line) + 1);
}

function partName({ family, number }: Pick<Part, 'family' | 'number'>): string {
  return `${family}-19700101-${String(number).padStart(10, '0')}`;
}

function runKey(family: string, head: string): string {
  return `${family}\n${head}`;
}

/** Whether more is known of the beginning of a file than before: it may have grown, and been renamed. */
function hasGrown(before: string, head: string): boolean {
  return headBytes(before) < WHOLE_HEAD && headBytes(before) < headBytes(head);
}

/** How much of a file its head is made of. */
function headBytes(head: string): number {
  return Number.parseInt(head.slice(head.lastIndexOf('.') + 1), 36);
}

function writePiece({ at, offset, file, head, timeMs }: Piece): string {
  return JSON.stringify([at, offset, file, head, timeMs]);
}

/** Others may write to the disk. */
function readPiece(line: string): Piece | undefined {
  const value = parseJson(line);
  if (!Array.isArray(value)) return undefined;
  const [at, offset, file, head, timeMs] = value as unknown[];
  if (!isOffset(at) || !isOffset(offset) || typeof file !== 'string' || !isSafeName(file, RECORDED_DEPTH))
    return undefined;
  if (typeof head !== 'string' || HEAD.exec(`${head}.`)?.[0] !== head) return undefined;
  if (timeMs !== null && !isTime(timeMs)) return undefined;
  return { at, offset, file, head, timeMs, run: { next: offset, lastMs: timeMs } };
}

async function readFacts(path: string): Promise<RecordingFacts | undefined> {
  const value = parseJson(await readFile(path, 'utf8').catch(emptyIfMissing)) as Partial<RecordingFacts> | undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const { zone, sinceMs = null, asOfMs, lostMs = null, clock = null, copy = null } = value;
  const isClock = clock === null || (Number.isFinite(clock.offsetMs) && Number.isFinite(clock.uncertaintyMs));
  if (typeof zone !== 'string' || !isTime(asOfMs) || !isClock) return undefined;
  if (![sinceMs, lostMs, copy?.lastRecordMs ?? null].every((time) => time === null || isTime(time))) return undefined;
  if (copy !== null && !(COPY_NAME.test(copy.name) && isOffset(copy.bytes))) return undefined;
  return { zone, sinceMs, asOfMs, lostMs, clock, copy };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Cuts the file behind its last line feed. Returns its size. */
async function dropTornLine(path: string): Promise<number> {
  const file = await open(path);
  let size: number;
  let end: number;
  try {
    ({ size } = await file.stat());
    const from = Math.max(0, size - TORN_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    end = from + buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1;
  } finally {
    await file.close();
  }
  if (end < size) await truncate(path, end);
  return end;
}

/** For `.catch`. */
function emptyIfMissing(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return '';
}

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 8.64e15;
}
