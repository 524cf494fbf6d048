import type { Invocation } from '../invocation.ts';
import type { Context } from './context-file.ts';

/** Address of a node with default settings. */
export const DEFAULT_URL = 'http://127.0.0.1:7300';

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** Whether the command line names a node, so that plain words are names of its logs. */
export function namesNode(invocation: Invocation): boolean {
  return (invocation.text('url') ?? invocation.text('use-context')) !== undefined;
}

/**
 * The node a command concerns: this address, `--url`, `-c`, `PORTHOLE_URL`, `PORTHOLE_CONTEXT`, the context in use, or the
 * local one; the first that is given. Flags win over the files of a context.
 */
export async function findEndpoint(invocation: Invocation, address?: string): Promise<Context> {
  const given = address ?? invocation.text('url');
  const context = await findNamedContext(invocation, given !== undefined);
  const url = withScheme(given ?? context?.url ?? (invocation.env.PORTHOLE_URL || DEFAULT_URL));
  // What a context holds is sent to its own address only.
  const files = context !== undefined && isSameOrigin(url, withScheme(context.url)) ? context : {};
  return { ...files, ...filesFromFlags(invocation), url };
}

async function findNamedContext(invocation: Invocation, hasAddress: boolean): Promise<Context | undefined> {
  const { env, terminal } = invocation;
  const named = invocation.text('use-context');
  if (named === undefined && (hasAddress || env.PORTHOLE_URL)) return undefined;
  const { findContext, readContexts } = await import('./context-file.ts');
  const contexts = await readContexts(env, terminal);
  const name = named ?? (env.PORTHOLE_CONTEXT || contexts.current);
  return name === null ? undefined : findContext(contexts, name);
}

/** The files that flags name, each path as `toPath` returns it. */
export function filesFromFlags(invocation: Invocation, toPath = (path: string) => path): Partial<Omit<Context, 'url'>> {
  const given = FILE_FLAGS.flatMap(([field, flag]) => {
    const path = invocation.text(flag);
    return path === undefined ? [] : [[field, toPath(path)] as const];
  });
  return Object.fromEntries(given);
}

/** The files of a context, and the flags that name them. */
export const FILE_FLAGS = [
  ['tokenFile', 'token-file'],
  ['caFile', 'ca-file'],
  ['certFile', 'cert-file'],
  ['keyFile', 'key-file'],
] as const satisfies readonly [keyof Context, string][];

function withScheme(url: string): string {
  return isUrl(url) ? url : `http://${url}`;
}

function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
