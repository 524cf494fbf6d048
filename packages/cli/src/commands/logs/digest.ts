import { type ClusterDigest, exactJson } from '@porthole/contract';
import type { Digest, DigestQuery, Zone } from '@porthole/logs';
import { interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { countRecords } from '../../records/count-records.ts';
import { recordFilter, sourceClock, timeFlag } from '../../records/record-flags.ts';
import type { LogSource } from '../../sources/log-source.ts';

const DEFAULT_GROUPS = 50;

const COUNT_COLUMN: Column = { title: 'COUNT', align: 'right' };

const GROUP_COLUMNS: readonly Column[] = [
  { title: 'LEVEL' },
  { title: 'WHERE', minWidth: 12 },
  { title: 'FIRST', hideRank: 3 },
  { title: 'LAST', hideRank: 2 },
  { title: 'NEWEST' },
];

/** More would leave no room for the other columns. */
const SHOWN_NODES = 2;

/** Prints groups of similar records with their counts. */
export function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  return countRecords(invocation, {
    query: (source, zone) => source.state.logDigest(buildQuery(invocation, source, zone), { signal }),
    text: (digest, zone, target) => formatDigest(digest, invocation, { zone, target }),
    isEmpty: ({ groups }) => groups.length === 0,
    signal,
  });
}

function buildQuery(invocation: Invocation, source: LogSource, zone: Zone): DigestQuery {
  const newSinceMs = timeFlag(invocation, 'new-since', sourceClock(source, zone));
  const onlyNew = invocation.isOn('only-new');
  if (onlyNew && newSinceMs === undefined) throw new ProgramError('--only-new needs --new-since');
  return {
    ...source.selection,
    ...recordFilter(invocation, source, zone),
    limit: invocation.number('limit') ?? DEFAULT_GROUPS,
    ...(newSinceMs !== undefined && { newSinceMs }),
    ...(onlyNew && { onlyNew }),
  };
}

function formatDigest(
  digest: Digest | ClusterDigest,
  invocation: Invocation,
  { zone, target }: { zone: Zone; target: string | undefined },
): string {
  const { groups, totalGroups, ungrouped, baseline } = digest;
  if (invocation.text('output') === 'json')
    return `${exactJson({ ...digest, ...(target !== undefined && { target }) })}\n`;
  const time = (timeMs: number | null) => (timeMs === null ? '-' : formatTime(timeMs, zone).slice(0, 19));
  const isCluster = 'members' in digest;
  const rows = groups.map(({ level, source, shape, count, firstMs, lastMs, isNew, isNewUnknown, sample, ...more }) => [
    String(count),
    ...(isCluster ? [formatNodes('nodes' in more ? more.nodes : {})] : []),
    level ?? '-',
    `${isNewUnknown || (isNew && !baseline) ? '? ' : isNew ? '* ' : ''}${visibleText(source ?? shape ?? '-')}`,
    time(firstMs),
    time(lastMs),
    visibleText(sample.message).replace(/\s+/g, ' '),
  ]);
  const columns = [COUNT_COLUMN, ...(isCluster ? [{ title: 'NODES', hideRank: 1 }] : []), ...GROUP_COLUMNS];
  const { terminal } = invocation;
  if (totalGroups > groups.length)
    terminal.note(
      `${isCluster ? 'about ' : ''}${totalGroups - groups.length} smaller groups not shown; raise --limit to see them`,
    );
  if (ungrouped > 0) terminal.note(`${ungrouped} records not grouped: too many groups`);
  for (const note of newNotes(digest, invocation, time)) terminal.note(note);
  return groups.length === 0 ? '' : formatTable(columns, rows, terminal);
}

/** What the marks mean, and what they rest on. */
function newNotes(
  { groups, baseline }: Digest | ClusterDigest,
  invocation: Invocation,
  time: (timeMs: number) => string,
): string[] {
  if (invocation.text('new-since') === undefined) return [];
  if (!baseline) return ['? marks groups that may be new: a node of an earlier version compares only since --since'];
  const { fromMs, isComplete, detail = 'for an unknown reason' } = baseline;
  const compared = fromMs === null ? 'nothing older matches' : `compared with records since ${time(fromMs)}`;
  return [
    ...(groups.some(({ isNew }) => isNew) ? [`* marks new groups; ${compared}`] : []),
    ...(groups.some(({ isNewUnknown }) => isNewUnknown) ? ['? marks groups that may be new'] : []),
    ...(isComplete ? [] : [`not known what else is new: older records were not all read: ${visibleText(detail)}`]),
  ];
}

/** Count per node, largest first. */
function formatNodes(nodes: Readonly<Record<string, number>>): string {
  const loudest = Object.entries(nodes).sort(([, a], [, b]) => b - a);
  const shown = loudest.slice(0, SHOWN_NODES).map(([id, count]) => `${visibleText(id)} ${count}`);
  const more = loudest.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`;
}
