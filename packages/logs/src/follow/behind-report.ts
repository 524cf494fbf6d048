import { isMarked } from '../cursor/file-mark.ts';
import { isPackedName } from '../file/compression.ts';
import { undefinedIfUnreadable } from '../log-error.ts';
import type { FollowItem } from '../types.ts';
import { listMembers, readFileStart, type SeenMember } from './tail/family-files.ts';
import type { LogTail } from './tail/log-tail.ts';
import type { DeliveredEnd, TailReader } from './tail/tail-reader.ts';

/** A follow reports how far it is behind what is written if that is more than this ... */
const BEHIND_BYTES = 1024 ** 2;

/** ... and still is after this long: a burst of lines is read sooner. Reports are at least this far apart. */
const BEHIND_MS = 2000;

/** Says how far a follow is behind its logs, and once when it has caught up. */
export class BehindReport {
  readonly #now: () => number;
  /** The sizes of files are not looked at before. */
  #checkMs = -Infinity;
  /** When the next report is due; `undefined` while the follow is not behind. */
  #dueMs: number | undefined;
  #isReported = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The item to emit now, if any. `isIdle`: everything that was read has been emitted. */
  async next(readers: Iterable<TailReader>, { isIdle = false } = {}): Promise<FollowItem[]> {
    const nowMs = this.#now();
    if (nowMs < this.#checkMs && !(isIdle && this.#dueMs !== undefined)) return [];
    this.#checkMs = nowMs + BEHIND_MS;
    let behindBytes = 0;
    for (const reader of readers) behindBytes += await bytesBehind(reader);
    if (behindBytes <= BEHIND_BYTES) return this.#caughtUp();
    this.#dueMs ??= nowMs + BEHIND_MS;
    if (nowMs < this.#dueMs) return [];
    this.#dueMs = nowMs + BEHIND_MS;
    this.#isReported = true;
    return [{ type: 'behind', behindBytes }];
  }

  #caughtUp(): FollowItem[] {
    const wasReported = this.#isReported;
    this.#dueMs = undefined;
    this.#isReported = false;
    return wasReported ? [{ type: 'behind', behindBytes: 0 }] : [];
  }
}

async function bytesBehind(reader: TailReader): Promise<number> {
  const { tail, delivered, isInHistory, heldBytes } = reader;
  if (!isInHistory) return heldBytes + (await tail.unreadBytes());
  return delivered.last ? bytesAfter(delivered.last, tail) : 0;
}

/** Bytes of the log after a position, as the files are on disk; a compressed file that is being read does not count. */
async function bytesAfter({ mark, end }: DeliveredEnd, { deps, target, family }: LogTail): Promise<number> {
  const members = await listMembers(family, deps);
  const files = target.family === undefined ? members.filter(({ name }) => name === target.name) : members;
  // Most likely it still has its name. If no file is the marked one, it was deleted, and all others are newer.
  const named = files.findIndex(({ name }) => name === mark.file);
  const others = Array.from(files.keys()).reverse();
  let at = -1;
  for (const index of [named, ...others]) {
    const file = files[index];
    if (!file || !(await isMember(file, mark, deps))) continue;
    at = index;
    break;
  }
  const current = files[at];
  const rest = current && !isPackedName(current.name) ? Math.max(0, Number(current.size) - end) : 0;
  return files.slice(at + 1).reduce((bytes, { size }) => bytes + Number(size), rest);
}

async function isMember({ name }: SeenMember, mark: DeliveredEnd['mark'], deps: LogTail['deps']): Promise<boolean> {
  const handle = await deps.handles.acquire(name).catch(undefinedIfUnreadable);
  try {
    const start = handle && (await readFileStart(handle, deps).catch(undefinedIfUnreadable));
    return start !== undefined && isMarked(mark, start.head);
  } finally {
    handle?.release();
  }
}
