import { SETTING_DEFINITIONS, type SettingDefinition } from '@porthole/server/settings';
import type { FlagDefinition } from '../../command-definition.ts';
import type { FlagValue } from '../../invocation.ts';

/** The most used flags come first in the help; the others follow in the order of the settings. */
const COMMON_KEYS = ['service.log-dir', 'service.config-file', 'http.host', 'http.port', 'grpc.port', 'logging.level'];

const rank = ({ key }: SettingDefinition) =>
  COMMON_KEYS.includes(key) ? COMMON_KEYS.indexOf(key) : COMMON_KEYS.length;

/** Every setting is a flag. */
export const SERVE_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'config',
    value: 'file',
    complete: 'file',
    about: 'settings file (TOML) of this node; also PORTHOLE_CONFIG',
  },
  { long: 'demo', about: 'also run a demo cluster on free ports; the console links to it' },
  ...[...SETTING_DEFINITIONS].sort((a, b) => rank(a) - rank(b)).map(toFlag),
];

function toFlag({ key, flag, about, kind, default: byDefault }: SettingDefinition): FlagDefinition {
  const shown = kind.toJson(byDefault).toString();
  const value = kind.name
    .replace(/^one of /, '')
    .replaceAll(', ', '|')
    .replaceAll(' ', '-');
  const isSwitch = kind.shape === 'switch';
  // Of numbers, sizes and the like the default says best how they are written.
  const isTyped = /^(?:port|integer|size|duration|list of)\b/.test(kind.name) && /^\S+$/.test(shown);
  return {
    long: flag.slice(2),
    value: isSwitch ? 'on' : value,
    ...(isTyped && { complete: [shown] }),
    ...(isSwitch && { alone: 'true', complete: ['true', 'false'] }),
    ...(kind.shape === 'list' && { many: true }),
    ...(shown !== '' && { default: shown }),
    ...(/(file|dir)$/.test(key) && { complete: key.endsWith('dir') ? 'directory' : 'file' }),
    about: about.replaceAll('`', ''),
  };
}

/** The settings given as flags, by key. */
export function settingsFromFlags(flags: Readonly<Record<string, FlagValue>>): Record<string, FlagValue> {
  const settings: Record<string, FlagValue> = {};
  for (const { key, flag } of SETTING_DEFINITIONS) {
    const value = flags[flag.slice(2)];
    if (value !== undefined) settings[key] = value;
  }
  return settings;
}
