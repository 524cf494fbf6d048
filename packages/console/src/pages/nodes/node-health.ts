import type { ClusterNode, MemberClock, ShippingLag, ShippingState } from '@porthole/client';
import { outcomeText } from '@porthole/contract';
import {
  formatAge,
  formatBytes,
  formatCount,
  formatCounted,
  formatSpan,
  isDegraded,
  problemText,
} from '../../ui/format.ts';

export { isDegraded, problemText };

/** A clock that is certainly off by more than this makes the order of records across nodes hard to read. */
const CLOCK_LIMIT_MS = 100;

/** A node without a record for this long may be silent; it depends on the others. */
const SILENT_MS = 2 * 60_000;

/** A node is silent if its last record is this many times older than the median of the others. */
const SILENT_FACTOR = 10;

/** Errors that were found, and the number of nodes that were counted completely. */
interface CountedErrors {
  errors: number;
  counted: number;
}

export function stateText({ state, report, problems }: Pick<ClusterNode, 'state' | 'report' | 'problems'>): string {
  if (state === 'up') return problems.length === 0 ? 'up' : `degraded: ${problemText(problems)}`;
  if (state === 'left') return 'left the cluster';
  if (state === 'failed') return 'stopped responding, lease expired';
  if (state === 'unregistered') return 'not registered, responding';
  if (state === 'unknown') return `unknown (registry not responding): ${outcomeText(report.outcome)}`;
  return `not responding: ${outcomeText(report.outcome)}`;
}

/** Two intervals of the default refresh: of a large cluster the list is normally younger. */
const OLD_MS = 60_000;

/** `as of 2 min ago`, if what is shown of a node that is up is not current. */
export function asOfText({ state, asOfMs }: Pick<ClusterNode, 'state' | 'asOfMs'>, nowMs: number): string | undefined {
  const isOld = state === 'up' && asOfMs !== undefined && nowMs - asOfMs > OLD_MS;
  return isOld ? `as of ${formatAge(asOfMs, nowMs)}` : undefined;
}

/** `ships to the archive, 3 s and 12 KB behind` */
export function shippingText({ lagMs, lagBytes, shippedRecords, lostBytes, problem }: ShippingState): string {
  const shipped = `${formatCount(shippedRecords)} records shipped since its start`;
  return [...(problem === null ? [] : [problem]), waitingText({ lagMs, lagBytes, lostBytes }), shipped].join(' · ');
}

/** `3 s and 12 KB behind · 2.0 MB deleted before they were shipped` */
export function waitingText({ lagMs, lagBytes, lostBytes }: ShippingLag): string {
  const lag = lagBytes === 0 ? 'nothing waits' : `${formatSpan(lagMs)} and ${formatBytes(lagBytes)} behind`;
  return lostBytes === 0 ? lag : `${lag} · ${formatBytes(lostBytes)} deleted before they were shipped`;
}

/** The lag as the list of nodes shows it: `complete`, `3 s behind`, `complete · 2.0 MB lost`. */
export function lagText({ lagMs, lagBytes, lostBytes }: ShippingLag): string {
  const lag = lagBytes === 0 ? 'complete' : `${formatSpan(lagMs)} behind`;
  return lostBytes === 0 ? lag : `${lag} · ${formatBytes(lostBytes)} lost`;
}

/** Records were lost, or the node itself says that they wait for too long. */
export function isShippingBad({ archive, problems }: Pick<ClusterNode, 'archive' | 'problems'>): boolean {
  return archive !== undefined && (archive.lostBytes > 0 || problems.some(({ check }) => check === 'archive'));
}

/** Off by more than the measurement uncertainty explains. */
export function isClockOff({ offsetMs, uncertaintyMs }: MemberClock): boolean {
  return Math.abs(offsetMs) - uncertaintyMs > CLOCK_LIMIT_MS;
}

/** `+412 ms ± 2`, `−1 ms ± 1` */
export function clockText({ offsetMs, uncertaintyMs }: MemberClock): string {
  const offset = Math.round(offsetMs);
  const sign = offset > 0 ? '+' : offset < 0 ? '−' : '';
  return `${sign}${Math.abs(offset)} ms ± ${Math.ceil(uncertaintyMs)}`;
}

/** Whether a node that is up has logged nothing for much longer than the others. */
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

/** The version of more than half of the nodes that are up; `null` if there is none. */
export function majorityVersion(nodes: readonly ClusterNode[]): string | null {
  const versions = nodes.filter(({ state }) => state === 'up').map(({ node }) => node.version);
  return versions.find((version) => versions.filter((other) => other === version).length * 2 > versions.length) ?? null;
}

/** `5 of 6 nodes up · 1 degraded`. Nodes that left in order are not counted; failed ones are. */
export function headline(nodes: readonly ClusterNode[]): string {
  const members = nodes.filter(({ state }) => state !== 'left');
  const up = members.filter(({ state }) => state === 'up').length;
  const degraded = members.filter(isDegraded).length;
  if (members.length === 1)
    return degraded > 0 ? '1 node degraded' : up === 1 ? '1 node up' : 'This node is not responding';
  const text = up === members.length ? `All ${up} nodes up` : `${up} of ${members.length} nodes up`;
  return degraded > 0 ? `${text} · ${degraded} degraded` : text;
}

/** `3 other nodes hidden, 1 of them not up`; `null` if none is hidden. */
export function hiddenText(all: readonly ClusterNode[], shown: readonly ClusterNode[]): string | null {
  const hidden = all.filter((node) => !shown.includes(node));
  if (hidden.length === 0) return null;
  const nodes = formatCounted(hidden.length, 'other node');
  const bad = hidden.filter((node) => (node.state !== 'up' && node.state !== 'left') || isDegraded(node)).length;
  if (bad === 0) return `${nodes} hidden`;
  return hidden.length === 1 ? `${nodes} hidden, not healthy` : `${nodes} hidden, ${bad} of them not healthy`;
}

/** Nodes that are not responding; those that never responded come last. */
export function missingNodes(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes
    .filter(({ state }) => state !== 'up' && state !== 'left')
    .sort((a, b) => (b.lastSeenMs ?? 0) - (a.lastSeenMs ?? 0));
}

/** Identifies a dismissed departure: a node that comes back and fails again has another one. */
export function departureKey({ id, sinceMs }: Pick<ClusterNode, 'id' | 'sinceMs'>): string {
  return `${id}@${sinceMs ?? ''}`;
}

/** `At least 3 errors, 4 of 5 nodes counted`. Never claims "no errors" for nodes that were not counted. */
export function errorsText(
  nodes: readonly Pick<ClusterNode, 'state'>[],
  counts: CountedErrors | null,
): { text: string; isAlarm: boolean } {
  const expected = nodes.filter(({ state }) => state !== 'left').length;
  if (counts === null)
    return { text: expected === 1 ? 'Errors on this node' : 'Errors across the cluster', isAlarm: false };
  const { errors, counted } = counts;
  const isAll = counted >= expected;
  const all = expected === 1 ? 'on this node' : `on all ${expected} nodes`;
  const where = isAll ? all : `on ${counted} of ${expected} nodes`;
  const found = formatCounted(errors, 'error');
  if (errors > 0 && !isAll)
    return { text: `At least ${found}, ${counted} of ${expected} nodes counted`, isAlarm: true };
  if (errors > 0) return { text: `${found} ${where}`, isAlarm: true };
  if (counted === 0)
    return { text: expected === 1 ? 'Errors not counted' : 'Errors not counted on any node', isAlarm: true };
  return { text: `No errors ${where}`, isAlarm: !isAll };
}
