import { SETTING_DEFINITIONS, type SettingDefinition } from '@porthole/server/settings';
import { type Command, Option } from 'commander';
import { runNode } from './run-node.ts';

/** Flags that most people need come first in the help; all others follow in the order of the settings. */
const COMMON_KEYS = ['service.log-dir', 'service.config-file', 'http.host', 'http.port', 'grpc.port', 'logging.level'];

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('run a node; without any flag it shows itself on http://127.0.0.1:7300/')
    .option('--config <file>', 'settings file (TOML) of this node; also PORTHOLE_CONFIG');
  const rank = ({ key }: SettingDefinition) =>
    COMMON_KEYS.includes(key) ? COMMON_KEYS.indexOf(key) : COMMON_KEYS.length;
  const definitions = [...SETTING_DEFINITIONS].sort((a, b) => rank(a) - rank(b));
  for (const definition of definitions) command.addOption(toOption(definition));
  command.addHelpText('after', HELP).action(async (options: Record<string, FlagValue>) => {
    const { config, ...rest } = options;
    await runNode({ file: config as string | undefined, flags: byKey(rest) });
  });
}

type FlagValue = string | boolean | string[];

const HELP = `
Flags win over environment variables (PORTHOLE_HTTP_PORT, ...), these over the settings file.
Exit codes: 0 stopped by SIGTERM or SIGINT, 2 could not start, 130 a second signal ended it at once.

Examples:
  porthole serve                                                     show this node itself
  porthole serve --log-dir /var/log/lindb --service-config /etc/lindb/broker.toml
  porthole serve --config porthole.toml --http-port 0 --grpc-port 0`;

function toOption({ flag, about, kind, default: byDefault }: SettingDefinition): Option {
  const shown = kind.toJson(byDefault).toString();
  const help = `${about.replaceAll('`', '')}${shown === '' ? '' : ` (default: ${shown})`}`;
  if (kind.shape === 'switch') return new Option(`${flag} [on]`, help);
  const placeholder = kind.name
    .replace(/^one of /, '')
    .replaceAll(', ', '|')
    .replaceAll(' ', '-');
  const option = new Option(`${flag} <${placeholder}>`, help);
  if (kind.shape === 'value') return option;
  return option.argParser((text: string, before?: string[]) => [...(before ?? []), text]);
}

/** Commander names options by their camel-cased flag; settings want their key. */
function byKey(options: Readonly<Record<string, FlagValue>>): Record<string, FlagValue> {
  const flags: Record<string, FlagValue> = {};
  for (const { key, flag } of SETTING_DEFINITIONS) {
    const value = options[new Option(flag).attributeName()];
    if (value !== undefined) flags[key] = value;
  }
  return flags;
}
