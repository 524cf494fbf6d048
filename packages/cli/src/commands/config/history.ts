import {
  type ConfigPeriod,
  coverageOf,
  failures,
  missingText,
  readTime,
  reportText,
  type SettingJson,
  type VersionChange,
} from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { openTimed, shownTimes } from '../../records/record-flags.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster } from '../../sources/query-cluster.ts';

const DEFAULT_LIMIT = 20;

interface NodePeriod extends ConfigPeriod {
  node: string;
}

/** Prints when the configurations of nodes have changed, and how. */
export async function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const { terminal, args } = invocation;
  const { client, zone } = await openTimed(invocation, signal);
  const [key] = args;
  const limit = invocation.number('limit') ?? DEFAULT_LIMIT;
  const { nodes, members } = await queryCluster(client, (cluster) =>
    cluster.configHistory(
      { nodes: ['*'], limit, ...(key !== undefined && { key }), ...selection(invocation) },
      { signal },
    ),
  );
  const periods = nodes
    .flatMap(({ id, history }) => (history?.periods ?? []).map((period): NodePeriod => ({ ...period, node: id })))
    .sort((a, b) => a.fromMs - b.fromMs)
    .slice(-limit);
  if (invocation.text('output') === 'json')
    await terminal.write(periods.map((period) => `${JSON.stringify(period)}\n`).join(''));
  else await terminal.write(periods.map((period) => periodText(period, zone, key)).join(''));
  for (const { id, history } of nodes)
    if (history && !history.isComplete) terminal.warn(visibleText(`${id}: older configurations are no longer known`));
  const missing = failures(coverageOf({ members }));
  for (const part of missing) terminal.warn(visibleText(missingText(part)));
  if (missing.length > 0) return EXIT.partial;
  return periods.length === 0 ? EXIT.different : EXIT.ok;
}

/** Prints the configuration of a node as it was at a time. */
export async function runAt(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const { terminal, args } = invocation;
  const [text = '', ...keys] = args;
  const client = await openNode(invocation);
  const id = invocation.text('node');
  const node = id === undefined ? client : client.node(id);
  const { zone, clock } = await shownTimes(invocation, client, signal);
  const reading = readTime(text, clock);
  if (!('timeMs' in reading)) throw new ProgramError(`invalid time ${JSON.stringify(text)}: ${reading.problem}`);
  const { timeMs: atMs } = reading;
  const { nodes, members } = await node.configHistory({ atMs, limit: 1 }, { signal });
  const history = nodes[0]?.history;
  if (!history) throw new ProgramError(`its past configurations are not known: ${members.map(reportText).join('; ')}`);
  const [period] = history.periods;
  if (!period)
    throw new ProgramError(
      `no configuration of ${formatTime(atMs, zone)} is known; "porthole config history" lists them`,
    );
  const { config, settings } = await node.configVersion(period.version, { signal });
  const until = period.toMs === null ? 'still in use' : `until ${formatTime(period.toMs, zone)}`;
  terminal.note(`configuration since ${formatTime(period.fromMs, zone)}, ${until}`);
  if (keys.length === 0) {
    await terminal.write(config.endsWith('\n') ? config : `${config}\n`);
    return EXIT.ok;
  }
  const isWanted = (key: string) => keys.some((wanted) => key === wanted || key.startsWith(`${wanted}.`));
  const found = settings.filter(({ key }) => isWanted(key));
  await terminal.write(found.map(({ key, value }) => `${key} = ${JSON.stringify(value)}\n`).join(''));
  return found.length === 0 ? EXIT.different : EXIT.ok;
}

function selection(invocation: Invocation): { nodes?: string[] } {
  const id = invocation.text('node');
  return id === undefined ? {} : { nodes: [id] };
}

function periodText({ node, fromMs, changes }: NodePeriod, zone: Zone, key: string | undefined): string {
  const head = `${formatTime(fromMs, zone)}  ${visibleText(node)}`;
  if (changes === null) return `${head}  first configuration that is known\n`;
  const isWanted = (change: VersionChange) =>
    key === undefined || change.key === key || change.key.startsWith(`${key}.`);
  const lines = changes.filter(isWanted).map((change) => `  ${changeText(change)}\n`);
  return `${head}\n${lines.join('')}`;
}

function changeText({ key, before, after }: VersionChange): string {
  if (before === null) return visibleText(`+ ${key} = ${valueText(after)}`);
  if (after === null) return visibleText(`- ${key} = ${valueText(before)}`);
  return visibleText(`  ${key}: ${valueText(before)} -> ${valueText(after)}`);
}

function valueText(value: SettingJson | null): string {
  return JSON.stringify(value);
}
