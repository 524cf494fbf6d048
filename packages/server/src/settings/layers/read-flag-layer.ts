import type { Reading, SettingScalar } from '../kinds/setting-kind.ts';
import { suggestKey } from '../problems/suggest-key.ts';
import { SETTINGS_BY_KEY, type SettingDefinition } from '../settings.ts';
import { quote, showText } from '../show-value.ts';
import { emptyLayer, type Layer, report, take } from './layer.ts';

export type FlagValue = string | boolean | readonly string[];

/** What the command line says, by setting key. */
export function readFlagLayer(flags: Readonly<Record<string, FlagValue>>, baseDir: string): Layer {
  const layer = emptyLayer('flag');
  for (const [key, value] of Object.entries(flags)) {
    const definition = SETTINGS_BY_KEY.get(key);
    if (definition === undefined) {
      const [section = '', name = ''] = key.split('.', 2);
      const text = `unknown setting ${quote(key)}${suggestKey(section, name)}`;
      report(layer, { code: 'UNKNOWN_KEY', at: `flag ${showText(key)}`, text });
      continue;
    }
    const at = `flag ${definition.flag}`;
    const reading = readFlag(definition, value, baseDir);
    if (typeof reading === 'string') report(layer, { code: 'BAD_VALUE', at, key, text: reading });
    else take(layer, definition, { reading, at });
  }
  return layer;
}

/** The value, its refusal, or what is wrong with the way it was given. */
function readFlag(definition: SettingDefinition, value: FlagValue, baseDir: string): Reading<SettingScalar> | string {
  const { kind } = definition;
  if (typeof value === 'boolean') return kind.shape === 'switch' ? { value } : 'needs a value';
  const texts = typeof value === 'string' ? [value] : value;
  if (kind.shape === 'list') return kind.fromText(texts.join(','), baseDir);
  const [text] = texts;
  if (text === undefined) return 'needs a value';
  if (texts.length > 1) return `given ${texts.length} times, but takes one value`;
  // Unlike in the environment an empty text counts: on a command line it was written on purpose.
  return kind.fromText(text, baseDir);
}
