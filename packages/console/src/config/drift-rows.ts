import type { ClusterConfigDiff, ConfigDifference, ConfigValue } from '@porthole/client';
import { isDrift } from '@porthole/contract';
import { type ShownValue, showValue } from '../ui/format.ts';

export type RoleDiff = ClusterConfigDiff['roles'][number];

/** A value that is not the one of most nodes. */
export interface Outlier {
  shown: ShownValue;
  nodes: readonly string[];
  /** In words: `≈ same`, `another secret`, `unknown`; empty for plain values. */
  note: string;
  /** It is worth a look: not only written differently, not expected, not unknown. */
  isUnusual: boolean;
  /** A node with another value, for the side-by-side view. */
  against: string;
}

export interface DriftRow {
  key: string;
  isExpected: boolean;
  isDrift: boolean;
  /** `null` if no value has a majority. */
  majority: { shown: ShownValue; count: number } | null;
  /** All values if there is no majority. */
  outliers: Outlier[];
}

export interface DriftRows {
  /** Outliers first. */
  rows: DriftRow[];
  expectedRows: DriftRow[];
  /** Secrets that could not be compared, each with the nodes of which the fingerprint is missing. */
  notCompared: { key: string; nodes: readonly string[] }[];
}

/** The keys in which nodes of one role differ; only those that contain a text, in their key or a value. */
export function driftRows(diff: RoleDiff, text: string): DriftRows {
  const all = diff.differences.map(driftRow);
  const wanted = text.toLowerCase();
  const found = all.filter(({ key, majority, outliers }) =>
    [key, majority?.shown.text ?? '', ...outliers.map(({ shown }) => shown.text)].some((part) =>
      part.toLowerCase().includes(wanted),
    ),
  );
  return {
    rows: found.filter(({ isExpected }) => !isExpected).sort((a, b) => rank(b) - rank(a)),
    // One that most nodes share is more likely a mistake than one that each has for itself.
    expectedRows: found
      .filter(({ isExpected }) => isExpected)
      .sort((a, b) => (b.majority?.count ?? 0) - (a.majority?.count ?? 0)),
    notCompared: diff.notCompared
      .filter((key) => key.toLowerCase().includes(wanted))
      .map((key) => ({ key, nodes: diff.withoutFingerprint?.[key] ?? [] })),
  };
}

/** Outliers first, then keys without a majority, then different spellings. */
function rank({ isDrift: isFound, majority }: DriftRow): number {
  return (isFound ? 2 : 0) + (majority ? 1 : 0);
}

/** A pair worth comparing: a node that agrees with most, and the first that does not. */
export function firstPair({ rows }: Pick<DriftRows, 'rows'>): { left: string; right: string } | null {
  const row = rows.find(({ isDrift: isFound }) => isFound);
  const outlier = row?.outliers.find(({ isUnusual }) => isUnusual);
  const [node] = outlier?.nodes ?? [];
  if (!row || !outlier || node === undefined) return null;
  return row.majority ? { left: outlier.against, right: node } : { left: node, right: outlier.against };
}

function driftRow(difference: ConfigDifference): DriftRow {
  const { key, isExpected, values } = difference;
  const most = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== most);
  const majority = most && isMost(values) ? most : null;
  const outliers = (majority ? others : values).map((value): Outlier => {
    const shown = showValue(value.value);
    const against = (value === most ? others[0] : most)?.nodes[0] ?? '';
    const isUnusual = !isExpected && !value.isSameMeaning && !value.isNotCompared;
    return { shown, nodes: value.nodes, note: noteOf(value, shown), isUnusual, against };
  });
  return {
    key,
    isExpected,
    outliers,
    isDrift: isDrift(difference),
    majority: majority && { shown: showValue(majority.value), count: majority.nodes.length },
  };
}

function noteOf({ isSameMeaning, isNotCompared }: ConfigValue, { kind }: ShownValue): string {
  if (isNotCompared) return 'unknown: it reports no fingerprint';
  if (isSameMeaning) return '≈ same';
  return kind === 'secret' ? 'different secret' : '';
}

/** Whether one value has more nodes than any other. */
function isMost(values: readonly ConfigValue[]): boolean {
  const isFor = ({ isMajority, isSameMeaning }: ConfigValue) => isMajority || isSameMeaning;
  const votes = values.filter(isFor).reduce((sum, { nodes }) => sum + nodes.length, 0);
  return values.every((value) => isFor(value) || value.isNotCompared || value.nodes.length < votes);
}

/** Number of keys that differ: not only in spelling, and not as expected. */
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

/** `3 keys differ among 3 storage nodes with zone=eu-1` */
export function driftHeading({ role, label, nodes, notCompared, differences }: RoleDiff): string {
  const driftCount = countDrift({ differences });
  const kind = role === 'node' ? '' : `${role} `;
  const suffix = label === undefined ? '' : label === '' ? ' without label' : ` with ${label}`;
  if (nodes.length === 1) return `Only 1 ${kind}node${suffix}`;
  const among = `among ${nodes.length} ${kind}nodes${suffix}`;
  // absence: the text says what was compared
  if (driftCount === 0) return `No key${notCompared.length > 0 ? ' that could be compared' : ''} differs ${among}`;
  return driftCount === 1 ? `1 key differs ${among}` : `${driftCount} keys differ ${among}`;
}
