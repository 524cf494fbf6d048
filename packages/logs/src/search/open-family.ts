import { readFd } from '../file/fs-calls.ts';
import { LogError } from '../log-error.ts';
import type { FileProblem, ReadOptions } from '../types.ts';
import type { FileOpener, OpenFile } from './open-file.ts';

/** The files of one log, held open, oldest first. */
export interface OpenFamily {
  name: string;
  files: OpenFile[];
  problems: FileProblem[];
}

/** Compared to tell whether two files that start alike are the same text. */
const COMPARED_BYTES = 1024;

/** Opens all files of a family. One that cannot be opened is told among the problems; one that is gone is left out. */
export async function openFamily(
  opener: FileOpener,
  { name, files: names }: { name: string; files: readonly string[] },
  options: ReadOptions,
): Promise<OpenFamily> {
  const files: OpenFile[] = [];
  const problems: FileProblem[] = [];
  try {
    for (const file of names) {
      options.signal?.throwIfAborted();
      const opened = await opener.open(file, options).catch((error: unknown) => noteProblem(problems, file, error));
      if (opened) files.push(opened);
    }
    const filled = files.filter(({ handle }) => handle.sizeBytes > 0);
    for (const { handle } of files) if (handle.sizeBytes === 0) handle.release();
    return { name, files: await withoutCopies(inTimeOrder(filled)), problems };
  } catch (error) {
    for (const { handle } of files) handle.release();
    throw error;
  }
}

export function releaseFamily({ files }: OpenFamily): void {
  for (const { handle } of files) handle.release();
}

/** Keeps a failure of one file from being one of the whole question. */
export function noteProblem(problems: FileProblem[], file: string, error: unknown): undefined {
  if (!(error instanceof LogError)) throw error;
  if (error.code !== 'LOG_FILE_NOT_FOUND' && !problems.some((problem) => problem.file === file)) {
    problems.push({ file, code: error.code, detail: error.message });
  }
}

/** A question about times cannot be put to a file that has none. */
export function noteUntimed(problems: FileProblem[], file: string): void {
  if (problems.some((problem) => problem.file === file)) return;
  problems.push({
    file,
    code: 'NO_TIMES',
    detail: 'there are no times in this file, so a time range says nothing of it',
  });
}

/** By the first time in each; by their names, which is how they come, where one has none. */
function inTimeOrder(files: OpenFile[]): OpenFile[] {
  if (files.some(({ firstMs }) => firstMs === null)) return files;
  return files.sort((a, b) => (a.firstMs ?? 0) - (b.firstMs ?? 0));
}

/** While a file is compressed or copied away it is there twice: the text is taken once, from the longer one. */
async function withoutCopies(files: OpenFile[]): Promise<OpenFile[]> {
  const kept: OpenFile[] = [];
  for (const file of files) {
    const twin = kept.findIndex((other) => other.mark.headHash === file.mark.headHash);
    const other = kept[twin];
    if (!other || !(await isSameText(other, file))) {
      kept.push(file);
      continue;
    }
    const [better, worse] = preferred(other, file);
    worse.handle.release();
    kept[twin] = better;
  }
  return kept;
}

async function isSameText(a: OpenFile, b: OpenFile): Promise<boolean> {
  if (a.handle.ino === b.handle.ino) return true;
  if (a.compressed && b.compressed) return false;
  if (a.compressed) return isPacked(b, a);
  if (b.compressed) return isPacked(a, b);
  const shorter = Math.min(a.handle.sizeBytes, b.handle.sizeBytes);
  const length = Math.min(COMPARED_BYTES, shorter);
  const [first, second] = await Promise.all([a, b].map(({ handle }) => readPart(handle.fd, shorter - length, length)));
  return first !== undefined && second !== undefined && first.equals(second);
}

/**
 * Whether a compressed file holds a text that starts as it does. Logs of one program may start alike for long, so it
 * must bear the text's name, as it does while it is written, or tell the same length, as it does when it is done.
 */
async function isPacked(plain: OpenFile, packed: OpenFile): Promise<boolean> {
  if (packed.name.slice(0, -'.gz'.length) === plain.name) return true;
  const { fd, sizeBytes } = packed.handle;
  const trailer = await readPart(fd, Math.max(0, sizeBytes - 4), 4);
  return trailer.length === 4 && trailer.readUInt32LE() === plain.handle.sizeBytes % 2 ** 32;
}

async function readPart(fd: number, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, await readFd(fd, buffer, { position, length }));
}

function preferred(a: OpenFile, b: OpenFile): [OpenFile, OpenFile] {
  if (a.compressed !== b.compressed) return a.compressed ? [b, a] : [a, b];
  return a.handle.sizeBytes >= b.handle.sizeBytes ? [a, b] : [b, a];
}
