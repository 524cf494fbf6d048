import type { ClusterNode, MemberClock, MemberReport, ShippingLag } from '@porthole/client';
import { outcomeText } from '@porthole/contract';
import type { ZoneName } from '../../state/view.ts';
import {
  formatAge,
  formatBytes,
  formatCounted,
  formatSecond,
  formatSpan,
  isDegraded,
  problemText,
  recordedText,
} from '../../ui/format.ts';

export { isDegraded, problemText };

/* What is said of nodes: in a word, a sentence, and by what needs attention. */

/** A clock that is certainly off by more than this makes the order of records across nodes hard to read. */
const CLOCK_LIMIT_MS = 100;

/** A node without a record for this long may be silent; it depends on the others. */
const SILENT_MS = 2 * 60_000;

/** A node is silent if its last record is this many times older than the median of the others. */
const SILENT_FACTOR = 10;

/** Two intervals of the default refresh: of a large cluster the list is normally younger. */
const OLD_MS = 60_000;

/** Shorter names are shown whole. */
const SHORT_NAME = 14;
const NARROW_NAME = 8;

/** Whether it should be up and is not. One that left in order is not missed. */
export function isMissing({ state }: Pick<ClusterNode, 'state'>): boolean {
  return state !== 'up' && state !== 'left';
}

export function stateText({ state, report, problems }: Pick<ClusterNode, 'state' | 'report' | 'problems'>): string {
  if (state === 'up') return problems.length === 0 ? 'up' : `degraded: ${problemText(problems)}`;
  if (state === 'left') return 'left the cluster';
  if (state === 'failed') return 'stopped responding, lease expired';
  if (state === 'unregistered') return 'not registered, responding';
  if (state === 'unknown') return `unknown (registry not responding): ${outcomeText(report.outcome)}`;
  return `not responding: ${outcomeText(report.outcome)}`;
}

/** The state in a word; of one that responds without being registered, in two. */
export function stateWord(node: Pick<ClusterNode, 'state' | 'problems'>): string {
  if (node.state === 'up') return isDegraded(node) ? 'degraded' : 'up';
  if (node.state === 'unregistered') return 'not registered';
  return node.state === 'left' || node.state === 'unknown' ? node.state : 'gone';
}

/** When a node was lost, as exactly as it is known: who recorded it noticed that at once. */
export function lostMs({ lastSeenMs }: Pick<ClusterNode, 'lastSeenMs'>, report: MemberReport | undefined) {
  return report?.asOfMs != null && report.recordedBy ? report.asOfMs + (report.missingMs ?? 0) : lastSeenMs;
}

/**
 * `up for 28 min`, or `gone since 13:58:57; recorded by broker-2, until 13:58:56.849 (0.3 s before it was lost)`: what is
 * known of a node that is gone has an end, and no age that grows.
 */
export function stateSentence(
  node: ClusterNode,
  report: MemberReport | undefined,
  { nowMs, zone }: { nowMs: number; zone: ZoneName },
): string {
  const { onlineTime } = node.node;
  const upFor = onlineTime > 0 ? ` for ${formatSpan(nowMs - onlineTime)}` : '';
  if (node.state === 'up') return isDegraded(node) ? `${stateText(node)}; up${upFor}` : `up${upFor}`;
  const sinceMs = lostMs(node, report);
  const since = sinceMs === null ? ', since when is not known' : ` since ${formatSecond(sinceMs, zone)}`;
  const kept = report?.asOfMs == null ? '' : `; ${recordedText({ ...report, asOfMs: report.asOfMs }, zone)}`;
  return `${stateWord(node)}${since}${kept}`;
}

/** What is notable about a node; a usual one has no notes. */
export function nodeNotes(
  node: ClusterNode,
  nodes: readonly ClusterNode[],
  { nowMs, differing }: { nowMs: number; differing: number },
): string[] {
  const { state, clock, archive, asOfMs, node: details } = node;
  const differs = differing > 0 ? [`configuration differs in ${formatCounted(differing, 'key')}`] : [];
  if (state !== 'up') return differs;
  const majority = majorityVersion(nodes);
  return [
    ...(isDegraded(node) ? [problemText(node.problems)] : []),
    ...(asOfMs !== undefined && nowMs - asOfMs > OLD_MS ? [`as of ${formatAge(asOfMs, nowMs)}`] : []),
    ...(clock && isClockOff(clock) ? [`clock ${clockText(clock)}`] : []),
    ...(isSilent(node, nodes, nowMs) ? [`silent, last line ${formatAge(node.lastRecordMs ?? 0, nowMs)}`] : []),
    ...(majority !== null && details.version !== '' && details.version !== majority ? [`most run ${majority}`] : []),
    ...(archive && (archive.lostBytes > 0 || archive.lagMs > OLD_MS) ? [`archive: ${waitingText(archive)}`] : []),
    ...differs,
  ];
}

/** `3 s and 12 KB behind · 2.0 MB deleted before they were shipped` */
export function waitingText({ lagMs, lagBytes, lostBytes }: ShippingLag): string {
  const lag = lagBytes === 0 ? 'nothing waits' : `${formatSpan(lagMs)} and ${formatBytes(lagBytes)} behind`;
  return lostBytes === 0 ? lag : `${lag} · ${formatBytes(lostBytes)} deleted before they were shipped`;
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
  const counts = new Map<string, number>();
  const up = nodes.filter(({ state }) => state === 'up');
  for (const { node } of up) counts.set(node.version, (counts.get(node.version) ?? 0) + 1);
  return [...counts].find(([, count]) => count * 2 > up.length)?.[0] ?? null;
}

/** `5 of 6 nodes up · 1 degraded`. Nodes that left in order are not counted; failed ones are. */
export function nodesText(nodes: readonly ClusterNode[]): string {
  const members = nodes.filter(({ state }) => state !== 'left');
  const up = members.filter(({ state }) => state === 'up').length;
  const degraded = members.filter(isDegraded).length;
  if (members.length === 1)
    return degraded > 0 ? '1 node degraded' : up === 1 ? '1 node up' : 'This node is not responding';
  const text = up === members.length ? `All ${up} nodes up` : `${up} of ${members.length} nodes up`;
  return degraded > 0 ? `${text} · ${degraded} degraded` : text;
}

/** `3 other nodes hidden, 1 of them not healthy`; `null` if none is hidden. */
export function hiddenText(all: readonly ClusterNode[], shown: readonly ClusterNode[]): string | null {
  const hidden = all.filter((node) => !shown.includes(node));
  if (hidden.length === 0) return null;
  const nodes = formatCounted(hidden.length, 'other node');
  const bad = hidden.filter((node) => isMissing(node) || isDegraded(node)).length;
  if (bad === 0) return `${nodes} hidden`;
  return hidden.length === 1 ? `${nodes} hidden, not healthy` : `${nodes} hidden, ${bad} of them not healthy`;
}

/** Nodes that are not responding; those that never responded come last. */
export function missingNodes(nodes: readonly ClusterNode[]): ClusterNode[] {
  return nodes.filter(isMissing).sort((a, b) => (b.lastSeenMs ?? 0) - (a.lastSeenMs ?? 0));
}

/** Problems first: who is missing, who is degraded, then who has the most errors; the order of equals stays. */
export function worstFirst<Node extends ClusterNode>(
  nodes: readonly Node[],
  errorsOf: (node: Node) => number = () => 0,
): Node[] {
  return nodes.toSorted((a, b) => trouble(b, errorsOf(b)) - trouble(a, errorsOf(a)));
}

/** 0: nothing is wrong with it. */
export function trouble(node: ClusterNode, errors: number): number {
  if (node.state === 'left') return -1;
  return errors + (isMissing(node) ? 2e9 : isDegraded(node) ? 1e9 : 0);
}

/** Identifies a dismissed departure: a node that comes back and fails again has another one. */
export function departureKey({ id, sinceMs }: Pick<ClusterNode, 'id' | 'sinceMs'>): string {
  return `${id}@${sinceMs ?? ''}`;
}

/** Ids without what all of them begin and end with; each keeps a word. Where there is little room, also short ones. */
export function shortNames(ids: readonly string[], isNarrow = false): ReadonlyMap<string, string> {
  if (ids.length < 2 || ids.every((id) => id.length <= (isNarrow ? NARROW_NAME : SHORT_NAME)))
    return new Map(ids.map((id) => [id, id]));
  const parts = ids.map((id) => id.split(/(?<=[-._:/])/));
  const shared = (at: (own: string[], index: number) => string | undefined) => {
    let count = 0;
    while (parts.every((own) => count < own.length - 1 && at(own, count) === at(parts[0] ?? [], count))) count++;
    return count;
  };
  let head = shared((own, index) => own[index]);
  // A number alone says nothing: it keeps the word before it.
  if (head > 0 && parts.some((own) => /^\d/.test(own[head] ?? ''))) head--;
  let tail = Math.min(
    shared((own, index) => own.at(-1 - index)),
    Math.min(...parts.map((own) => own.length)) - head - 1,
  );
  // Only domains and ports: a number at the end belongs to the word before it.
  const [first = []] = parts;
  while (tail > 0 && !/[.:]$/.test(first.at(-1 - tail) ?? '')) tail--;
  const short = (own: string[]) => own.slice(head, own.length - tail).join('');
  return new Map(ids.map((id, index) => [id, short(parts[index] ?? []).replace(/[-._:/]$/, '')]));
}
