import {
  type ClusterHistogram,
  type ClusterNode,
  codeOf,
  coverageOf,
  errorMessage,
  failures,
  formatBytes,
  joinCoverage,
  type MemberReport,
  type MemberSelection,
  missingText,
} from '@porthole/contract';
import { EXIT, interruptSignal } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { shownTimes, timeFlag } from '../../records/record-flags.ts';
import { openNode } from '../../sources/open-node.ts';
import { fetchArchived } from '../../sources/query-cluster.ts';

/** Creates or upgrades the tables. */
export async function init(invocation: Invocation): Promise<number> {
  const { terminal, given, env } = invocation;
  // Loaded on demand: the other commands only ask a node.
  const { initArchive } = await import('@porthole/server/archive');
  const { settingsFromFlags } = await import('../serve/setting-flags.ts');
  const dryRun = invocation.isOn('dry-run');
  const sources = { file: invocation.text('config'), flags: settingsFromFlags(given), env };
  const { target, from, to, statements, droppedDays } = await initArchive(sources, { dryRun });
  if (dryRun) {
    await terminal.write(statements.map((sql) => `${sql};\n\n`).join(''));
    terminal.note(statements.length === 0 ? `${target} is up to date` : `${target}: nothing was changed`);
    return EXIT.ok;
  }
  if (statements.length === 0) terminal.note(`${target} is up to date (version ${to})`);
  else if (from === to) terminal.note(`${target}: changed what was not as it should be:\n${statements.join('\n')}`);
  else terminal.note(`${target}: ${from === 0 ? 'tables created' : `upgraded from version ${from}`} (version ${to})`);
  if (droppedDays.length > 0) terminal.note(`deleted records of ${droppedDays.join(', ')}, older than archive.keep`);
  return EXIT.ok;
}

/** As the setting archive.max-lag has it by default. */
const MAX_LAG_MS = 300_000;

const STATUS_COLUMNS: readonly Column[] = [
  { title: '  NODE', minWidth: 12 },
  { title: 'FROM' },
  { title: 'SHIPPED TO' },
  { title: 'BEHIND', align: 'right' },
  { title: 'LOST', align: 'right' },
  { title: 'STATE' },
];

interface NodeStatus {
  node: string;
  /** `past`: no longer a member. */
  state: 'ok' | 'stuck' | 'behind' | 'nothing shipped' | 'past' | string;
  shippedFromMs: number | null;
  shippedToMs: number | null;
  behindMs: number | null;
  lostBytes: number;
  /** Why it does not ship, or cannot read the archive, and since when. */
  problem: string | null;
}

/** What each node has shipped, as the node that is asked knows it. */
export async function status(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const client = await openNode(invocation);
  const signal = interruptSignal();
  const role = invocation.text('role');
  let unread: string | undefined;
  const [{ zone, clock }, shipped, { nodes }] = await Promise.all([
    shownTimes(invocation, client, signal),
    readReports(),
    client.nodes({ signal }),
  ]);
  const reports = new Map(shipped.map((report) => [report.id, report]));
  const members = nodes.filter((node) => role === undefined || node.role === role);
  const ids = new Set(nodes.map(({ id }) => id));
  const past = shipped
    .filter(({ id }) => !ids.has(id))
    .map((report) => toStatus(report.id, report, { nowMs: clock.nowMs }));
  const statuses = [
    ...members.map((node) => toStatus(node.id, reports.get(node.id), { nowMs: clock.nowMs, node })),
    ...past,
  ];
  statuses.sort((a, b) => (a.node < b.node ? -1 : 1));
  const isFine = ({ state, lostBytes }: NodeStatus) => (state === 'ok' || state === 'past') && lostBytes === 0;
  if (invocation.text('output') === 'json')
    await terminal.write(statuses.map((one) => `${JSON.stringify(one)}\n`).join(''));
  else await terminal.write(formatTable(STATUS_COLUMNS, statuses.map(toRow), terminal));
  for (const { node, problem } of statuses) if (problem !== null) terminal.warn(visibleText(`${node}: ${problem}`));
  return statuses.every(isFine) && unread === undefined ? EXIT.ok : EXIT.partial;

  async function readReports(): Promise<readonly MemberReport[]> {
    try {
      return await fetchArchived(client, role === undefined ? {} : { role }, { signal });
    } catch (error) {
      if (codeOf(error) !== 'ARCHIVE_UNAVAILABLE') throw error;
      // What nodes say about their shipping is known all the same.
      unread = errorMessage(error);
      terminal.warn(visibleText(unread));
      return [];
    }
  }

  function toRow(shown: NodeStatus): string[] {
    const time = (timeMs: number | null) => (timeMs === null ? '-' : formatTime(timeMs, zone).slice(0, 19));
    const name = `${isFine(shown) ? ' ' : '!'} ${visibleText(shown.node)}`;
    const { shippedFromMs, shippedToMs, behindMs, lostBytes, state } = shown;
    return [
      isFine(shown) ? name : terminal.colors.red(name),
      time(shippedFromMs),
      time(shippedToMs),
      behindMs === null ? '-' : `${Math.round(behindMs / 1000)} s`,
      lostBytes === 0 ? '0' : formatBytes(lostBytes),
      visibleText(state),
    ];
  }
}

function toStatus(
  id: string,
  report: MemberReport | undefined,
  { nowMs, node }: { nowMs: number; node?: ClusterNode },
): NodeStatus {
  const { shippedFromMs = null, shippedToMs = null, lostBytes = 0 } = report?.archive ?? {};
  const isPast = node === undefined || node.state === 'left' || node.state === 'failed';
  const behindMs = shippedToMs === null || isPast ? null : Math.max(0, nowMs - shippedToMs);
  const problem = node?.problems.find(({ check }) => check === 'archive')?.detail ?? null;
  const known = { node: id, shippedFromMs, shippedToMs, behindMs, lostBytes, problem };
  if (isPast) return { ...known, state: 'past' };
  if (node.state !== 'up') return { ...known, state: node.state };
  if (problem !== null) return { ...known, state: 'stuck' };
  if (shippedToMs === null) return { ...known, state: 'nothing shipped' };
  return { ...known, state: (behindMs ?? 0) > MAX_LAG_MS ? 'behind' : 'ok' };
}

const DAY_MS = 86_400_000;

/** What was logged later may not have been shipped yet. */
const UNSHIPPED_MS = 120_000;

const DEFAULT_SINCE_MS = 7 * DAY_MS;

const VERIFY_COLUMNS: readonly Column[] = [
  { title: '  NODE', minWidth: 12 },
  { title: 'DAY' },
  { title: 'ON DISK', align: 'right' },
  { title: 'IN ARCHIVE', align: 'right' },
  { title: 'MISSING', align: 'right' },
];

interface DayCount {
  node: string;
  /** UTC. */
  day: string;
  onDisk: number;
  inArchive: number;
  /** On disk, but not in the archive: a minimum, since the archive may have others that the disk has not. */
  missing: number;
}

/** Counts records per node and day on both sides. */
export async function verify(invocation: Invocation): Promise<number> {
  const { terminal, args } = invocation;
  const client = await openNode(invocation);
  const signal = interruptSignal();
  const { clockMs } = await client.describe({ signal });
  const clock = { nowMs: clockMs, offsetMsAt: () => 0 };
  const since = timeFlag(invocation, 'since', clock) ?? clockMs - DEFAULT_SINCE_MS;
  const role = invocation.text('role');
  const selection: MemberSelection = { ...(args.length > 0 && { nodes: args }), ...(role !== undefined && { role }) };
  const range = { fromMs: Math.floor(since / DAY_MS) * DAY_MS, toMs: clockMs - UNSHIPPED_MS };
  const count = (store: 'nodes' | 'archive') =>
    client.histogram({ nodes: ['*'], ...selection, ...range, bucketMs: DAY_MS, buckets: 1, store }, { signal });
  const [onDisk, inArchive] = await Promise.all([count('nodes'), count('archive')]);
  const days = compareDays(onDisk, inArchive);
  if (invocation.text('output') === 'json')
    await terminal.write(days.map((day) => `${JSON.stringify(day)}\n`).join(''));
  else await terminal.write(formatTable(VERIFY_COLUMNS, days.map(toRow), terminal));
  const silent = failures(joinCoverage([coverageOf(onDisk, range), coverageOf(inArchive, range)]));
  for (const part of silent) terminal.warn(visibleText(missingText(part)));
  if (days.some(({ missing }) => missing > 0)) return EXIT.different;
  return silent.length > 0 ? EXIT.partial : EXIT.ok;

  function toRow({ node, day, onDisk: disk, inArchive: stored, missing }: DayCount): string[] {
    const name = `${missing > 0 ? '!' : ' '} ${visibleText(node)}`;
    return [missing > 0 ? terminal.colors.red(name) : name, day, String(disk), String(stored), String(missing)];
  }
}

function compareDays(onDisk: ClusterHistogram, inArchive: ClusterHistogram): DayCount[] {
  const counts = new Map<string, DayCount>();
  const add = (histogram: ClusterHistogram, field: 'onDisk' | 'inArchive') => {
    for (const { startMs, nodes } of histogram.buckets)
      for (const [node, count] of Object.entries(nodes)) {
        const day = new Date(startMs).toISOString().slice(0, 10);
        const key = `${node} ${day}`;
        const known = counts.get(key) ?? { node, day, onDisk: 0, inArchive: 0, missing: 0 };
        counts.set(key, { ...known, [field]: known[field] + count });
      }
  };
  add(onDisk, 'onDisk');
  add(inArchive, 'inArchive');
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, day]) => ({ ...day, missing: Math.max(0, day.onDisk - day.inArchive) }));
}
