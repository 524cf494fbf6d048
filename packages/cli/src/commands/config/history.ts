import {
  type ConfigPeriod,
  coverageOf,
  failures,
  missingText,
  readTime,
  type SettingJson,
  type VersionChange,
} from '@porthole/contract';
import type { Zone } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatTime } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { openTimed } from '../../records/record-flags.ts';

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
  const request = { limit, ...(key !== undefined && { key }), nodes: [invocation.text('node') ?? '*'] };
  const { nodes, members } = await client.configHistory(request, { signal });
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
  const { client, zone, clock } = await openTimed(invocation, signal);
  const id = invocation.text('node');
  const selected = id === undefined ? {} : { nodes: [id] };
  const reading = readTime(text, clock);
  if (!('timeMs' in reading)) throw new ProgramError(`invalid time ${JSON.stringify(text)}: ${reading.problem}`);
  const { timeMs: atMs } = reading;
  const { nodes, members } = await client.configHistory({ ...selected, atMs, limit: 1 }, { signal });
  const [period] = nodes[0]?.history?.periods ?? [];
  const [missing] = failures(coverageOf({ members }));
  if (!period && missing) throw new ProgramError(visibleText(missingText(missing)));
  if (!period)
    throw new ProgramError(
      `no configuration of ${formatTime(atMs, zone)} is known; "porthole config history" lists them`,
    );
  const { config, settings } = await (id === undefined ? client : client.node(id)).configVersion(period.version, {
    signal,
  });
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
