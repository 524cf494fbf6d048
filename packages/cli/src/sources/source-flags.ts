import { type MemberSelection, PortholeError, parseQuery } from '@porthole/contract';
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

/** The members that `--role` and `--label` select; the node checks the values. */
export function memberSelection(invocation: Invocation): Pick<MemberSelection, 'role' | 'labels'> {
  const role = invocation.text('role');
  const labels = invocation.texts('label');
  return { ...(role !== undefined && { role }), ...(labels.length > 0 && { labels }) };
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
