import { readFile } from 'node:fs/promises';
import type { NodeClient } from '@porthole/client';
import { errorMessage } from '@porthole/contract';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { httpFetch } from './http-fetch.ts';

/** Address of a node with default settings. */
const DEFAULT_URL = 'http://127.0.0.1:7300';

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** A client for this address, or for `--url`, `PORTHOLE_URL` or the local node. */
export async function openNode(invocation: Invocation, address?: string): Promise<NodeClient> {
  const { PORTHOLE_URL } = invocation.env;
  const url = address ?? invocation.text('url') ?? (PORTHOLE_URL || DEFAULT_URL);
  const { createClient } = await import('@porthole/client');
  const token = await readToken(invocation);
  try {
    return createClient({
      url: isUrl(url) ? url : `http://${url}`,
      fetch: httpFetch,
      ...(token !== undefined && { token }),
    });
  } catch (error) {
    throw new ProgramError(`invalid node address ${JSON.stringify(url)}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Never from an argument: every user of the machine can read those. */
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
  throw new ProgramError(`invalid --token-file ${path}: expected one token and nothing else`);
}
