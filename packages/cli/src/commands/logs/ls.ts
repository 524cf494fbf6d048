import { codeOf } from '@porthole/contract';
import { createZone, LogDir, type LogFileDetails, type Zone } from '@porthole/logs';
import { EXIT } from '../../exit-codes.ts';
import type { Invocation } from '../../invocation.ts';
import { showBytes } from '../../output/show-bytes.ts';
import { showTime } from '../../output/show-time.ts';
import { type Column, tableText } from '../../output/table.ts';
import { visibleText } from '../../output/visible-text.ts';
import { ProgramError } from '../../program-error.ts';
import { findPath } from '../../where/find-path.ts';
import { isUrl, openNode } from '../../where/open-node.ts';

/** What is told of a file; a node that only answers the contract tells name and size. */
type Listed = Pick<LogFileDetails, 'name' | 'size'> & Partial<LogFileDetails>;

const COLUMNS: readonly Column[] = [
  { title: 'NAME' },
  { title: 'SIZE', align: 'right' },
  { title: 'STATE' },
  { title: 'FORMAT' },
  { title: 'FIRST' },
  { title: 'LAST' },
];

export async function run(invocation: Invocation): Promise<number> {
  const listed: Listed[] = [];
  let zone = createZone(invocation.text('time-zone') ?? invocation.text('log-zone'));
  for (const where of invocation.args.length > 0 ? invocation.args : [undefined]) {
    const { files, logZone } = await list(invocation, where);
    listed.push(...files);
    if (invocation.text('time-zone') === undefined) zone = logZone;
  }
  const problems = listed.filter(({ problem }) => problem);
  await invocation.terminal.write(textOf(listed, invocation, zone));
  for (const { name, problem } of problems) invocation.terminal.warn(visibleText(`${name}: ${problem}`));
  return problems.length > 0 ? EXIT.partial : EXIT.ok;
}

async function list(invocation: Invocation, where: string | undefined): Promise<{ files: Listed[]; logZone: Zone }> {
  const path = where === undefined || isUrl(where) ? undefined : await findPath(where, false);
  if (path) return listHere(path, createZone(invocation.text('log-zone')));
  if (where !== undefined && !isUrl(where)) throw new ProgramError(`${where}: no such file or directory`);
  const node = await openNode(invocation, where);
  try {
    const files = await node.logFiles();
    return { files, logZone: createZone((await node.describe()).timeZone) };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
    return { files: await node.listLogs(), logZone: createZone(invocation.text('log-zone')) };
  }
}

async function listHere({ dir, file }: { dir: string; file: string | undefined }, zone: Zone) {
  const logs = new LogDir(dir, { zone });
  try {
    const details = await logs.details();
    return { files: details.filter(({ name }) => file === undefined || name === file), logZone: zone };
  } finally {
    await logs.close();
  }
}

function textOf(files: readonly Listed[], invocation: Invocation, zone: Zone): string {
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') return files.map((file) => `${JSON.stringify(file)}\n`).join('');
  if (format === 'names') return files.map(({ name }) => `${name}\n`).join('');
  const time = (timeMs: number | null | undefined) =>
    typeof timeMs === 'number' ? showTime(timeMs, zone).slice(0, 19) : '-';
  const rows = files.map(({ name, size, state = '-', compressed, format: shape = '-', firstTimeMs, lastTimeMs }) => [
    visibleText(name),
    showBytes(size),
    compressed ? `${state}, gz` : state,
    shape,
    time(firstTimeMs),
    time(lastTimeMs),
  ]);
  return tableText(COLUMNS, rows, invocation.terminal);
}
