import { isLabelPattern, type Labels, matchesLabels } from '@porthole/contract';

/* Nodes by their labels: filters and groups of the pages, as their URLs have them. */

/** The API accepts no more. */
const MAX_FILTERS = 64;

/** More would not help in a list to choose from; any label can be typed. */
const MAX_OFFERED = 200;

interface Labelled {
  id: string;
  labels?: Labels;
  role?: string;
}

/** Nodes with the same value of a label. */
export interface LabelGroup<Node> {
  /** `zone=eu-1`; `null`: without this label. */
  label: string | null;
  nodes: Node[];
}

/** The valid filters among some texts, each once. */
export function parseLabels(texts: readonly string[]): string[] {
  return [...new Set(texts.filter(isLabelPattern))].slice(0, MAX_FILTERS);
}

/** What is wrong with a filter; `null` if nothing is. */
export function labelProblem(text: string): string | null {
  return isLabelPattern(text) ? null : 'expected NAME=VALUE like zone=eu-1; the value may have * and ?';
}

/** Whether a node has the labels, or may have them: nothing is known of one that never responded. */
export function hasLabels({ labels = {}, role }: Labelled, wanted: readonly string[]): boolean {
  return role === 'unknown' || matchesLabels(labels, wanted);
}

/** `rack=7`, `zone=eu-1` */
export function labelTexts({ labels = {} }: Pick<Labelled, 'labels'>): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}

export function labelNames(nodes: readonly Labelled[]): string[] {
  return [...new Set(nodes.flatMap(({ labels = {} }) => Object.keys(labels)))].sort(byText);
}

/** The labels of nodes, sorted: to choose from. */
export function offeredLabels(nodes: readonly Labelled[]): string[] {
  return [...new Set(nodes.flatMap(labelTexts))].sort(byText).slice(0, MAX_OFFERED);
}

/** More nodes are grouped, unless something else was chosen. */
const MANY_NODES = 12;

/** Groups, if `by` is not given, many nodes by role, or by zone if all have one role. `none`: they are not grouped. */
export function groupedBy(nodes: readonly Labelled[], by: string | null): string | null {
  if (by !== null) return by === 'none' ? null : by;
  const differs = (name: string) => new Set(nodes.map((node) => labelOf(node, name))).size > 1;
  return nodes.length <= MANY_NODES ? null : (['role', 'zone'].find(differs) ?? null);
}

/**
 * By the value of a label, or by role, sorted by it: first those that are urgent, last nodes without the label. Without a
 * name, all nodes are one group.
 */
export function groupByLabel<Node extends Labelled>(
  nodes: readonly Node[],
  by: string | null,
  isUrgent: (nodes: readonly Node[]) => boolean = () => false,
): LabelGroup<Node>[] {
  const groups = new Map<string | null, Node[]>();
  for (const node of nodes) {
    const label = by === null ? null : labelOf(node, by);
    const group = groups.get(label);
    if (group) group.push(node);
    else groups.set(label, [node]);
  }
  const rank = ({ label, nodes: own }: LabelGroup<Node>) => (isUrgent(own) ? 0 : label === null ? 2 : 1);
  return [...groups]
    .map(([label, own]) => ({ label, nodes: own }))
    .sort((a, b) => rank(a) - rank(b) || byText(a.label ?? '', b.label ?? ''));
}

/** `zone=eu-1`; `null` if the node has no such label. Its role is like one. */
export function labelOf({ labels = {}, role }: Pick<Labelled, 'labels' | 'role'>, name: string): string | null {
  if (Object.hasOwn(labels, name)) return `${name}=${labels[name]}`;
  return name === 'role' && role !== undefined ? `role=${role}` : null;
}

/** `rack=2` before `rack=10`. */
export function byText(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
