import type { ClusterConfigDiff, ConfigDifference, ConfigValue, MemberReport } from '@porthole/client';
import { defaultLabel, type SettingsByKey, SOURCE_LABELS } from './setting-marks.ts';
import { type ShownValue, showValue } from './setting-text.ts';

export type RoleDiff = ClusterConfigDiff['roles'][number];

export interface DriftColumn {
  id: string;
  /** Why its values are not those of now; `null` where they are. */
  report: MemberReport | null;
  /** Nothing is known of it, not even from before. */
  isSilent: boolean;
}

export interface DriftCell {
  shown: ShownValue;
  isSameMeaning: boolean;
  /** A node with another value, to see it side by side with. */
  against: string;
}

export interface DriftRow {
  key: string;
  isExpected: boolean;
  /** Some node has what most have not, and not only in other words. */
  isDrift: boolean;
  /** `null` where no value is that of more nodes than any other. */
  majority: ShownValue | null;
  /** Of the nodes that have something else than most; of all where there is no such thing as most. */
  cells: ReadonlyMap<string, DriftCell>;
  default: string | null;
  source: string | null;
}

export interface DriftMatrix {
  /** All keys that drift, shown or not. */
  driftCount: number;
  columns: DriftColumn[];
  /** Nodes that have nothing but what most have, where there are too many for a column each. */
  foldedNodes: string[];
  rows: DriftRow[];
  expectedRows: DriftRow[];
  notCompared: string[];
  hasDefaults: boolean;
  hasSources: boolean;
}

export interface DriftOptions {
  /** Keys that contain this are shown. */
  text: string;
  members: readonly MemberReport[];
  /** Members of the role of which nothing is known. */
  silentNodes: readonly string[];
  /** Of the nodes whose settings are known, those that matter most first. */
  settings: ReadonlyMap<string, SettingsByKey>;
}

/** Up to so many nodes, each has a column whether it differs or not. */
const MAX_COLUMNS = 8;

/** Where the nodes of one role differ, as a table: keys down, nodes across, and only what is unlike the rest filled in. */
export function driftMatrix(diff: RoleDiff, options: DriftOptions): DriftMatrix {
  const all = diff.differences.map((difference) => driftRow(difference, options.settings));
  const wanted = options.text.toLowerCase();
  const found = all.filter(({ key }) => key.toLowerCase().includes(wanted));
  const rows = found.filter(({ isExpected }) => !isExpected).sort((a, b) => Number(b.isDrift) - Number(a.isDrift));
  const expectedRows = found.filter(({ isExpected }) => isExpected);
  return {
    driftCount: all.filter(({ isDrift }) => isDrift).length,
    ...driftColumns(diff.nodes, rows, options),
    rows,
    expectedRows,
    notCompared: diff.notCompared.filter((key) => key.toLowerCase().includes(wanted)),
    hasDefaults: all.some((row) => row.default !== null),
    hasSources: all.some((row) => row.source !== null),
  };
}

/** Nodes that have what most have not, those with the most such keys first: whose settings are worth asking for. */
export function outlierNodes({ differences }: RoleDiff): string[] {
  const counts = new Map<string, number>();
  for (const { isExpected, values } of differences)
    for (const { nodes, isMajority } of values)
      if (!isExpected && !isMajority) for (const node of nodes) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([node]) => node);
}

/** Two nodes worth seeing side by side: one like most, and the first that is not. */
export function firstPair({ rows }: Pick<DriftMatrix, 'rows'>): { left: string; right: string } | null {
  const row = rows.find(({ isDrift }) => isDrift);
  const outlier = row && [...row.cells].find(([, { isSameMeaning }]) => !isSameMeaning);
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
    const cell = { shown: showValue(value.value), isSameMeaning: value.isSameMeaning, against: against ?? '' };
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

/** Whether one meaning has more nodes than every other value. */
function isMost(values: readonly ConfigValue[]): boolean {
  const isFor = ({ isMajority, isSameMeaning }: ConfigValue) => isMajority || isSameMeaning;
  const votes = values.filter(isFor).reduce((sum, { nodes }) => sum + nodes.length, 0);
  return values.every((value) => isFor(value) || value.nodes.length < votes);
}

/** Of a node that differs, because that is what one asks about; else of any whose settings are known. */
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
