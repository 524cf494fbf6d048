import {
  type ClusterHistogram,
  coverageOf,
  failures,
  joinCoverage,
  type MemberSelection,
  missingText,
} from '@porthole/contract';
import { EXIT, interruptSignal } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { visibleText } from '../../output/visible-text.ts';
import { timeFlag } from '../../records/record-flags.ts';
import { openNode } from '../../sources/open-node.ts';

const DAY_MS = 86_400_000;

/** What was logged later may not have been shipped yet. */
const UNSHIPPED_MS = 120_000;

const DEFAULT_SINCE_MS = 7 * DAY_MS;

const COLUMNS: readonly Column[] = [
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
export async function run(invocation: Invocation): Promise<number> {
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
    client.cluster.logHistogram({ ...selection, ...range, bucketMs: DAY_MS, buckets: 1, store }, { signal });
  const [onDisk, inArchive] = await Promise.all([count('nodes'), count('archive')]);
  const days = compareDays(onDisk, inArchive);
  if (invocation.text('output') === 'json')
    await terminal.write(days.map((day) => `${JSON.stringify(day)}\n`).join(''));
  else await terminal.write(formatTable(COLUMNS, days.map(toRow), terminal));
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
