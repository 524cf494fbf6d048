import { isFileFailure } from '../../log-error.ts';
import { type OpenedMember, readMember } from './family-files.ts';
import type { LogTail } from './log-tail.ts';
import { findSuccessors, type Successors } from './successors.ts';
import type { TailFile } from './tail-file.ts';
import { TailText } from './tail-text.ts';

export interface Replacement {
  next: TailFile;
  /** How many files are known to have been live since, including the next one. */
  atLeast: number;
}

/**
 * The name belongs to another file now: emits the rest of the old file, and the files that were live in between. If
 * reading fails, a gap is reported and the follow continues with the next file.
 */
export async function followReplacement(tail: LogTail, old: TailFile, replacement: Replacement): Promise<void> {
  try {
    await emitReplaced(tail, old, replacement);
  } catch (error) {
    if (!isFileFailure(error)) throw error;
    emitGap(tail, 'gone');
  }
}

async function emitReplaced(tail: LogTail, old: TailFile, { next, atLeast }: Replacement): Promise<void> {
  const successors = await lookUpSuccessors(tail, old, next);
  const { oldName, copies, between, empty, mayBeIncomplete, missed, members } = successors;
  const gaps = gapsAfter(missed, { old, between, isCountShort: between.length + empty + 1 < atLeast });
  releaseAll(copies);
  // Only now: the writer may have appended to it meanwhile.
  await tail.open.drain(old);
  tail.writer.write(old.text.flushLines());
  const { family } = tail;
  let from = oldName ?? old.name;
  old.text.name = from;
  tail.known.addMark(old.text.mark);
  tail.rotated.add(old);
  if (mayBeIncomplete || gaps.has(old.id)) emitGap(tail, 'gone');
  for (const member of between) {
    tail.writer.writeEvent({ type: 'rotated', family, from, to: member.name });
    await emitWholeFile(tail, member);
    from = member.name;
    if (gaps.has(member.id)) emitGap(tail, 'gone');
  }
  tail.writer.writeEvent({ type: 'rotated', family, from, to: next.name });
  tail.known.remember(members);
}

/**
 * The file was truncated. What was written before may be in a copy; what was written between the copy and the truncation
 * is lost, and nobody knows how much.
 */
export async function followTruncation(tail: LogTail, file: TailFile): Promise<void> {
  const { copies, between, members } = await lookUpSuccessors(tail, file);
  await emitFromCopy(tail, file, copies);
  tail.writer.write(file.text.flushAll());
  tail.known.addMark(file.text.mark);
  for (const member of between) {
    emitTruncation(tail);
    await emitWholeFile(tail, member);
  }
  emitTruncation(tail);
  tail.known.remember(members);
  // The rest of the old text was read from its copy; the new text is in the live file.
  file.text.name = tail.name;
  file.restart();
}

/**
 * A truncated file may have been truncated again before any of its new text was read. Then there is nothing to compare
 * it with, only unknown copies.
 */
export async function followUnseenTruncations(tail: LogTail, file: TailFile): Promise<void> {
  const { copies, between, members } = await lookUpSuccessors(tail, file);
  releaseAll(copies);
  for (const member of between) {
    await emitWholeFile(tail, member);
    emitTruncation(tail);
  }
  tail.known.remember(members);
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

async function lookUpSuccessors(tail: LogTail, old: TailFile, next?: TailFile): Promise<Successors> {
  const { family } = tail.target;
  if (family === undefined)
    return { oldName: undefined, copies: [], between: [], empty: 0, mayBeIncomplete: false, missed: [], members: [] };
  try {
    const modifiedNs = await tail.open.readModifiedNs(old);
    const readModifiedNs = (file: TailFile) => tail.open.readModifiedNs(file);
    const deps = { ...tail.deps, format: old.text.format, readModifiedNs };
    const catchUp = async () => {
      await tail.rotated.drainAll();
      if (next) await tail.open.drain(old);
    };
    const { newestMs } = tail.ring;
    const succession = { old, next, modifiedNs, newestMs, known: tail.known, rotated: tail.rotated.all, catchUp };
    return await findSuccessors(family, succession, deps);
  } catch (error) {
    if (!isFileFailure(error)) throw error;
    // The directory cannot be listed: only the open files are known.
    return { oldName: old.name, copies: [], between: [], empty: 0, mayBeIncomplete: true, missed: [], members: [] };
  }
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

async function emitFromCopy(tail: LogTail, file: TailFile, copies: readonly OpenedMember[]): Promise<void> {
  const { position } = file;
  try {
    for (const copy of copies) {
      for await (const data of readBeyond(copy, file)) {
        file.text.name = copy.name;
        await tail.writer.writeAll(file.text.push(data, performance.now()));
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
async function emitWholeFile(tail: LogTail, member: OpenedMember): Promise<void> {
  if (!member.compressed) {
    const file = await tail.open.open(member.handle, 'start', tail.current);
    await tail.open.drain(file);
    tail.writer.write(file.text.flushLines());
    tail.known.addMark(file.text.mark);
    tail.rotated.add(file);
    return;
  }
  const { name, format } = member;
  const { scrubber } = tail.deps;
  const text = new TailText({ name, offset: 0, head: Buffer.alloc(0), format, scrubber });
  try {
    for await (const data of readMember(member, 0)) await tail.writer.writeAll(text.push(data, performance.now()));
  } catch (error) {
    if (!isFileFailure(error)) throw error;
    emitGap(tail, 'gone');
  } finally {
    member.handle.release();
  }
  tail.writer.write(text.flushAll());
  tail.known.addMark(text.mark);
}

function emitTruncation(tail: LogTail): void {
  tail.writer.writeEvent({ type: 'truncated', file: tail.name, lostBytes: null });
  emitGap(tail, 'truncated');
}

/** A gap of unknown size that cannot be loaded any more. */
function emitGap(tail: LogTail, reason: 'truncated' | 'gone'): void {
  const seq = tail.ring.findLast(({ kind }) => kind === 'record');
  const last = seq === undefined ? undefined : tail.ring.at(seq);
  const after = last?.kind === 'record' ? last.cursor : null;
  tail.writer.writeEvent({ type: 'gap', family: tail.family, reason, bytes: null, after, until: null });
}

function releaseAll(members: readonly OpenedMember[]): void {
  for (const { handle } of members) handle.release();
}
