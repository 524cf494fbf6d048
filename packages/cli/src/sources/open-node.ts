import { readFile } from 'node:fs/promises';
import type { Client, ClientOptions } from '@porthole/client';
import { errorMessage, type ResponseClock } from '@porthole/contract';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import type { Context } from './context-file.ts';
import { findEndpoint } from './endpoint.ts';

/** A client for this address, or for the node that flags, environment and contexts name. */
export async function openNode(
  invocation: Invocation,
  address?: string,
  { clock, ...options }: Pick<ClientOptions, 'retries'> & { clock?: ResponseClock } = {},
): Promise<Client> {
  const endpoint = await findEndpoint(invocation, address);
  const { caFile, certFile, keyFile } = endpoint;
  const token = await findToken(invocation, endpoint);
  const hasTls = (caFile ?? certFile ?? keyFile) !== undefined;
  const tls = hasTls ? await (await import('./tls-files.ts')).readTlsFiles(endpoint) : undefined;
  const [{ createClient }, { createHttpFetch }] = await Promise.all([
    import('@porthole/client'),
    import('./http-fetch.ts'),
  ]);
  const fetch = clock?.watch(createHttpFetch(tls)) ?? createHttpFetch(tls);
  return createNamed(endpoint.url, (url) =>
    createClient({ ...options, url, fetch, ...(token !== undefined && { token }) }),
  );
}

/** The address of a context, as clients accept it. */
export async function checkAddress(address: string): Promise<string> {
  const { createClient } = await import('@porthole/client');
  return createNamed(address, (url) => createClient({ url }).url);
}

function createNamed<T>(url: string, create: (url: string) => T): T {
  try {
    return create(url);
  } catch (error) {
    throw new ProgramError(`invalid node address ${JSON.stringify(withoutCredentials(url))}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//***@');
}

/** The token for an endpoint: that of its file, else of the environment. */
export async function findToken({ env }: Invocation, { tokenFile }: Context): Promise<string | undefined> {
  return tokenFile === undefined ? env.PORTHOLE_TOKEN || undefined : readTokenFile(tokenFile);
}

/** Never from an argument: every user of the machine can read those. */
export async function readTokenFile(path: string): Promise<string> {
  try {
    const token = (await readFile(path, 'utf8')).trim();
    if (/^\S+$/.test(token)) return token;
  } catch (error) {
    throw new ProgramError(`--token-file: ${errorMessage(error)}`, { cause: error });
  }
  throw new ProgramError(`invalid --token-file ${path}: expected one token and nothing else`);
}
