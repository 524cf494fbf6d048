import { decodeAnyUtf16 } from '../../file/utf16.ts';
import { isFileFailure } from '../../log-error.ts';
import type { RecordRing } from '../ring/record-ring.ts';
import type { RingWriter } from '../ring/ring-writer.ts';
import { type FamilyDeps, type OpenedMember, readMember } from './family-files.ts';
import type { KnownFiles } from './known-files.ts';
import type { OpenFiles } from './open-files.ts';
import type { RotatedFiles } from './rotated-files.ts';
import { findSuccessors, type Successors } from './successors.ts';
import type { TailFile } from './tail-file.ts';
import { TailText } from './tail-text.ts';

export interface RotationDeps {
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

export interface Replacement {
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
