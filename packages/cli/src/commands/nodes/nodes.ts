import type { Client } from '@porthole/client';
import {
  type ClusterNode,
  type ClusterNodes,
  coverageOf,
  isLabelPattern,
  type Labels,
  type MemberSelection,
  matchesLabels,
  missingText,
  reportText,
} from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatTime } from '../../output/format-units.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { openTimed } from '../../records/record-flags.ts';
import { unlessUnsupported } from '../../sources/query-cluster.ts';
import { memberSelection } from '../../sources/source-flags.ts';

/** Lists the members of the cluster and their state. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const { client, zone } = await openTimed(invocation, interruptSignal());
  const { membership, nodes: all, nowMs } = await fetchNodes(client);
  const by = invocation.text('by');
  const nodes = groupNodes(selectNodes(all, memberSelection(invocation)), by);
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') await terminal.write(nodes.map((node) => `${JSON.stringify(node)}\n`).join(''));
  else if (format === 'names') await terminal.write(nodes.map(({ id }) => `${id}\n`).join(''));
  else await terminal.write(nodeTable(nodes, { zone, nowMs, by, terminal }));
  for (const part of coverageOf({ membership }).missing) terminal.warn(visibleText(missingText(part)));
  // A node that left cleanly is not missing.
  const silent = nodes.filter(({ state }) => state !== 'up' && state !== 'left');
  for (const { report } of silent) terminal.warn(visibleText(reportText(report)));
  const degraded = nodes.filter(isDegraded);
  for (const { id, problems } of degraded)
    for (const { check, detail } of problems) terminal.warn(visibleText(`${id}: ${check}: ${detail}`));
  return silent.length + degraded.length > 0 ? EXIT.partial : EXIT.ok;
}

/** The list of members takes no parameters: it is the same for everyone. */
function selectNodes(nodes: readonly ClusterNode[], { labels }: Pick<MemberSelection, 'labels'>): ClusterNode[] {
  const bad = labels?.find((label) => !isLabelPattern(label));
  if (bad !== undefined)
    throw new ProgramError(`invalid --label ${JSON.stringify(bad)}: expected NAME=VALUE, like zone=a`);
  return nodes.filter((node) => labels === undefined || matchesLabels(node.labels, labels));
}

/** By the value of a label; nodes without it come last. */
function groupNodes(nodes: readonly ClusterNode[], by: string | undefined): ClusterNode[] {
  if (by === undefined) return [...nodes];
  const key = ({ labels, id }: ClusterNode) => `${Object.hasOwn(labels, by) ? `0${labels[by]}` : '1'}\n${id}`;
  return nodes.toSorted((left, right) => (key(left) < key(right) ? -1 : 1));
}

interface NodesResponse extends Pick<ClusterNodes, 'nodes'> {
  membership?: ClusterNodes['membership'];
  /** By the clock of the queried node, like all times of the response. */
  nowMs: number;
}

/** A node that only implements the contract knows only itself. */
async function fetchNodes(client: Client): Promise<NodesResponse> {
  return unlessUnsupported<NodesResponse>(
    async () => {
      const { nodes, membership } = await client.nodes();
      return { nodes, membership, nowMs: (await client.describe()).clockMs };
    },
    async () => ({ nodes: [await describeSelf(client)], nowMs: Date.now() }),
  );
}

async function describeSelf(client: Client): Promise<ClusterNode> {
  const startedMs = performance.now();
  const { node } = await client.config();
  const elapsedMs = Math.round(performance.now() - startedMs);
  const id = node.hostName || client.url;
  return {
    id,
    role: 'node',
    labels: {},
    node,
    url: client.url,
    isSelf: true,
    state: 'up',
    sinceMs: null,
    report: { id, outcome: 'ok', detail: null, elapsedMs, count: 1, asOfMs: null },
    clock: null,
    timeZone: null,
    uptimeMs: null,
    lastRecordMs: null,
    recentErrors: null,
    lastSeenMs: null,
    problems: [],
  };
}

const COLUMNS: readonly Column[] = [
  { title: '  NODE' },
  { title: 'ROLE', hideRank: 4 },
  { title: 'ADDRESS', hideRank: 3 },
  { title: 'VERSION', hideRank: 7 },
  { title: 'UP SINCE', hideRank: 6 },
  { title: 'CLOCK', align: 'right', hideRank: 5 },
  { title: 'LAST RECORD', align: 'right', hideRank: 2 },
  { title: 'ERRORS', align: 'right', hideRank: 1 },
  { title: 'STATE' },
];

const LABELS: Column = { title: 'LABELS', hideRank: 8 };
const ARCHIVE: Column = { title: 'ARCHIVE', align: 'right', hideRank: 3 };

interface NodeTableOptions {
  zone: Zone;
  /** By the clock of the queried node, like all times of the response. */
  nowMs: number;
  /** The label they are grouped by, in the first column. */
  by: string | undefined;
  terminal: Terminal;
}

/** One row per node; missing ones are marked with `!`, because not everyone sees colours. */
function nodeTable(nodes: readonly ClusterNode[], { zone, nowMs, by, terminal }: NodeTableOptions): string {
  const { colors } = terminal;
  const isShipping = nodes.some(({ archive }) => archive !== undefined);
  const hasLabels = nodes.some(({ labels }) => Object.keys(labels).length > 0);
  const rows = nodes.map(
    (
      { id, role, labels, url, node, state, clock, lastRecordMs, recentErrors, isSelf, problems, archive, ...times },
      index,
    ) => {
      const isSick = isDegraded({ state, problems });
      const isFine = (state === 'up' && !isSick) || state === 'left';
      const name = `${isFine ? ' ' : '!'} ${visibleText(id)}${isSelf ? ' *' : ''}`;
      const errors = recentErrors === null ? '-' : String(recentErrors);
      return [
        ...(by === undefined ? [] : [groupText(labels, by, nodes[index - 1]?.labels)]),
        isFine ? name : colors.red(name),
        visibleText(role),
        ...(hasLabels ? [visibleText(labelsText(labels)) || '-'] : []),
        visibleText(url.replace(/^https?:\/\//, '').replace(/\/$/, '')),
        visibleText(node.version || '-'),
        node.onlineTime > 0 ? formatTime(node.onlineTime - (clock?.offsetMs ?? 0), zone).slice(0, 19) : '-',
        clock === null ? '-' : clockText(clock),
        lastRecordMs === null ? '-' : age(nowMs - lastRecordMs),
        ...(isShipping ? [lagText(archive)] : []),
        recentErrors ? colors.red(errors) : errors,
        `${isFine ? state : colors.red(isSick ? 'degraded' : state)}${lastSeen({ state, ...times }, nowMs)}`,
      ];
    },
  );
  const columns = COLUMNS.flatMap((column) => {
    if (column.title === 'ROLE' && hasLabels) return [column, LABELS];
    return column.title === 'LAST RECORD' && isShipping ? [column, ARCHIVE] : [column];
  });
  return formatTable(
    by === undefined ? columns : [{ title: visibleText(by).toUpperCase() }, ...columns],
    rows,
    terminal,
  );
}

/** How long the oldest record waits to be shipped. */
function lagText(archive: ClusterNode['archive']): string {
  if (archive === undefined) return '-';
  return archive.lagBytes === 0 ? 'complete' : `${span(archive.lagMs)} behind`;
}

function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Only in the first row of a group. */
function groupText(labels: Labels, by: string, before: Labels | undefined): string {
  const value = Object.hasOwn(labels, by) ? labels[by] : undefined;
  return before !== undefined && before[by] === value ? '' : visibleText(value ?? '-');
}

/** Up, but a health check fails: its logs may be incomplete. */
function isDegraded({
  state,
  problems = [],
}: Pick<ClusterNode, 'state'> & Partial<Pick<ClusterNode, 'problems'>>): boolean {
  return state === 'up' && problems.length > 0;
}

/** Two intervals of the default refresh: in a large cluster what is shown of a member is normally younger. */
const OLD_MS = 60_000;

/** The time of departure where known, otherwise when the member was last seen; of one that is up, how old its data is. */
function lastSeen(
  { state, sinceMs, lastSeenMs, asOfMs }: Pick<ClusterNode, 'state' | 'sinceMs' | 'lastSeenMs' | 'asOfMs'>,
  nowMs: number,
) {
  if (state === 'up') return asOfMs !== undefined && nowMs - asOfMs > OLD_MS ? `, as of ${age(nowMs - asOfMs)}` : '';
  if ((state === 'left' || state === 'failed') && sinceMs !== null) return ` ${age(nowMs - sinceMs)}`;
  return lastSeenMs === null ? '' : `, seen ${age(nowMs - lastSeenMs)}`;
}

/** Offset and uncertainty. */
function clockText({ offsetMs, uncertaintyMs }: NonNullable<ClusterNode['clock']>): string {
  const offset = Math.round(offsetMs);
  return `${offset > 0 ? '+' : ''}${offset} ±${Math.ceil(uncertaintyMs)} ms`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

function age(ms: number): string {
  return `${span(ms)} ago`;
}

/** In the largest unit that gives at least two. */
function span(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / unitMs))} ${unit}`;
}
