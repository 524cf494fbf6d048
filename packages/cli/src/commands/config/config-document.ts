import { readFile } from 'node:fs/promises';
import { reportText } from '@porthole/contract';
import { type FlatSetting, flattenToml, redactToml, TomlError } from '@porthole/server/config';
import { interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { visibleText } from '../../output/visible-text.ts';
import { isUrl } from '../../sources/endpoint.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster } from '../../sources/query-cluster.ts';

/** A configuration with all secrets masked. */
export interface ConfigDocument {
  /** As given on the command line. */
  name: string;
  text: string;
  settings: FlatSetting[];
  /** Set when it comes from a snapshot: why the node did not respond, and as of when it is. */
  staleness?: string;
}

/** `NODE:` names a member of the cluster. Neither paths nor keys end with a colon. */
export function isMemberRef(word: string): boolean {
  return /^[^"/\\]+:$/.test(word);
}

/** The configuration of a node or a local file; by default, of the node at `--url`. */
export async function readConfig(invocation: Invocation, where?: string): Promise<ConfigDocument> {
  if (where !== undefined && !isUrl(where) && !isMemberRef(where)) return mask(where, await readToml(where));
  if (where !== undefined && isMemberRef(where)) return readMember(invocation, where);
  const node = await openNode(invocation, where);
  const { config } = await node.config({ signal: interruptSignal() });
  // Porthole nodes mask their secrets; other nodes that implement the contract do not.
  return mask(where ?? 'the node', config);
}

/** For a member that is gone or does not respond, the configuration from its snapshot. */
async function readMember(invocation: Invocation, where: string): Promise<ConfigDocument> {
  const id = where.slice(0, -1);
  const node = await openNode(invocation);
  const { configs } = await queryCluster(node, (cluster) =>
    cluster.config({ nodes: [id] }, { signal: interruptSignal() }),
  );
  const found = configs.find((each) => each.id === id);
  if (!found?.config) {
    const why = found ? reportText(found.report) : `the cluster has no node ${JSON.stringify(id)}`;
    throw new ProgramError(visibleText(why));
  }
  const { config, report } = found;
  const document = mask(where, config.config);
  if (report.asOfMs === null) return document;
  return { ...document, staleness: reportText(report) };
}

async function readToml(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof TypeError) throw new ProgramError(`${path} is not UTF-8 text`, { cause: error });
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAbsent) throw error;
    throw new ProgramError(
      `no such file ${path}; name a node by its URL (http://127.0.0.1:7300) or a node of the cluster with a colon (broker-1:)`,
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
    throw new ProgramError(`cannot show the configuration of ${name}: ${error.message}`, { cause: error });
  }
}
