import type { ClusterConfigDiff, ClusterRecord, Level } from '@porthole/client';
import { coverageOf, toEvent } from '@porthole/contract';
import { groupEvents, type ShownEvent, shownEvents } from '../events/event-text.ts';
import { type LoadedEvents, loadEvents } from '../events/load-events.ts';
import { session } from '../state/session.ts';
import { formatCount, formatCounted, showValue } from '../ui/format.ts';
import type { Version } from './node-config.ts';

/** What happened within this time, or until the next change, is shown with a change. */
const AFTER_MS = 3_600_000;

/** An event may be written this long after what it is about. */
const LATE_MS = 120_000;

/** A start is a part of a change that came with it. */
const START_MS = 30_000;

const BUDGET_MS = 3000;

/** Something that happened after a change. */
export interface AfterRow {
  event: ShownEvent & { nodes: string[] };
  delayMs: number;
  /** It is only about the node that changed. */
  isHere: boolean;
}

export interface AfterChange extends LoadedEvents {
  /** The first error leads, on the same node if it has one; then in the order of time. */
  rows: AfterRow[];
  /** Until when events were read. */
  untilMs: number;
  /** Records of the first error until then: `1,204`, `98+` if not all of them were counted; empty: not counted. */
  count: string;
}

/** What is known of the time after a change, on all nodes. */
export async function loadAfter(
  id: string,
  version: Version,
  nowMs: number,
  signal: AbortSignal,
): Promise<AfterChange> {
  const { fromMs, toMs } = version;
  const untilMs = Math.max(fromMs, Math.min(toMs ?? nowMs, fromMs + AFTER_MS));
  const loaded = await loadEvents({ fromMs, toMs: untilMs + LATE_MS }, signal);
  const rows = afterRows(loaded.records, { id, version, untilMs });
  return { ...loaded, rows, untilMs, count: rows[0] ? await countRecords(rows[0], untilMs, signal) : '' };
}

export function afterRows(
  records: readonly ClusterRecord[],
  { id, version, untilMs }: { id: string; version: Pick<Version, 'fromMs' | 'version'>; untilMs: number },
): AfterRow[] {
  const isBurst = (record: ClusterRecord) => toEvent(record)?.kind === 'log-burst';
  const events = shownEvents(records.filter((record) => !isBurst(record)));
  // A burst of new errors is told by the first of them.
  const bursts = shownEvents(records.filter(isBurst)).filter(
    ({ node, timeMs }) =>
      !events.some(
        (event) => event.kind === 'new-pattern' && event.node === node && Math.abs(event.timeMs - timeMs) < LATE_MS,
      ),
  );
  const { fromMs } = version;
  const isOfChange = ({ kind, node, timeMs, fields }: ShownEvent) =>
    node === id &&
    (kind === 'config-changed'
      ? fields.config === version.version
      : /^(started|stopped|version-changed|member-left|member-back|config-file-differs)$/.test(kind) &&
        timeMs - fromMs < START_MS);
  const later = [...events, ...bursts]
    .filter((event) => event.timeMs >= fromMs && event.timeMs < untilMs && !isOfChange(event))
    .sort((a, b) => a.timeMs - b.timeMs);
  const rows = groupEvents(later).map(
    (event): AfterRow => ({ event, delayMs: event.timeMs - fromMs, isHere: event.nodes.every((node) => node === id) }),
  );
  const isError = ({ event }: AfterRow) => event.kind === 'new-pattern' || event.kind === 'log-burst';
  const first = rows.find((row) => isError(row) && row.event.nodes.includes(id)) ?? rows.find(isError);
  return first ? [first, ...rows.filter((row) => row !== first)] : rows;
}

/** How often the pattern of a new error was logged. */
async function countRecords({ event }: AfterRow, untilMs: number, signal: AbortSignal): Promise<string> {
  const { source, level } = (event.fields.pattern ?? {}) as { source?: unknown; level?: unknown };
  if (event.kind !== 'new-pattern' || typeof source !== 'string') return '';
  const request = {
    source,
    minLevel: level as Level,
    nodes: event.nodes,
    fromMs: event.timeMs,
    toMs: untilMs,
    buckets: 1,
  };
  const response = await session.client.histogram(request, { signal, budgetMs: BUDGET_MS });
  const count = response.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, one) => sum + one, 0);
  const isAll = response.counted === null && coverageOf(response).isComplete;
  return `${formatCount(count)}${isAll ? '' : '+'}`;
}

/** Other nodes that have the same value now: `4 other nodes have`, `/data/wal`. */
export interface OtherValue {
  text: string;
  /** Said in words instead if it is a secret, or missing. */
  value: string | null;
}

/** What nodes of the same role have now; empty if the node was not compared. */
export function otherValues(diff: ClusterConfigDiff, id: string, key: string): OtherValue[] {
  const role = diff.roles.find(({ nodes }) => nodes.includes(id));
  if (!role) return [];
  const others = role.nodes.length - 1;
  if (others === 0)
    return [{ text: `No other ${role.role === 'node' ? 'node' : `${role.role} node`} to compare with`, value: null }];
  const difference = role.differences.find((one) => one.key === key);
  if (!difference) {
    const isUnknown = role.notCompared.includes(key);
    return [{ text: `${nodesText(others)} ${isUnknown ? 'an unknown secret' : 'the same value'}`, value: null }];
  }
  return difference.values.flatMap(({ value, nodes, isNotCompared }): OtherValue[] => {
    const count = nodes.filter((node) => node !== id).length;
    if (count === 0) return [];
    const { text, kind } = showValue(value);
    const secret = isNotCompared ? 'an unknown secret' : nodes.includes(id) ? 'the same secret' : 'another secret';
    const words = kind === 'absent' ? 'no such key' : kind === 'empty' ? 'an empty value' : secret;
    return kind === 'value'
      ? [{ text: nodesText(count), value: text }]
      : [{ text: `${nodesText(count)} ${words}`, value: null }];
  });
}

function nodesText(count: number): string {
  return `${formatCounted(count, 'other node')} ${count === 1 ? 'has' : 'have'}`;
}
