import type { ClusterNode } from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { showTime } from '../../output/show-time.ts';
import { type Column, tableText } from '../../output/table.ts';
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
  /** By the clock that the times of the nodes are told by. */
  nowMs: number;
  terminal: Terminal;
}

/** One row per node; `!` in front of those that do not answer, because not everyone sees colours. */
export function nodeTable(nodes: readonly ClusterNode[], { zone, nowMs, terminal }: NodeTableOptions): string {
  const { colors } = terminal;
  const rows = nodes.map(({ id, role, url, node, state, clock, lastRecordMs, recentErrors, lastSeenMs, isSelf }) => {
    const isUp = state === 'up';
    const name = `${isUp ? ' ' : '!'} ${visibleText(id)}${isSelf ? ' *' : ''}`;
    const seen = isUp || lastSeenMs === null ? '' : `, seen ${age(nowMs - lastSeenMs)}`;
    const errors = recentErrors === null ? '-' : String(recentErrors);
    return [
      isUp ? name : colors.red(name),
      visibleText(role),
      visibleText(url.replace(/^https?:\/\//, '').replace(/\/$/, '')),
      visibleText(node.version || '-'),
      node.onlineTime > 0 ? showTime(node.onlineTime - (clock?.offsetMs ?? 0), zone).slice(0, 19) : '-',
      clock === null ? '-' : clockText(clock),
      lastRecordMs === null ? '-' : age(nowMs - lastRecordMs),
      recentErrors ? colors.red(errors) : errors,
      `${isUp ? state : colors.red(state)}${seen}`,
    ];
  });
  return tableText(COLUMNS, rows, terminal);
}

/** How far ahead, and how sure. */
function clockText({ offsetMs, uncertaintyMs }: NonNullable<ClusterNode['clock']>): string {
  const offset = Math.round(offsetMs);
  return `${offset > 0 ? '+' : ''}${offset} ±${Math.ceil(uncertaintyMs)} ms`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** In the largest unit that gives two or more. */
function age(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / unitMs))} ${unit} ago`;
}
