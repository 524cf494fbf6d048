import type { NodeClient } from '@porthole/client';
import { queryContext } from '@porthole/contract';
import type { DynamicCompletion } from '../command-definition.ts';
import type { Invocation } from '../invocation.ts';
import { isUrl } from '../sources/endpoint.ts';
import { openNode } from '../sources/open-node.ts';
import type { SplitLine } from './split-line.ts';

/** What may be given, regardless of what has been typed of it; `last` may help to ask for less. */
type Candidates = (invocation: Invocation, line: SplitLine) => Promise<string[]>;

export const CANDIDATES: Readonly<Record<DynamicCompletion, Candidates>> = {
  context: async ({ env, terminal }) => {
    const { readContexts } = await import('../contexts/context-file.ts');
    return Object.keys((await readContexts(env, terminal)).contexts);
  },
  node: listNodes,
  log: listLogs,
  source: listLogs,
  key: listKeys,
  field: (invocation, { last }) => listFields(invocation, last),
  query: listQueries,
};

/** What a node needs to scan for a completion; someone waits. */
const BUDGET_MS = 800;
const MAX_FIELDS = 1000;
const MAX_VALUES = 50;

/** Whoever presses the key again tries again. */
function openOnce(invocation: Invocation, address?: string): Promise<NodeClient> {
  return openNode(invocation, address, { retries: 0 });
}

async function listNodes(invocation: Invocation): Promise<string[]> {
  const { nodes } = await (await openOnce(invocation)).cluster.nodes();
  return nodes.map(({ id }) => id);
}

/** Logs of the node and the nodes of its cluster; after a node and a colon, its logs. */
async function listLogs(invocation: Invocation, { last }: SplitLine): Promise<string[]> {
  // A path.
  if (/^[./~]/.test(last)) return [];
  const client = await openOnce(invocation);
  const [node = '', ...rest] = last.split(':');
  if (rest.length > 0) {
    const { files } = await client.cluster.logFiles({ nodes: [node] });
    return files.map((file) => `${file.node}:${file.name}`);
  }
  const [logs, nodes] = await Promise.allSettled([client.listLogs(), listNodes(invocation)]);
  return [
    ...(logs.status === 'fulfilled' ? logs.value.map(({ name }) => name) : []),
    ...(nodes.status === 'fulfilled' ? nodes.value.map((id) => `${id}:`) : []),
  ];
}

/** Keys and tables of the configuration that the line names, or of the node. */
async function listKeys(invocation: Invocation, { words }: SplitLine): Promise<string[]> {
  const { isMemberRef, readConfig } = await import('../commands/config/config-document.ts');
  const { settingNames } = await import('../commands/config/select-settings.ts');
  const where = words.find((word) => isMemberRef(word) || word.endsWith('.toml'));
  if (where !== undefined) return settingNames((await readConfig(invocation, where)).settings);
  const { flattenToml } = await import('@porthole/server/config');
  const address = words.find((word, index) => isUrl(word) && !words[index - 1]?.startsWith('-'));
  const { config } = await (await openOnce(invocation, address)).config();
  return settingNames(flattenToml(config));
}

/** Of a list separated by commas, names for its last part. */
async function listFields(invocation: Invocation, last: string): Promise<string[]> {
  const given = last.slice(0, last.lastIndexOf(',') + 1);
  return (await fieldNames(invocation)).map((name) => `${given}${name}`);
}

async function fieldNames(invocation: Invocation): Promise<string[]> {
  const { fields } = await (await openOnce(invocation)).logFields({ limit: MAX_FIELDS }, { budgetMs: BUDGET_MS });
  return fields.map(({ name }) => name);
}

/** A query whose last term is completed: the name of a field, or a frequent value of it. */
async function listQueries(invocation: Invocation, { last }: SplitLine): Promise<string[]> {
  const term = queryContext(last, last.length);
  const given = last.slice(0, term.start);
  if (term.kind !== 'value') return (await fieldNames(invocation)).map((name) => `${given}${name}`);
  const query = { by: term.field, limit: MAX_VALUES };
  const top = await (await openOnce(invocation)).logTop(query, { budgetMs: BUDGET_MS });
  return top.values.map(({ value }) => `${given}${value}`);
}
