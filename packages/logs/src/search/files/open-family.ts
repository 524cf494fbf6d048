import { LogError } from '../../log-error.ts';
import type { DuplicateFile, FileProblem, ReadOptions } from '../../types.ts';
import type { FileOpener, OpenFile } from './open-file.ts';
import type { CopyFinder } from './same-text.ts';

/** The files of one log, held open, oldest first. */
export interface OpenFamily {
  name: string;
  files: OpenFile[];
  problems: FileProblem[];
  /** Files left out because another one contains all of their text. */
  duplicates: DuplicateFile[];
  /** What is no longer on disk, of this log or of others that have none. */
  deleted?: readonly DeletedRecords[];
}

/** Records of a log that were on disk in the past. */
export interface DeletedRecords {
  problem: FileProblem;
  /** They are older than this. */
  toMs: number;
}

/** Problems of files, and of those that were deleted, unless a search has not come that far. */
export function listProblems(families: readonly OpenFamily[], { isNewestPage = false } = {}): FileProblem[] {
  return families.flatMap(({ problems, deleted = [] }) =>
    isNewestPage ? problems : [...problems, ...deleted.map(({ problem }) => problem)],
  );
}

/**
 * Opens all files of a family. One that cannot be opened is listed among the problems; one that no longer exists is
 * left out.
 */
export async function openFamily(
  opener: FileOpener,
  { name, files: names }: { name: string; files: readonly string[] },
  options: ReadOptions,
): Promise<OpenFamily> {
  const files: OpenFile[] = [];
  const problems: FileProblem[] = [];
  try {
    // The newest first: once the live file is seen truncated, the copy of its text is complete.
    for (const file of names.toReversed()) {
      options.signal?.throwIfAborted();
      const opened = await opener.open(file, options).catch((error: unknown) => noteProblem(problems, file, error));
      if (opened) files.unshift(opened);
    }
    const isFilled = ({ handle, compressed, textStart }: OpenFile) => handle.sizeBytes > (compressed ? 0 : textStart);
    const filled = files.filter(isFilled);
    for (const file of files) if (file.textStart > 0) noteHole(problems, file.name, 0);
    for (const file of files) if (!isFilled(file)) file.handle.release();
    return { name, problems, ...(await withoutCopies(inTimeOrder(filled), opener, options)) };
  } catch (error) {
    for (const { handle } of files) handle.release();
    throw error;
  }
}

/** As in the closing record: only if there are any. */
export function listDuplicates(families: readonly OpenFamily[]): { duplicates?: DuplicateFile[] } {
  const duplicates = families.flatMap((family) => family.duplicates);
  return duplicates.length === 0 ? {} : { duplicates };
}

export function releaseFamily({ files }: OpenFamily): void {
  for (const { handle } of files) handle.release();
}

/** Records the failure of one file, so that it does not fail the whole query. */
export function noteProblem(problems: FileProblem[], file: string, error: unknown): undefined {
  if (!(error instanceof LogError)) throw error;
  if (error.code !== 'LOG_FILE_NOT_FOUND') addProblem(problems, { file, code: error.code, detail: error.message });
}

/** Once for each file: several scans of it may meet the same. */
function addProblem(problems: FileProblem[], added: FileProblem): void {
  if (!problems.some(({ file, code }) => file === added.file && code === added.code)) problems.push(added);
}

/** A query by time cannot be applied to a file without timestamps. */
export function noteUntimed(problems: FileProblem[], file: string): void {
  addProblem(problems, {
    file,
    code: 'NO_TIMES',
    detail: 'the file has no timestamps, so a time range cannot be applied to it',
  });
}

/** Detected only while it was scanned: what had been skipped by then may contain matches. */
export function noteOutOfOrder(problems: FileProblem[], file: string): void {
  addProblem(problems, {
    file,
    code: 'OUT_OF_ORDER',
    detail:
      'records are more than a minute out of order, and parts of the file were not read: search again to read all of it',
  });
}

/** A run of NULs in the file, which is part of no record. */
export function noteHole(problems: FileProblem[], file: string, offset: number): void {
  addProblem(problems, {
    file,
    code: 'NUL_BYTES',
    detail: `NUL bytes at offset ${offset} were skipped: a crash, or a truncation while it was written, left a hole`,
  });
}

/** The code of a file that is only included when selected by name. Not a failure. */
const LEFT_OUT = 'LEFT_OUT';

/** By the first time in each; by name, the given order, if one has none. */
function inTimeOrder(files: OpenFile[]): OpenFile[] {
  if (files.some(({ firstMs }) => firstMs === null)) return files;
  return files.sort((a, b) => (a.firstMs ?? 0) - (b.firstMs ?? 0));
}

/** While a file is being compressed or copied it exists twice: the text is read once, from the longer one. */
async function withoutCopies(
  files: OpenFile[],
  { copies }: FileOpener,
  options: ReadOptions,
): Promise<Pick<OpenFamily, 'files' | 'duplicates'>> {
  const distinct: OpenFile[] = [];
  const duplicates: DuplicateFile[] = [];
  for (const file of files) {
    const pair = await findCopy(distinct, file, { copies, options });
    if (!pair) {
      distinct.push(file);
      continue;
    }
    const { other, longer } = pair;
    const shorter = longer === file ? other : file;
    distinct[distinct.indexOf(other)] = longer;
    shorter.handle.release();
    // Two names of one file, as with a link, are not reported.
    if (shorter.handle.ino !== longer.handle.ino) duplicates.push({ file: shorter.name, sameAs: longer.name });
  }
  return { files: distinct, duplicates };
}

async function findCopy(
  distinct: readonly OpenFile[],
  file: OpenFile,
  { copies, options }: { copies: CopyFinder; options: ReadOptions },
): Promise<{ other: OpenFile; longer: OpenFile } | undefined> {
  for (const other of distinct) {
    const longer = await copies.findLonger(other, file, options);
    if (longer) return { other, longer };
  }
  return undefined;
}

/**
 * The family as included in a query over all logs. Those are merged by time: the records of a log without timestamps
 * would all come before or after the others. Its files are released, and listed among the problems. A family of which
 * nothing can be read stays: damage must not look like a choice.
 */
export function leaveOutUntimed(family: OpenFamily): OpenFamily {
  const { files, problems } = family;
  if (files.some(({ timed, firstMs }) => timed || firstMs !== null)) return family;
  const isDamaged = ({ compressed, head }: OpenFile) => compressed && head.length === 0;
  const damaged = files.filter(isDamaged);
  const untimed = files.filter((file) => !isDamaged(file));
  const leftOut = untimed.map(({ name, head }): FileProblem => {
    // The head of a file is what follows a hole of NULs: empty if there is nothing else.
    const reason = head.length === 0 || head.includes(0) ? 'binary' : 'no timestamps';
    return { file: name, code: LEFT_OUT, detail: `${reason}: not included in queries of all logs; select it by name` };
  });
  releaseFamily({ ...family, files: untimed });
  return { ...family, files: damaged, problems: [...problems, ...leftOut] };
}
