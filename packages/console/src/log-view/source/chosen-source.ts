import type { Client, ClusterLogFiles } from '@porthole/client';
import { isPattern, matchesPattern } from '@porthole/contract';
import type { SourceChoice } from '../../state/view.ts';
import { ClusterSource } from './cluster-source.ts';
import type { SourceDeps } from './create-source.ts';
import type { LogSource } from './log-source.ts';

type Choices = readonly SourceChoice[];

type LogFile = Pick<ClusterLogFiles['files'][number], 'node' | 'name' | 'family'>;

/** The source of the chosen logs: loaded when some are chosen. */
export async function openChosen(
  choices: Choices,
  { client, labels, nodes: named }: SourceDeps & Pick<LogSource, 'nodes'>,
): Promise<LogSource> {
  const labelled = labels.length === 0 ? {} : { labels };
  const openSources = (own: Choices) =>
    groupByLog(own).map(({ log, nodes }) => new ClusterSource({ client, members: { nodes, ...labelled }, log }));
  const isDisjoint = !mayOverlap(choices);
  const sources = openSources(choices);
  const [only] = sources;
  if (isDisjoint && only && sources.length === 1) return only;
  const { MergedSource } = await import('./merged-source.ts');
  const open = async (options: { signal?: AbortSignal }) =>
    isDisjoint ? sources : openSources(await fetchDisjointChoices(choices, client, options));
  return new MergedSource({ nodes: named, open, client });
}

interface LogOfNodes {
  log: SourceChoice['log'];
  nodes: string[];
}

/** The same log of several nodes is one request to the cluster. */
function groupByLog(choices: readonly SourceChoice[]): LogOfNodes[] {
  const groups = new Map<string, LogOfNodes>();
  for (const { node, log } of choices) {
    const name = log === null ? '' : `${log.kind} ${log.name}`;
    const group = groups.get(name) ?? { log, nodes: [] };
    if (!group.nodes.includes(node)) group.nodes.push(node);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Whether two of the selections may contain the same records. */
export function mayOverlap(choices: Choices): boolean {
  return choices.some((a, index) =>
    choices.slice(index + 1).some((b) => mayBeSameNode(a.node, b.node) && mayShareRecords(a.log, b.log)),
  );
}

/** The same logs without overlaps, so that no record is shown or counted twice. Requests the list of logs. */
async function fetchDisjointChoices(
  choices: Choices,
  client: Pick<Client, 'logFiles'>,
  options: { signal?: AbortSignal },
): Promise<SourceChoice[]> {
  const { files, members } = await client.logFiles({ nodes: ['*'] }, options);
  return disjointChoices(choices, { ids: members.map(({ id }) => id), files });
}

export function disjointChoices(
  choices: Choices,
  { ids, files }: { ids: readonly string[]; files: readonly LogFile[] },
): SourceChoice[] {
  const ofMembers = ids.flatMap((id) => {
    const own = choices.filter(({ node }) => matchesPattern(id, node));
    if (own.some(({ log }) => log === null)) return [{ node: id, log: null }];
    const families = new Set(own.flatMap(({ log }) => (log?.kind === 'family' ? [log.name] : [])));
    const isCovered = ({ log }: SourceChoice) =>
      log?.kind === 'file' && files.some((file) => isFile(file, id, log.name) && families.has(file.family));
    return own.filter((choice) => !isCovered(choice)).map(({ log }) => ({ node: id, log }));
  });
  // Keep it: the request reports that the node does not exist.
  const unknown = choices.filter(({ node }) => !ids.some((id) => matchesPattern(id, node)));
  const all: SourceChoice[] = [...ofMembers, ...unknown];
  return [...new Map(all.map((choice) => [JSON.stringify(choice), choice])).values()];
}

function isFile(file: LogFile, node: string, name: string): boolean {
  return file.node === node && file.name === name;
}

function mayBeSameNode(a: string, b: string): boolean {
  return isPattern(a) ? isPattern(b) || matchesPattern(b, a) : matchesPattern(a, b);
}

/** The same log of several nodes is one request, and the queried node counts each member once. */
function mayShareRecords(a: SourceChoice['log'], b: SourceChoice['log']): boolean {
  if (a === null || b === null) return a !== b;
  return a.kind !== b.kind;
}
