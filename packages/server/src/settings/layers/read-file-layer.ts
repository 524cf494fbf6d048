import { dirname } from 'node:path';
import type { TomlTable, TomlValue } from 'smol-toml';
import { closestMatch } from '../problems/closest-match.ts';
import { didYouMean, suggestKey } from '../problems/suggest-key.ts';
import { SECTIONS, SETTINGS_BY_KEY } from '../settings.ts';
import { describeFound, quote } from '../show-value.ts';
import { emptyLayer, type Layer, report, take } from './layer.ts';
import { readSettingsFile } from './read-settings-file.ts';

interface FileLayer extends Layer {
  /** The file's text, empty when it could not be read. */
  text: string;
}

/** What the settings file says. `at` is how messages name it. */
export async function readFileLayer(file: string, at: string): Promise<FileLayer> {
  const layer = emptyLayer('file');
  const read = await readSettingsFile(file);
  if ('code' in read) {
    const { detail, ...rest } = read;
    report(layer, { ...rest, at, text: detail });
    return { ...layer, text: '' };
  }
  const context = { at, baseDir: dirname(file) };
  for (const [section, value] of Object.entries(read.document)) readSection(layer, context, { section, value });
  return { ...layer, text: read.text };
}

interface FileContext {
  at: string;
  baseDir: string;
}

function readSection(
  layer: Layer,
  context: FileContext,
  { section, value }: { section: string; value: TomlValue },
): void {
  const known = SECTIONS.includes(section);
  const path = [section];
  if (isTable(value)) {
    if (known) {
      for (const [name, inner] of Object.entries(value)) readKey(layer, context, { section, name, value: inner });
      return;
    }
    const text = `unknown table ${quote(keyText(section))}${didYouMean(closestMatch(section, SECTIONS))}`;
    report(layer, { code: 'UNKNOWN_KEY', at: context.at, path, text });
    return;
  }
  const text = known
    ? `${section}: expected a table, found ${describeFound(value)}`
    : `unknown key ${quote(keyText(section))}${suggestKey('', section)}`;
  report(layer, { code: known ? 'BAD_VALUE' : 'UNKNOWN_KEY', at: context.at, path, text });
}

function readKey(layer: Layer, context: FileContext, given: { section: string; name: string; value: TomlValue }): void {
  const { section, name, value } = given;
  const path = [section, name];
  const definition = SETTINGS_BY_KEY.get(`${section}.${name}`);
  if (definition === undefined) {
    const text = `unknown key ${quote(keyText(section, name))}${suggestKey(section, name)}`;
    report(layer, { code: 'UNKNOWN_KEY', at: context.at, path, text });
    return;
  }
  take(layer, definition, { reading: definition.kind.fromToml(value, context.baseDir), at: context.at, path });
}

/** A dotted key as TOML writes it: a part that holds a dot itself is in quotes. */
function keyText(...path: string[]): string {
  return path.map((part) => (part.includes('.') ? `'${part}'` : part)).join('.');
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}
