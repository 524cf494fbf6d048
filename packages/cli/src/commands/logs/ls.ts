import { basename, join } from 'node:path';
import { type ClusterLogFiles, formatBytes, pickMembers } from '@porthole/contract';
import { createZone, type Zone } from '@porthole/logs';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { Receipt } from '../../records/receipt.ts';
import { isUrl } from '../../sources/endpoint.ts';
import { isJournal } from '../../sources/find-path.ts';
import { type LogSource, selectedLog, withoutNode } from '../../sources/log-source.ts';
import { openSources } from '../../sources/open-sources.ts';
import { memberSelection } from '../../sources/source-flags.ts';

type LogFile = ClusterLogFiles['files'][number];

/** Of several nodes, each with its node. */
type ListedFile = Omit<LogFile, 'node'> &
  Partial<Pick<LogFile, 'node'>> & {
    /** The argument it was listed for, where there are several. */
    target?: string;
  };

const COLUMNS: readonly Column[] = [
  { title: 'NAME', minWidth: 16 },
  { title: 'SIZE', align: 'right' },
  { title: 'STATE', hideRank: 2 },
  { title: 'FORMAT', hideRank: 3 },
  { title: 'FIRST', hideRank: 4 },
  { title: 'LAST', hideRank: 1, minWidth: 19 },
];

export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const journal = args.find(isJournal);
  if (journal !== undefined)
    throw new ProgramError(
      `${journal} has no files; "porthole logs ${journal}" reads it, "journalctl --field=_SYSTEMD_UNIT" lists its units`,
    );
  const receipt = new Receipt();
  const listed: ListedFile[] = [];
  const { sources, close } = await openSources(
    invocation,
    args,
    args.length === 0 ? memberSelection(invocation) : undefined,
  );
  try {
    for (const source of sources) listed.push(...(await list(source, receipt, { isOneOfMany: args.length > 1 })));
  } finally {
    await close();
  }
  const named = invocation.text('time-zone');
  const zone = named === undefined ? sources.at(-1)?.zone : createZone(named);
  const problems = listed.filter(({ problem }) => problem);
  await terminal.write(formatFiles(listed, invocation, zone ?? createZone()));
  for (const file of problems) terminal.warn(visibleText(`${fileLabel(file)}: ${file.problem}`));
  receipt.warn(terminal);
  return problems.length > 0 || receipt.isPartial ? EXIT.partial : EXIT.ok;
}

async function list(
  source: LogSource,
  receipt: Receipt,
  { isOneOfMany }: { isOneOfMany: boolean },
): Promise<ListedFile[]> {
  const file = selectedLog(source)?.name;
  const response = await source.state.logFiles(pickMembers(source.selection));
  receipt.add(response, source);
  const files = response.files.filter(({ name }) => file === undefined || name === file);
  if (files.length === 0 && file !== undefined && !receipt.isPartial)
    throw new ProgramError(`no log file named ${JSON.stringify(file)}`);
  return files.map((each) => ({
    ...(source.nodes ? each : withoutNode(each)),
    ...(isOneOfMany && { target: source.label }),
  }));
}

function formatFiles(files: readonly ListedFile[], invocation: Invocation, zone: Zone): string {
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') return files.map((file) => `${JSON.stringify(file)}\n`).join('');
  if (format === 'names') return files.map((file) => `${fileLabel(file)}\n`).join('');
  const time = (timeMs: number | null | undefined) =>
    typeof timeMs === 'number' ? formatTime(timeMs, zone).slice(0, 19) : '-';
  const hasNodes = files.some(({ node }) => node !== undefined);
  const rows = files.map((file) => [
    ...(hasNodes ? [visibleText(file.node ?? '-')] : []),
    visibleText(fileName(file)),
    formatBytes(file.size),
    file.compressed ? `${file.state}, ${visibleText(nameSuffix(file.name))}` : file.state,
    file.format ?? '-',
    time(file.firstTimeMs),
    time(file.lastTimeMs),
  ]);
  return formatTable([...(hasNodes ? [{ title: 'NODE', minWidth: 8 }] : []), ...COLUMNS], rows, invocation.terminal);
}

/** Without its dot: `gz`, `zst`. */
function nameSuffix(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}

/** A name that other commands accept. */
function fileLabel(file: ListedFile): string {
  return file.node === undefined ? fileName(file) : `${file.node}:${file.name}`;
}

/** A file of several directories or nodes is named with the one it is in: names may be the same. */
function fileName({ node, name, target }: ListedFile): string {
  if (target === undefined || node !== undefined || basename(target) === name) return target ?? name;
  return isUrl(target) ? `${new URL(target).host}/${name}` : join(target, name);
}
