import { HEAD_BYTES, type RecordMark } from '../cursor/cursor.ts';
import { isMarked } from '../cursor/file-mark.ts';
import { LogError } from '../log-error.ts';
import type { OpenFamily } from './files/open-family.ts';
import type { OpenFile } from './files/open-file.ts';
import type { PositionFinder, RecordPosition } from './position.ts';

/**
 * The current position of the marked record: the file is identified by the start of its text, whatever its name has
 * become, and the record by its own first bytes. `undefined` if none of the files contains it.
 */
export async function findRecord(
  finder: PositionFinder,
  family: OpenFamily,
  mark: RecordMark,
): Promise<RecordPosition | undefined> {
  const numbers = family.files.map((_, index) => index);
  // The name it had is the likeliest.
  numbers.sort((a, b) => Number(family.files[b]?.name === mark.file) - Number(family.files[a]?.name === mark.file));
  for (const file of numbers) {
    const candidate = family.files[file];
    if (candidate && (await holds(finder, candidate, mark, family))) return { file, offset: mark.offset };
  }
  return undefined;
}

/**
 * The end of the text in which the marked record was beyond all that is left: it was written between the copying and
 * the truncation of its file. What is left precedes it.
 */
export async function findShortened(
  { scanContext, flag }: PositionFinder,
  family: OpenFamily,
  mark: RecordMark,
): Promise<RecordPosition | undefined> {
  for (const [file, candidate] of family.files.entries()) {
    if (mark.headBytes === 0 || !isSameHead(candidate, mark)) continue;
    const { textBytes } = await scanContext.prepare(candidate, flag, family.problems);
    if (mark.offset + mark.checkBytes > textBytes) return { file, offset: textBytes };
  }
  return undefined;
}

async function holds(
  { scanContext, flag }: PositionFinder,
  file: OpenFile,
  mark: RecordMark,
  family: OpenFamily,
): Promise<boolean> {
  if (!isSameHead(file, mark)) return false;
  const scanFile = await scanContext.prepare(file, flag, family.problems);
  if (mark.offset + mark.checkBytes > scanFile.textBytes) return false;
  if (mark.checkBytes === 0) return true;
  const { offset, checkBytes: bytes, check } = mark;
  return (await scanContext.pool.run({ kind: 'check', file: scanFile, offset, bytes }, flag)) === check;
}

/** A mark made when the file was shorter than the usual head is compared with that length. */
function isSameHead({ mark, head }: OpenFile, wanted: RecordMark): boolean {
  return wanted.headBytes === HEAD_BYTES || wanted.headBytes === mark.headBytes
    ? wanted.headHash === mark.headHash
    : isMarked(wanted, head);
}

export function recordGone(): LogError {
  return new LogError('CURSOR_GONE', 'the record of this cursor no longer exists: its file was removed or rewritten');
}
