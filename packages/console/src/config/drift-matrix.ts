import type { ClusterConfigDiff, ClusterNode, ConfigDifference, ConfigValue, MemberReport } from '@porthole/client';
import { isDrift } from '@porthole/contract';
import { labelTexts } from '../state/labels.ts';
import { formatCounted } from '../ui/format.ts';
import { defaultLabel, type SettingsByKey, type ShownValue, SOURCE_LABELS, showValue } from './setting-values.ts';

export type RoleDiff = ClusterConfigDiff['roles'][number];

export interface DriftColumn {
  id: string;
  /** Why the values are not current; `null` if they are. */
  report: MemberReport | null;
  /** Nothing is known, not even from before. */
  isSilent: boolean;
}

export interface DriftCell {
  shown: ShownValue;
  isSameMeaning: boolean;
  /** A secret of which the fingerprint is not known. */
  isNotCompared: boolean;
  /** A node with another value, for the side-by-side view. */
  against: string;
}

export interface DriftRow {
  key: string;
  isExpected: boolean;
  /** At least one node has another value than the majority, beyond a different spelling. */
  isDrift: boolean;
  /** `null` if no value has a majority. */
  majority: ShownValue | null;
  /** Cells of the nodes that differ from the majority; of all nodes if there is no majority. */
  cells: ReadonlyMap<string, DriftCell>;
  default: string | null;
  source: string | null;
}

export interface DriftMatrix {
  /** All keys that drift, filtered or not. */
  driftCount: number;
  columns: DriftColumn[];
  /** Nodes that always agree with the majority, folded when there are too many for a column each. */
  foldedNodes: string[];
  rows: DriftRow[];
  expectedRows: DriftRow[];
  /** Secrets that could not be compared, each with the nodes of which the fingerprint is missing. */
  notCompared: { key: string; nodes: readonly string[] }[];
  hasDefaults: boolean;
  hasSources: boolean;
}

export interface DriftOptions {
  /** Only keys that contain this are shown. */
  text: string;
  members: readonly MemberReport[];
  /** Members of the role without known configuration. */
  silentNodes: readonly string[];
  /** Nodes with known settings, most important first. */
  settings: ReadonlyMap<string, SettingsByKey>;
}

/** Up to this many nodes each get a column, whether they differ or not. */
const MAX_COLUMNS = 8;

/** Kinds of keys that are expected to differ, recognised by the end of their name. */
const KINDS: readonly { pattern: RegExp; label: string }[] = [
  { pattern: /port"?$/i, label: 'ports' },
  { pattern: /(?:dir|directory|path|folder|root|mount|file|cert|socket)"?$/i, label: 'directories' },
  { pattern: /(?:id|indicator|ordinal)"?$/i, label: 'ids' },
  {
    pattern: /(?:host|hostname|ip|addr|address|interface|bind|listen|advertise|advertised|url|uri|endpoint)"?$/i,
    label: 'addresses',
  },
  { pattern: /(?:name|alias|label|instance)"?$/i, label: 'names' },
];

/** Drift within one role as a table: a row per key, a column per node, cells only where a node differs. */
export function driftMatrix(diff: RoleDiff, options: DriftOptions): DriftMatrix {
  const all = diff.differences.map((difference) => driftRow(difference, options.settings));
  const text = options.text.toLowerCase();
  const found = all.filter(({ key }) => key.toLowerCase().includes(text));
  const rows = found.filter(({ isExpected }) => !isExpected).sort((a, b) => Number(b.isDrift) - Number(a.isDrift));
  const expectedRows = found.filter(({ isExpected }) => isExpected);
  return {
    driftCount: all.filter(({ isDrift }) => isDrift).length,
    ...driftColumns(diff.nodes, rows, options),
    rows,
    expectedRows,
    notCompared: diff.notCompared
      .filter((key) => key.toLowerCase().includes(text))
      .map((key) => ({ key, nodes: diff.withoutFingerprint?.[key] ?? [] })),
    hasDefaults: all.some((row) => row.default !== null),
    hasSources: all.some((row) => row.source !== null),
  };
}

/** Nodes that differ from the majority, most differences first: their settings are worth fetching. */
export function outlierNodes({ differences }: RoleDiff): string[] {
  const counts = new Map<string, number>();
  for (const { isExpected, values } of differences)
    for (const { nodes, isMajority } of values)
      if (!isExpected && !isMajority) for (const node of nodes) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([node]) => node);
}

/** A pair worth comparing: a node that agrees with the majority, and the first that does not. */
export function firstPair({ rows }: Pick<DriftMatrix, 'rows'>): { left: string; right: string } | null {
  const row = rows.find(({ isDrift }) => isDrift);
  const outlier = row && [...row.cells].find(([, cell]) => !cell.isSameMeaning && !cell.isNotCompared);
  if (!outlier) return null;
  const [node, { against }] = outlier;
  return row.majority ? { left: against, right: node } : { left: node, right: against };
}

function driftRow({ key, isExpected, values }: ConfigDifference, settings: DriftOptions['settings']): DriftRow {
  const majority = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== majority);
  const hasMajority = majority !== undefined && isMost(values);
  const cells = (hasMajority ? others : values).flatMap((value) => {
    const against = value === majority ? others[0]?.nodes[0] : majority?.nodes[0];
    const { isSameMeaning, isNotCompared = false } = value;
    const cell = { shown: showValue(value.value), isSameMeaning, isNotCompared, against: against ?? '' };
    return value.nodes.map((node) => [node, cell] as const);
  });
  return {
    key,
    isExpected,
    isDrift: !isExpected && others.some(({ isSameMeaning }) => !isSameMeaning),
    majority: hasMajority ? showValue(majority.value) : null,
    cells: new Map(cells),
    ...valueOrigin(key, others, settings),
  };
}

/** Whether one value has more nodes than any other. */
function isMost(values: readonly ConfigValue[]): boolean {
  const isFor = ({ isMajority, isSameMeaning }: ConfigValue) => isMajority || isSameMeaning;
  const votes = values.filter(isFor).reduce((sum, { nodes }) => sum + nodes.length, 0);
  return values.every((value) => isFor(value) || value.isNotCompared || value.nodes.length < votes);
}

/** Prefers the settings of a node that differs; otherwise any node's. */
function valueOrigin(
  key: string,
  others: readonly ConfigValue[],
  settings: DriftOptions['settings'],
): Pick<DriftRow, 'default' | 'source'> {
  const nodes = [...others.flatMap((value) => value.nodes), ...settings.keys()];
  const entry = nodes.map((node) => settings.get(node)?.get(key)).find((one) => one !== undefined);
  if (entry === undefined) return { default: null, source: null };
  return { default: entry.default === null ? null : defaultLabel(entry), source: SOURCE_LABELS[entry.source] };
}

function driftColumns(
  nodes: readonly string[],
  rows: readonly DriftRow[],
  { members, silentNodes }: DriftOptions,
): Pick<DriftMatrix, 'columns' | 'foldedNodes'> {
  const reports = new Map(members.map((report) => [report.id, report]));
  const columns = [...nodes, ...silentNodes].sort().map((id): DriftColumn => {
    const report = reports.get(id) ?? null;
    return { id, report: report?.outcome === 'ok' ? null : report, isSilent: silentNodes.includes(id) };
  });
  if (columns.length <= MAX_COLUMNS) return { columns, foldedNodes: [] };
  const isReporting = ({ id }: DriftColumn) => rows.some(({ cells }) => cells.has(id));
  return {
    columns: columns.filter(isReporting),
    foldedNodes: columns.filter((column) => !isReporting(column)).map(({ id }) => id),
  };
}

/** Number of keys that differ in a role: not only in spelling, and not as expected. */
export function countDrift({ differences }: Pick<RoleDiff, 'differences'>): number {
  return differences.filter(isDrift).length;
}

/** The role and the label that a page requests; `null`: any. */
interface RoleRequest {
  role: string | null;
  group: string | null;
}

/** The requested role and label; otherwise those with the most differing keys. */
export function chooseRole({ roles }: ClusterConfigDiff, request: RoleRequest): RoleDiff | undefined {
  const byDrift = roles.toSorted((a, b) => countDrift(b) - countDrift(a));
  return byDrift.find((role) => isRequested(role, request)) ?? byDrift[0];
}

export function isRequested({ role, label }: Pick<RoleDiff, 'role' | 'label'>, request: RoleRequest): boolean {
  return (request.role === null || request.role === role) && (request.group === null || request.group === label);
}

/** `broker`, `broker zone=eu-1`, `broker without label` */
export function roleName({ role, label }: Pick<RoleDiff, 'role' | 'label'>): string {
  return label === undefined ? role : `${role} ${label || 'without label'}`;
}

/** Members of a role without any known configuration, current or old. */
export function silentNodes(
  role: Pick<RoleDiff, 'role' | 'label' | 'nodes'>,
  { members }: Pick<ClusterConfigDiff, 'members'>,
  nodes: readonly Pick<ClusterNode, 'id' | 'role' | 'labels'>[],
): string[] {
  const isOfRole = (node: Pick<ClusterNode, 'role' | 'labels'>) =>
    node.role === role.role && (!role.label || labelTexts(node).includes(role.label));
  const ofRole = new Set(nodes.filter(isOfRole).map(({ id }) => id));
  return members.map(({ id }) => id).filter((id) => ofRole.has(id) && !role.nodes.includes(id));
}

/** `3 keys differ among 3 storage nodes with zone=eu-1` */
export function driftHeading(
  { driftCount }: Pick<DriftMatrix, 'driftCount'>,
  { role, label, nodes, notCompared }: Pick<RoleDiff, 'role' | 'label' | 'nodes' | 'notCompared'>,
): string {
  const kind = role === 'node' ? '' : `${role} `;
  const suffix = label === undefined ? '' : label === '' ? ' without label' : ` with ${label}`;
  if (nodes.length === 1) return `Only 1 ${kind}node${suffix}`;
  const among = `among ${nodes.length} ${kind}nodes${suffix}`;
  if (driftCount === 0) return `No key${notCompared.length > 0 ? ' that could be compared' : ''} differs ${among}`;
  return driftCount === 1 ? `1 key differs ${among}` : `${driftCount} keys differ ${among}`;
}

/** How secrets were compared: `secrets compared by fingerprint, never shown`. */
export function secretsText({ notCompared }: Pick<RoleDiff, 'notCompared'>): string {
  if (notCompared.length === 0) return 'secrets compared by fingerprint, never shown';
  return `${formatCounted(notCompared.length, 'secret')} not compared on every node (named below); secrets are never shown`;
}

/** `4 keys expected to differ (ports, directories, ids)` */
export function expectedText(keys: readonly string[]): string {
  const kinds = KINDS.filter(({ pattern }) => keys.some((key) => pattern.test(key))).map(({ label }) => label);
  return `${formatCounted(keys.length, 'key')} expected to differ${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`;
}
