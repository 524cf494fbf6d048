import type { MemberSelection } from '@porthole/client';
import { formatLogSource, parseLogSource } from '@porthole/contract';
import type { SourceChoice } from './view.ts';

/* What is chosen, in addresses of the page: `NODE` for all logs of a node, `NODE/FAMILY` and `NODE/=FILE` as in requests. */

export function parseChoice(text: string): SourceChoice | undefined {
  const { node, kind, name } = parseLogSource(text);
  if (!text.includes('/')) return text === '' || text.startsWith('=') ? undefined : { node: text, log: null };
  if (node === '') return undefined;
  return { node, log: name === '' ? null : { kind, name } };
}

export function formatChoice({ node, log }: SourceChoice): string {
  return log === null ? node : formatLogSource({ node, ...log });
}

interface LogChoices {
  /** Empty: all logs of all nodes. */
  sources: readonly SourceChoice[];
  /** Only nodes with these labels, as far as `canHaveLabels`. */
  labels: readonly string[];
}

/** What requests select for it. */
export function toSelection({ sources, labels }: LogChoices): MemberSelection {
  const labelled = labels.length === 0 ? {} : { labels };
  if (sources.length === 0) return { nodes: ['*'], ...labelled };
  const shared = sharedLogs(sources);
  if (shared === null) return { src: sources.map(sourceText) };
  const nodes = [...new Set(sources.map(({ node }) => node))];
  return { nodes, ...labelled, ...(shared.length > 0 && { src: shared }) };
}

/** A source with a node adds that node, whatever its labels are: they count where the same logs of all nodes are chosen. */
export function canHaveLabels(sources: readonly SourceChoice[]): boolean {
  return sources.length === 0 || sharedLogs(sources) !== null;
}

/** The logs that are chosen of every node, without nodes; empty: all. `null`: of nodes, different logs are chosen. */
function sharedLogs(sources: readonly SourceChoice[]): string[] | null {
  const byNode = new Map<string, Set<string>>();
  for (const { node, log } of sources) {
    const logs = byNode.get(node) ?? new Set();
    byNode.set(node, logs.add(log === null ? '' : formatLogSource({ node: '', ...log })));
  }
  const [logs = new Set<string>(), ...others] = [...byNode.values()].map((own) =>
    own.has('') ? new Set<string>() : own,
  );
  const isShared = others.every((other) => other.size === logs.size && [...other].every((log) => logs.has(log)));
  return isShared ? [...logs] : null;
}

/** A node without a log would be a log of that name. */
function sourceText({ node, log }: SourceChoice): string {
  return formatLogSource({ node, ...(log ?? { kind: 'family', name: '*' }) });
}
