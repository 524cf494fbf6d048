import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { NodeState } from '@porthole/contract';
import { showBytes } from '../output/show-bytes.ts';
import { ProgramError } from '../program-error.ts';

/** Enough for some ten thousand records of each file, and quickly fetched. */
const TAIL_BYTES = 5 * 1024 ** 2;

/** More files than a database node has; each costs a request. */
const MAX_FILES = 100;

export interface CopiedTails {
  dir: string;
  /** What the user should know about it. */
  told: string;
  remove(): Promise<void>;
}

/** Fetches the ends of a node's files, or of one of them, into a directory of its own. */
export async function copyTails(
  node: Pick<NodeState, 'listLogs' | 'viewLog'>,
  file: string | undefined,
): Promise<CopiedTails> {
  const entries = await node.listLogs();
  const wanted = entries
    .filter(({ name }) => isSafe(name) && (file === undefined || name === file))
    .slice(0, MAX_FILES);
  if (file !== undefined && wanted.length === 0) throw new ProgramError(`the node has no log file named "${file}"`);
  const dir = await mkdtemp(join(tmpdir(), 'porthole-tails-'));
  const remove = () => rm(dir, { recursive: true, force: true });
  try {
    for (const { name } of wanted) {
      const answer = await node.viewLog({ file: name, sizeBytes: TAIL_BYTES });
      await pipeline(answer.chunks, createWriteStream(join(dir, name)));
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const told = `this node only answers the basic contract: asking the last ${showBytes(TAIL_BYTES)} of each of ${wanted.length} files`;
  return { dir, told, remove };
}

/** The names come from outside and become names here. */
function isSafe(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}
