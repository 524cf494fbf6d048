import type { ClusterNode, MemberClock, NodeProblem } from '@porthole/client';
import { outcomeText } from '../../ui/missing-members.ts';

/** A clock that is off by more than this, beyond doubt, makes the order of lines of different nodes hard to read. */
const CLOCK_LIMIT_MS = 100;

/** A node that has written nothing for so long may be silent; whether it is, the others tell. */
const SILENT_MS = 2 * 60_000;

/** Silent is whose last line is so many times as old as that of the usual node. */
const SILENT_FACTOR = 10;

export function stateText({ state, report, problems }: Pick<ClusterNode, 'state' | 'report' | 'problems'>): string {
  if (state === 'up') return problems.length === 0 ? 'up' : `degraded: ${problemText(problems)}`;
  if (state === 'left') return 'left the cluster';
  if (state === 'failed') return 'failed: no longer registered';
  if (state === 'unknown') return `unknown (the registry is away): ${outcomeText(report.outcome)}`;
  return `not responding: ${outcomeText(report.outcome)}`;
}

/** It responds, but a health check fails: what it counts may not be all. */
export function isDegraded({ state, problems }: Pick<ClusterNode, 'state' | 'problems'>): boolean {
  return state === 'up' && problems.length > 0;
}

/** `log directory: /var/log/lindb does not exist` */
export function problemText(problems: readonly NodeProblem[]): string {
  return problems.map(({ check, detail }) => `${check}: ${detail}`).join(' · ');
}

/** Off by more than can be explained by not knowing it exactly. */
export function isClockOff({ offsetMs, uncertaintyMs }: MemberClock): boolean {
  return Math.abs(offsetMs) - uncertaintyMs > CLOCK_LIMIT_MS;
}

/** `+412 ms ± 2`, `−1 ms ± 1` */
export function clockText({ offsetMs, uncertaintyMs }: MemberClock): string {
  const offset = Math.round(offsetMs);
  const sign = offset > 0 ? '+' : offset < 0 ? '−' : '';
  return `${sign}${Math.abs(offset)} ms ± ${Math.ceil(uncertaintyMs)}`;
}

/** Whether a node that is up has written nothing for much longer than is usual among those that are up. */
export function isSilent(node: ClusterNode, nodes: readonly ClusterNode[], nowMs: number): boolean {
  if (node.state !== 'up' || node.lastRecordMs === null) return false;
  const ageMs = nowMs - node.lastRecordMs;
  if (ageMs < SILENT_MS) return false;
  const ages = nodes
    .filter(({ state, id }) => state === 'up' && id !== node.id)
    .flatMap(({ lastRecordMs }) => (lastRecordMs === null ? [] : [nowMs - lastRecordMs]))
    .sort((a, b) => a - b);
  const usualMs = ages[Math.floor(ages.length / 2)];
  return usualMs !== undefined && ageMs > Math.max(SILENT_MS, usualMs * SILENT_FACTOR);
}

/** The version that more than half of the nodes that are up have; `null` where there is none. */
export function usualVersion(nodes: readonly ClusterNode[]): string | null {
  const versions = nodes.filter(({ state }) => state === 'up').map(({ node }) => node.version);
  return versions.find((version) => versions.filter((other) => other === version).length * 2 > versions.length) ?? null;
}

/** `5 of 6 nodes up · 1 degraded`. Those that left in order are not expected to be; those that failed are. */
export function headline(nodes: readonly ClusterNode[]): string {
  const members = nodes.filter(({ state }) => state !== 'left');
  const up = members.filter(({ state }) => state === 'up').length;
  const degraded = members.filter(isDegraded).length;
  if (members.length === 1)
    return degraded > 0 ? '1 node degraded' : up === 1 ? '1 node up' : 'This node is not responding';
  const text = up === members.length ? `All ${up} nodes up` : `${up} of ${members.length} nodes up`;
  return degraded > 0 ? `${text} · ${degraded} degraded` : text;
}

/** Those that do not respond, those that never did last. */
export function missingNodes(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes
    .filter(({ state }) => state !== 'up' && state !== 'left')
    .sort((a, b) => (b.lastSeenMs ?? 0) - (a.lastSeenMs ?? 0));
}

/** Names the departure of a node that a reader has dismissed: if it comes back and fails again, that is another. */
export function departureKey({ id, sinceMs }: Pick<ClusterNode, 'id' | 'sinceMs'>): string {
  return `${id}@${sinceMs ?? ''}`;
}
