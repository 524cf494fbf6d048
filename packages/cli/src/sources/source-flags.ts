import { type MemberSelection, PortholeError, parseQuery, selectsMembers } from '@porthole/contract';
import type { LogDirOptions, UserFormat, Zone } from '@porthole/logs';
import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { errorAt } from '../output/visible-text.ts';

/** Defaults of `log.recursive-depth` and `log.recursive-files` on a node. Links may not lead out of the directory. */
const TREE = { depth: 4, maxEntries: 10_000, roots: [] };

/** How a local directory is read. */
export async function localOptions(invocation: Invocation, zone: Zone): Promise<LogDirOptions> {
  const tree = invocation.isOn('recursive') ? TREE : undefined;
  return { zone, tree, formats: await localFormats(invocation) };
}

/** The log formats from the settings, for local files. A node uses its own. */
export async function localFormats(invocation: Invocation): Promise<UserFormat[]> {
  const { env } = invocation;
  const file = invocation.text('config') ?? (env.PORTHOLE_CONFIG || undefined);
  if (file === undefined && !env.PORTHOLE_LOG_FORMATS) return [];
  // Loaded on demand: few have formats of their own, and parsing TOML takes longer than most queries.
  const { loadLogFormats, SettingsError } = await import('@porthole/server/log-formats');
  try {
    return await loadLogFormats({ file, env });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new ProgramError(error.message);
  }
}

/** The members that `--all`, `--role` and `--label` select; the node checks the values. */
export function memberSelection(invocation: Invocation): Pick<MemberSelection, 'nodes' | 'role' | 'labels'> {
  const role = invocation.text('role');
  const labels = invocation.texts('label');
  const isSome = role !== undefined || labels.length > 0;
  return {
    ...(invocation.isOn('all') && !isSome && { nodes: ['*'] }),
    ...(role !== undefined && { role }),
    ...(labels.length > 0 && { labels }),
  };
}

/** The same with the nodes that arguments name; all, if nothing selects any. */
export function namedMembers(invocation: Invocation, nodes: readonly string[]): Omit<MemberSelection, 'store'> {
  const selected = { ...memberSelection(invocation), ...(nodes.length > 0 && { nodes: [...nodes] }) };
  return selectsMembers(selected) ? selected : { nodes: ['*'] };
}

/** Where records are read. */
export function storeFlag(invocation: Invocation): Pick<MemberSelection, 'store'> {
  const store = invocation.text('store');
  return store === 'nodes' || store === 'archive' || store === 'auto' ? { store } : {};
}

/** Throws if `--query` is invalid, with the character that is wrong. To be called before anything is contacted. */
export function checkQuery(invocation: Invocation): void {
  const text = invocation.text('query');
  if (text === undefined) return;
  try {
    parseQuery(text);
  } catch (error) {
    if (!(error instanceof PortholeError) || error.position === undefined) throw error;
    throw errorAt(error.message, text, error.position);
  }
}
