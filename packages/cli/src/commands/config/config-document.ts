import { readFile } from 'node:fs/promises';
import type { NodeState } from '@porthole/contract';
import { type FlatSetting, flattenToml, redactToml, TomlError } from '@porthole/server/config';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import { ProgramError } from '../../program-error.ts';
import { askCluster } from '../../where/open-cluster.ts';
import { isUrl, openNode } from '../../where/open-node.ts';

/** A configuration that can be shown: every secret in it is masked. */
export interface ConfigDocument {
  /** As it was asked for. */
  name: string;
  text: string;
  settings: FlatSetting[];
}

/** `NODE:` is a member of the cluster that the node of `--url` knows. Neither a path nor a key ends with a colon. */
export function isMember(word: string): boolean {
  return /^[^"/\\]+:$/.test(word);
}

/** The configuration of a node or of a file here; without a place, of the node that `--url` names. */
export async function readConfig(invocation: Invocation, where?: string): Promise<ConfigDocument> {
  if (where !== undefined && !isUrl(where) && !isMember(where)) return mask(where, await readToml(where));
  const node = await findNode(invocation, where);
  const { config } = await node.config({ signal: interruptSignal() });
  // A Porthole node has masked it already, which is then left as it is. Other nodes of the contract tell their secrets.
  return mask(where ?? 'the node', config);
}

async function findNode(invocation: Invocation, where: string | undefined): Promise<Pick<NodeState, 'config'>> {
  if (where === undefined || !isMember(where)) return openNode(invocation, where);
  const asked = await openNode(invocation);
  return { config: (options) => askCluster(asked, (cluster) => cluster.member(where.slice(0, -1)).config(options)) };
}

async function readToml(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof TypeError) throw new ProgramError(`${path} is not UTF-8 text`, { cause: error });
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAbsent) throw error;
    throw new ProgramError(
      `there is no file ${path}; a node is named by its URL, like http://127.0.0.1:7300, or one of its cluster like broker-1:`,
      {
        cause: error,
      },
    );
  }
}

function mask(name: string, raw: string): ConfigDocument {
  try {
    const text = redactToml(raw);
    return { name, text, settings: flattenToml(text) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ProgramError(`the configuration of ${name} cannot be shown: ${error.message}`, { cause: error });
  }
}
