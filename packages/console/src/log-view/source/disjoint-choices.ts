import type { ClusterLogFiles, ClusterState } from '@porthole/client';
import { isPattern, matchesPattern } from '@porthole/contract';
import type { SourceChoice } from '../../state/view.ts';

type Choices = readonly SourceChoice[];
type LogFile = Pick<ClusterLogFiles['files'][number], 'node' | 'name' | 'family'>;

/** Whether two of the choices may stand for the same records. */
export function mayOverlap(choices: Choices): boolean {
  return choices.some((a, index) =>
    choices.slice(index + 1).some((b) => mayBeSameNode(a.node, b.node) && mayShareRecords(a.log, b.log)),
  );
}

/** The same logs, each once: records of two choices would be shown, and counted, twice. Asks which logs there are. */
export async function fetchDisjointChoices(
  choices: Choices,
  cluster: Pick<ClusterState, 'logFiles'>,
  options: { signal?: AbortSignal },
): Promise<SourceChoice[]> {
  const { files, members } = await cluster.logFiles({}, options);
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
  // Whoever is asked says that there is no such node.
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

/** The same log of several nodes is one question, and the node that is asked counts each member once. */
function mayShareRecords(a: SourceChoice['log'], b: SourceChoice['log']): boolean {
  if (a === null || b === null) return a !== b;
  return a.kind !== b.kind;
}
