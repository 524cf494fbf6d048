import { readFile } from 'node:fs/promises';
import type { NodeClient } from '@porthole/client';
import type { Invocation } from '../invocation.ts';
import { ProgramError } from '../program-error.ts';

/** Where a node is that was started without settings. */
const DEFAULT_URL = 'http://127.0.0.1:7300';

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** The node of this address; without one, of `--url`, `PORTHOLE_URL` or the local one. */
export async function openNode(invocation: Invocation, address?: string): Promise<NodeClient> {
  const { PORTHOLE_URL } = invocation.env;
  const url = address ?? invocation.text('url') ?? (PORTHOLE_URL || DEFAULT_URL);
  const { createClient } = await import('@porthole/client');
  const token = await readToken(invocation);
  try {
    return createClient({ url: isUrl(url) ? url : `http://${url}`, ...(token !== undefined && { token }) });
  } catch (error) {
    throw new ProgramError(`${JSON.stringify(url)} is not the address of a node: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Never from an argument: those can be read by everyone on the machine. */
async function readToken(invocation: Invocation): Promise<string | undefined> {
  const path = invocation.text('token-file');
  const { PORTHOLE_TOKEN } = invocation.env;
  if (path === undefined) return PORTHOLE_TOKEN || undefined;
  try {
    const token = (await readFile(path, 'utf8')).trim();
    if (/^\S+$/.test(token)) return token;
  } catch (error) {
    throw new ProgramError(`--token-file: ${errorMessage(error)}`, { cause: error });
  }
  throw new ProgramError(`--token-file: ${path} must hold one token and nothing else`);
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
