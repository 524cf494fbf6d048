import { basename, join } from 'node:path';
import { type ClusterLogFiles, codeOf, formatBytes, type MemberSelection } from '@porthole/contract';
import { createZone, LogDir, type LogFileDetails, type Zone } from '@porthole/logs';
import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { Receipt } from '../../records/receipt.ts';
import { isUrl } from '../../sources/endpoint.ts';
import { findPath, isJournal, type LocalPath } from '../../sources/find-path.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster, resolveNodeRef } from '../../sources/query-cluster.ts';
import { localOptions, memberSelection } from '../../sources/source-flags.ts';

/** A node that only implements the contract lists name and size. */
type ListedFile = Pick<LogFileDetails, 'name' | 'size'> &
  Partial<Omit<ClusterLogFiles['files'][number], 'name' | 'size'>> & {
    /** The argument it was listed for, where there are several. */
    target?: string;
  };

interface Listing {
  files: ListedFile[];
  logZone: Zone;
}

const COLUMNS: readonly Column[] = [
  { title: 'NAME', minWidth: 16 },
  { title: 'SIZE', align: 'right' },
  { title: 'STATE', hideRank: 2 },
  { title: 'FORMAT', hideRank: 3 },
  { title: 'FIRST', hideRank: 4 },
  { title: 'LAST', hideRank: 1, minWidth: 19 },
];

export async function run(invocation: Invocation): Promise<number> {
  const listed: ListedFile[] = [];
  const receipt = new Receipt();
  let zone = createZone(invocation.text('time-zone') ?? invocation.text('log-zone'));
  for (const where of invocation.args.length > 0 ? invocation.args : [undefined]) {
    const { files, logZone } = await list(invocation, where, receipt);
    const isOneOfMany = where !== undefined && invocation.args.length > 1;
    listed.push(...(isOneOfMany ? files.map((file) => ({ ...file, target: where })) : files));
    if (invocation.text('time-zone') === undefined) zone = logZone;
  }
  const problems = listed.filter(({ problem }) => problem);
  await invocation.terminal.write(formatFiles(listed, invocation, zone));
  for (const file of problems) invocation.terminal.warn(visibleText(`${fileLabel(file)}: ${file.problem}`));
  receipt.warn(invocation.terminal);
  return problems.length > 0 || receipt.isPartial ? EXIT.partial : EXIT.ok;
}

async function list(invocation: Invocation, where: string | undefined, receipt: Receipt): Promise<Listing> {
  const isAddress = where !== undefined && isUrl(where);
  const selection = memberSelection(invocation);
  if (invocation.isOn('all') || Object.keys(selection).length > 0)
    return listMembers(invocation, { file: where, ...selection }, receipt);
  if (where !== undefined && isJournal(where))
    throw new ProgramError(
      `${where} has no files; "porthole logs ${where}" reads it, "journalctl --field=_SYSTEMD_UNIT" lists its units`,
    );
  const path = where === undefined || isAddress ? undefined : await findPath(where, false);
  if (path) return listLocal(path, invocation);
  const ref = where?.includes(':') && !isAddress ? await resolveNodeRef(await openNode(invocation), where) : undefined;
  if (ref) return listMembers(invocation, { nodes: [ref.node], file: ref.file }, receipt);
  if (where !== undefined && !isAddress) throw new ProgramError(`${where}: no such file or directory`);
  const node = await openNode(invocation, where);
  try {
    const { files } = await node.logFiles();
    const own = files.map(({ node: _node, ...file }) => file);
    return { files: own, logZone: createZone((await node.describe()).timeZone) };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
    return { files: await node.listLogs(), logZone: createZone(invocation.text('log-zone')) };
  }
}

/** Lists the files of cluster members; `file` may be the URL of the node to query. */
async function listMembers(
  invocation: Invocation,
  { file, ...members }: MemberSelection & { file: string | undefined },
  receipt: Receipt,
): Promise<Listing> {
  const isAddress = file !== undefined && isUrl(file);
  const node = await openNode(invocation, isAddress ? file : undefined);
  const response = await queryCluster(node, (cluster) => cluster.logFiles({ nodes: ['*'], ...members }));
  receipt.add(response);
  const files = response.files.filter(({ name }) => file === undefined || isAddress || name === file);
  return { files, logZone: createZone((await node.describe()).timeZone) };
}

async function listLocal({ dir, file }: LocalPath, invocation: Invocation): Promise<Listing> {
  const zone = createZone(invocation.text('log-zone'));
  const logs = new LogDir(dir, await localOptions(invocation, zone));
  try {
    const details = await logs.details();
    return { files: details.filter(({ name }) => file === undefined || name === file), logZone: zone };
  } finally {
    await logs.close();
  }
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
    file.compressed ? `${file.state}, ${visibleText(nameSuffix(file.name))}` : (file.state ?? '-'),
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
