import type { OpenedMember } from './family-files.ts';
import type { LogTail } from './log-tail.ts';
import { readBeyond, readMember } from './read-member.ts';
import { findSuccessors, type Successors } from './successors.ts';
import type { TailFile } from './tail-file.ts';
import { TailText } from './tail-text.ts';

export interface Replacement {
  next: TailFile;
  /** Files, the next one included, that are known to have been live since. */
  atLeast: number;
}

/**
 * The name leads to another file now: emits the rest of the old one and of those that were live in between. Whatever
 * fails meanwhile, the follow continues with the next file: what could not be read is reported.
 */
export async function passReplaced(tail: LogTail, old: TailFile, replacement: Replacement): Promise<void> {
  try {
    await passFiles(tail, old, replacement);
  } catch {
    tellGap(tail, 'gone');
  }
}

async function passFiles(tail: LogTail, old: TailFile, { next, atLeast }: Replacement): Promise<void> {
  const { oldName, copies, between, empty, mayLack, missed, members } = await successorsOf(tail, old, next);
  const gaps = gapsAfter(missed, { old, between, isCountShort: between.length + empty + 1 < atLeast });
  releaseAll(copies);
  // Only now: while we looked, the writer may have gone on with it.
  await tail.open.drain(old);
  tail.teller.tell(old.text.flushLines());
  const { family } = tail;
  let from = oldName ?? old.name;
  old.text.name = from;
  tail.known.addMark(old.text.mark);
  tail.left.add(old);
  if (mayLack || gaps.has(old.id)) tellGap(tail, 'gone');
  for (const member of between) {
    tail.teller.tellEvent({ type: 'rotated', family, from, to: member.name });
    await tellWhole(tail, member);
    from = member.name;
    if (gaps.has(member.id)) tellGap(tail, 'gone');
  }
  tail.teller.tellEvent({ type: 'rotated', family, from, to: next.name });
  tail.known.remember(members);
}

/**
 * The file is another text now. What was written before that may stand in a copy; what was written between the copying
 * and the cut is lost, and how much that is nobody knows.
 */
export async function passCut(tail: LogTail, file: TailFile): Promise<void> {
  const { copies, between, members } = await successorsOf(tail, file);
  await tellFromCopy(tail, file, copies);
  tail.teller.tell(file.text.flushAll());
  tail.known.addMark(file.text.mark);
  for (const member of between) {
    tellCut(tail);
    await tellWhole(tail, member);
  }
  tellCut(tail);
  tail.known.remember(members);
  // The rest of the old text was read from its copy; the new one is in the live file.
  file.text.name = tail.name;
  file.restart();
}

/**
 * A text that begins anew may have been replaced again before anything of it was read: there is nothing to compare then,
 * only copies that nobody knows.
 */
export async function passUnseenCuts(tail: LogTail, file: TailFile): Promise<void> {
  const { copies, between, members } = await successorsOf(tail, file);
  releaseAll(copies);
  for (const member of between) {
    await tellWhole(tail, member);
    tellCut(tail);
  }
  tail.known.remember(members);
}

/** The files behind which one is missing: behind each of them where it is not known where that was. */
function gapsAfter(
  missed: readonly (string | undefined)[],
  { old, between, isCountShort }: { old: TailFile; between: readonly OpenedMember[]; isCountShort: boolean },
): ReadonlySet<string> {
  const files = new Set([old.id, ...between.map(({ id }) => id)]);
  const isKnown = missed.every((after) => after !== undefined && files.has(after));
  return isKnown && !isCountShort ? new Set(missed.flatMap((after) => after ?? [])) : files;
}

async function successorsOf(tail: LogTail, old: TailFile, next?: TailFile): Promise<Successors> {
  const { family } = tail.target;
  if (family === undefined)
    return { oldName: undefined, copies: [], between: [], empty: 0, mayLack: false, missed: [], members: [] };
  try {
    const modifiedNs = await tail.open.modifiedNsOf(old);
    const modifiedNsOf = (file: TailFile) => tail.open.modifiedNsOf(file);
    const parts = { ...tail.parts, format: old.text.format, modifiedNsOf };
    const catchUp = async () => {
      await tail.left.look();
      if (next) await tail.open.drain(old);
    };
    const { newestMs } = tail.ring;
    const succession = { old, next, modifiedNs, newestMs, known: tail.known, left: tail.left.all, catchUp };
    return await findSuccessors(family, succession, parts);
  } catch {
    // The directory cannot be listed: nothing is known but the two files we have.
    return { oldName: old.name, copies: [], between: [], empty: 0, mayLack: true, missed: [], members: [] };
  }
}

async function tellFromCopy(tail: LogTail, file: TailFile, copies: readonly OpenedMember[]): Promise<void> {
  const { position } = file;
  try {
    for (const copy of copies) {
      for await (const data of readBeyond(copy, file)) {
        file.text.name = copy.name;
        await tail.teller.tellAll(file.text.push(data, performance.now()));
      }
      if (file.position > position) return;
    }
  } catch {
    // A damaged copy: what it did not give is part of the gap that is told anyway.
  } finally {
    releaseAll(copies);
  }
}

/** A file that was never live while we looked. A plain one may still be written to. */
async function tellWhole(tail: LogTail, member: OpenedMember): Promise<void> {
  if (!member.compressed) {
    const file = await tail.open.open(member.handle, 'start', tail.current);
    await tail.open.drain(file);
    tail.teller.tell(file.text.flushLines());
    tail.known.addMark(file.text.mark);
    tail.left.add(file);
    return;
  }
  const { name, format } = member;
  const { scrubber } = tail.parts;
  const text = new TailText({ name, offset: 0, head: Buffer.alloc(0), format, scrubber });
  try {
    for await (const data of readMember(member, 0)) await tail.teller.tellAll(text.push(data, performance.now()));
  } catch {
    tellGap(tail, 'gone');
  } finally {
    member.handle.release();
  }
  tail.teller.tell(text.flushAll());
  tail.known.addMark(text.mark);
}

function tellCut(tail: LogTail): void {
  tail.teller.tellEvent({ type: 'truncated', file: tail.name, lostBytes: null });
  tellGap(tail, 'truncated');
}

/** How much is missing is not known, and there is nowhere left to load it from. */
function tellGap(tail: LogTail, reason: 'truncated' | 'gone'): void {
  const seq = tail.ring.findLast(({ kind }) => kind === 'record');
  const last = seq === undefined ? undefined : tail.ring.at(seq);
  const after = last?.kind === 'record' ? last.cursor : null;
  tail.teller.tellEvent({ type: 'gap', family: tail.family, reason, bytes: null, after, until: null });
}

function releaseAll(members: readonly OpenedMember[]): void {
  for (const { handle } of members) handle.release();
}
