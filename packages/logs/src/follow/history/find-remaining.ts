import { encodeMark, positionAnchor } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import { undefinedIfUnreadable } from '../../log-error.ts';
import type { StartPoint } from '../../types.ts';
import { listMembers, readFileStart } from '../tail/family-files.ts';
import type { LogTail } from '../tail/log-tail.ts';

interface NamedStart {
  name: string;
  head: Buffer;
  firstTimeMs: number | undefined;
}

/**
 * Where to continue after a record with this time whose file was deleted: at what is left and not older. `undefined` is
 * the start of the log: without a time all of it is taken for newer, because rotation deletes the oldest files first.
 */
export async function findRemaining(timeMs: number | undefined, tail: LogTail): Promise<StartPoint | undefined> {
  if (timeMs === undefined) return undefined;
  const starts = await readStarts(tail);
  const isUntimed = (start: NamedStart | undefined) => start !== undefined && start.firstTimeMs === undefined;
  if (!starts.some(isUntimed)) return { timeMs };
  // A search by time leaves out files without timestamps; what precedes a newer file or comes last is not older.
  const newer = starts.findIndex(({ firstTimeMs }) => firstTimeMs !== undefined && firstTimeMs >= timeMs);
  let first = newer < 0 ? starts.length : newer;
  while (isUntimed(starts[first - 1])) first--;
  const start = starts[first];
  if (!start) return { timeMs };
  const { name: file, head } = start;
  return { record: encodeMark({ ...markFile(head), file, ...positionAnchor(0), delivered: { bytes: 0, timeMs } }) };
}

/** How the files that are not empty begin, oldest first. */
async function readStarts({ deps, target: { name, family } }: LogTail): Promise<NamedStart[]> {
  const members = family === undefined ? [{ name }] : await listMembers(family, deps);
  const starts: NamedStart[] = [];
  for (const { name: file } of members) {
    const handle = await deps.handles.acquire(file).catch(undefinedIfUnreadable);
    try {
      const start = handle && (await readFileStart(handle, deps).catch(undefinedIfUnreadable));
      if (start && start.head.length > 0) starts.push({ name: file, ...start });
    } finally {
      handle?.release();
    }
  }
  return starts;
}
