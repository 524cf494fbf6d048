import { type ClusterNode, codeOf, errorMessage, type MemberReport } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatBytes, formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { openNode } from '../../sources/open-node.ts';

/** As the setting archive.max-lag has it by default. */
const MAX_LAG_MS = 300_000;

const COLUMNS: readonly Column[] = [
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
export async function run(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const client = await openNode(invocation);
  const signal = interruptSignal();
  const role = invocation.text('role');
  let unread: string | undefined;
  const [{ clockMs }, shipped, { nodes }] = await Promise.all([
    client.describe({ signal }),
    readReports(),
    client.cluster.nodes({ signal }),
  ]);
  const reports = new Map(shipped.map((report) => [report.id, report]));
  const members = nodes.filter((node) => role === undefined || node.role === role);
  const ids = new Set(nodes.map(({ id }) => id));
  const past = shipped
    .filter(({ id }) => !ids.has(id))
    .map((report) => toStatus(report.id, report, { nowMs: clockMs }));
  const statuses = [
    ...members.map((node) => toStatus(node.id, reports.get(node.id), { nowMs: clockMs, node })),
    ...past,
  ];
  statuses.sort((a, b) => (a.node < b.node ? -1 : 1));
  const isFine = ({ state, lostBytes }: NodeStatus) => (state === 'ok' || state === 'past') && lostBytes === 0;
  if (invocation.text('output') === 'json')
    await terminal.write(statuses.map((status) => `${JSON.stringify(status)}\n`).join(''));
  else await terminal.write(formatTable(COLUMNS, statuses.map(toRow), terminal));
  for (const { node, problem } of statuses) if (problem !== null) terminal.warn(visibleText(`${node}: ${problem}`));
  return statuses.every(isFine) && unread === undefined ? EXIT.ok : EXIT.partial;

  /** The cheapest request of which every node is reported; a node without an archive refuses it. */
  async function readReports(): Promise<readonly MemberReport[]> {
    const request = { order: 'newest', limit: 1, before: 0, after: 0, store: 'archive', fromMs: 0, toMs: 1 } as const;
    const selection = role === undefined ? {} : { role };
    try {
      for await (const items of client.cluster.searchLogs({ ...request, ...selection }, { signal }))
        for (const item of items) if (item.type === 'end') return item.members;
    } catch (error) {
      if (codeOf(error) !== 'ARCHIVE_UNAVAILABLE') throw error;
      // What nodes say about their shipping is known all the same.
      unread = errorMessage(error);
      terminal.warn(visibleText(unread));
      return [];
    }
    throw new ProgramError(`the response of ${client.url} has no end`);
  }

  function toRow(status: NodeStatus): string[] {
    const zone = createZone(invocation.text('time-zone'));
    const time = (timeMs: number | null) => (timeMs === null ? '-' : formatTime(timeMs, zone).slice(0, 19));
    const name = `${isFine(status) ? ' ' : '!'} ${visibleText(status.node)}`;
    const { shippedFromMs, shippedToMs, behindMs, lostBytes, state } = status;
    return [
      isFine(status) ? name : terminal.colors.red(name),
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
