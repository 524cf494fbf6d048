import type { ClusterNode } from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { type Column, formatTable } from '../../output/format-table.ts';
import { formatTime } from '../../output/format-time.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

const COLUMNS: readonly Column[] = [
  { title: '  NODE' },
  { title: 'ROLE' },
  { title: 'ADDRESS' },
  { title: 'VERSION' },
  { title: 'UP SINCE' },
  { title: 'CLOCK', align: 'right' },
  { title: 'LAST RECORD', align: 'right' },
  { title: 'ERRORS', align: 'right' },
  { title: 'STATE' },
];

export interface NodeTableOptions {
  zone: Zone;
  /** By the clock of the queried node, like all times of the response. */
  nowMs: number;
  terminal: Terminal;
}

/** One row per node; missing ones are marked with `!`, because not everyone sees colours. */
export function nodeTable(nodes: readonly ClusterNode[], { zone, nowMs, terminal }: NodeTableOptions): string {
  const { colors } = terminal;
  const rows = nodes.map(
    ({ id, role, url, node, state, clock, lastRecordMs, recentErrors, isSelf, problems, ...times }) => {
      const isSick = isDegraded({ state, problems });
      const isFine = (state === 'up' && !isSick) || state === 'left';
      const name = `${isFine ? ' ' : '!'} ${visibleText(id)}${isSelf ? ' *' : ''}`;
      const errors = recentErrors === null ? '-' : String(recentErrors);
      return [
        isFine ? name : colors.red(name),
        visibleText(role),
        visibleText(url.replace(/^https?:\/\//, '').replace(/\/$/, '')),
        visibleText(node.version || '-'),
        node.onlineTime > 0 ? formatTime(node.onlineTime - (clock?.offsetMs ?? 0), zone).slice(0, 19) : '-',
        clock === null ? '-' : clockText(clock),
        lastRecordMs === null ? '-' : age(nowMs - lastRecordMs),
        recentErrors ? colors.red(errors) : errors,
        `${isFine ? state : colors.red(isSick ? 'degraded' : state)}${lastSeen({ state, ...times }, nowMs)}`,
      ];
    },
  );
  return formatTable(COLUMNS, rows, terminal);
}

/** Up, but a health check fails: its logs may be incomplete. */
export function isDegraded({
  state,
  problems = [],
}: Pick<ClusterNode, 'state'> & Partial<Pick<ClusterNode, 'problems'>>): boolean {
  return state === 'up' && problems.length > 0;
}

/** The time of departure where known, otherwise when the member was last seen. */
function lastSeen(
  { state, sinceMs, lastSeenMs }: Pick<ClusterNode, 'state' | 'sinceMs' | 'lastSeenMs'>,
  nowMs: number,
) {
  if (state === 'up') return '';
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

/** In the largest unit that gives at least two. */
function age(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / unitMs))} ${unit} ago`;
}
