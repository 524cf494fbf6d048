import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from '@porthole/client';
import { formatBytes } from '@porthole/contract';
import type { OpenLog } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { Progress, progressBar } from '../../output/progress.ts';
import { statIfExists } from '../../sources/find-path.ts';
import type { FileHolder } from '../../sources/log-source.ts';
import { openNode } from '../../sources/open-node.ts';
import { onlyMember, resolveNodeRef } from '../../sources/query-cluster.ts';

/** Downloads files byte for byte. A file is written completely or not at all. */
export async function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const node = await openNode(invocation);
  const target = invocation.text('to') ?? '.';
  const isDirectory = (await statIfExists(target))?.isDirectory() ?? false;
  if (invocation.args.length > 1 && target !== '-' && !isDirectory)
    throw new ProgramError(`invalid --to ${JSON.stringify(target)}: several files need an existing directory`);
  try {
    for (const source of invocation.args) {
      const { holder, file } = await findFile(node, source);
      const path = target === '-' ? undefined : isDirectory ? join(target, safeName(file)) : target;
      await fetchFile(invocation, { holder, file, path, signal });
    }
    return EXIT.ok;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** The node itself has the file, or with `NODE:FILE` that member of its cluster. */
async function findFile(node: Client, word: string): Promise<{ holder: FileHolder; file: string }> {
  const found = word.includes(':') ? await resolveNodeRef(node, word) : undefined;
  if (!found) return { holder: node, file: word };
  if (found.file === undefined) throw new ProgramError(`${word} names no file; "porthole logs ls ${word}" lists them`);
  return { holder: node.node(onlyMember(found)), file: found.file };
}

interface FetchOptions {
  holder: FileHolder;
  file: string;
  /** `undefined` is stdout. */
  path: string | undefined;
  signal: AbortSignal;
}

async function fetchFile(invocation: Invocation, { holder, file, path, signal }: FetchOptions): Promise<void> {
  if (path !== undefined && !invocation.isOn('force') && (await statIfExists(path)))
    throw new ProgramError(
      `${path} already exists, not overwritten; use --force to overwrite it or --to for another path`,
    );
  const log = await holder.openLog({ file }, { signal });
  let done = 0;
  const progress = new Progress(invocation.terminal, () => `${file} ${progressBar(done, log.sizeBytes, formatBytes)}`);
  const count = (bytes: number) => {
    done += bytes;
  };
  try {
    const chunks = counted(log, signal, count);
    if (path === undefined) for await (const chunk of chunks) await invocation.terminal.write(chunk);
    else await save(chunks, path);
  } finally {
    progress.end();
    await log.close();
  }
  if (path !== undefined) invocation.terminal.note(`${path}: ${formatBytes(log.sizeBytes)}`);
}

async function* counted(log: OpenLog, signal: AbortSignal, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  if (log.sizeBytes === 0) return;
  for await (const chunk of log.read(0, log.sizeBytes, { signal })) {
    yield chunk;
    count(chunk.length);
  }
}

/** Writes to a .part file first: an interrupted download must not look like the complete file. */
async function save(chunks: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const part = `${path}.part`;
  try {
    await pipeline(chunks, createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** A log in a directory below is saved by its path: `nginx_access.log`. */
function safeName(file: string): string {
  const parts = file.split('/');
  const isUnsafe = parts.some((part) => part === '' || part === '.' || part === '..' || part !== basename(part));
  if (isUnsafe) throw new ProgramError(`invalid file name ${JSON.stringify(file)}`);
  return parts.join('_');
}
