import { existsSync } from 'node:fs';
import { PortholeError, reportText } from '@porthole/contract';
import {
  type ConfigView,
  type FlatSetting,
  flattenToml,
  readConfigFiles,
  redactToml,
  splitSource,
  TomlError,
  viewConfig,
} from '@porthole/server/config';
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
  /** Set when it is the last known one: why the node did not respond, and as of when it is. */
  staleness?: string;
}

/** `NODE:` names a member of the cluster. Neither paths nor keys end with a colon. */
export function isMemberRef(word: string): boolean {
  return /^[^"/\\]+:$/.test(word);
}

/** The configuration of a node or a local file; by default, of the node at `--url`. */
export async function readConfig(invocation: Invocation, where?: string): Promise<ConfigDocument> {
  if (where !== undefined && isPath(where)) {
    const { toml, settings, format } = await readFiles(where);
    // A single TOML file is read again for its settings, so that they are those of the masked text.
    return format === 'toml' ? mask(where, toml) : { name: where, text: toml, settings: settings.flat };
  }
  if (where !== undefined && isMemberRef(where)) return readMember(invocation, where);
  const node = await openNode(invocation, where);
  const { config } = await node.config({ signal: interruptSignal() });
  // Porthole nodes mask their secrets; other nodes that implement the contract do not.
  return mask(where ?? 'the node', config);
}

/** For a member that is gone or does not respond, its last known configuration. */
async function readMember(invocation: Invocation, where: string): Promise<ConfigDocument> {
  const id = where.slice(0, -1);
  const node = await openNode(invocation);
  const { configs } = await queryCluster(node, (cluster) =>
    cluster.settings({ nodes: [id] }, { signal: interruptSignal() }),
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

function isPath(where: string): boolean {
  return !isUrl(where) && !isMemberRef(where);
}

/** The text of a configuration as it is written, with its secrets masked. */
export async function readSource(invocation: Invocation, where?: string): Promise<string> {
  if (where !== undefined && isPath(where)) return (await readFiles(where)).source;
  const isMember = where !== undefined && isMemberRef(where);
  const node = await openNode(invocation, isMember ? undefined : where);
  const options = { format: 'source', signal: interruptSignal() } as const;
  const { config } = isMember
    ? await queryCluster(node, (cluster) => cluster.node(where.slice(0, -1)).config(options))
    : await node.config(options);
  // As above: other nodes do not mask their secrets.
  return (await viewConfig(splitSource(config), [])).source;
}

/** A file in any format, with the files it includes. */
async function readFiles(path: string): Promise<ConfigView> {
  if (!existsSync(path)) {
    const others = 'name a node by its URL (http://127.0.0.1:7300) or a node of the cluster with a colon (broker-1:)';
    throw new ProgramError(`no such file ${path}; ${others}`);
  }
  try {
    const limits = { format: undefined, maxBytes: Number.MAX_SAFE_INTEGER };
    const { files } = await readConfigFiles({ configFile: path, configFiles: [], ...limits });
    return await viewConfig(files, []);
  } catch (error) {
    if (!(error instanceof TomlError || error instanceof PortholeError)) throw error;
    throw new ProgramError(`cannot show the configuration of ${path}: ${error.message}`, { cause: error });
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
