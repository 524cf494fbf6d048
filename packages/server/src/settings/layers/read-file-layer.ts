import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse, TomlError, type TomlTable, type TomlValue } from 'smol-toml';
import type { SettingsProblemCode } from '../problems/settings-error.ts';
import { closestMatch, didYouMean, suggestKey } from '../problems/suggest-key.ts';
import { SECTIONS, SETTINGS_BY_KEY } from '../settings.ts';
import { describeFound, quote, showText } from '../show-value.ts';
import { emptyLayer, type Layer, report, take } from './read-layers.ts';

interface FileLayer extends Layer {
  /** The file's text, empty when it could not be read. */
  text: string;
}

/** Settings from the file. `at` is its name in messages. */
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

/** A dotted key in TOML: a part that contains a dot is quoted. */
function keyText(...path: string[]): string {
  return path.map((part) => (part.includes('.') ? `'${part}'` : part)).join('.');
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}

/** All settings with their comments take 8 KiB; a far larger file is given by mistake. */
const MAX_FILE_BYTES = 256 * 1024;

/** Settings are two levels deep; the parser recurses, so the depth must be limited. */
const MAX_DEPTH = 32;

type SettingsFile =
  | { text: string; document: TomlTable }
  | { code: SettingsProblemCode; detail: string; line?: number; column?: number };

/** The text and values of the file, or its problem. */
async function readSettingsFile(file: string): Promise<SettingsFile> {
  let bytes: Buffer;
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const unfit = await whyUnfit(handle);
    if (unfit !== undefined) return { code: 'FILE_UNREADABLE', detail: unfit };
    bytes = await handle.readFile();
  } catch (thrown) {
    return explainFailure(thrown);
  }
  return parseBytes(bytes);
}

async function whyUnfit(handle: FileHandle): Promise<string | undefined> {
  const stats = await handle.stat();
  if (stats.isDirectory()) return 'is a directory, not a file';
  if (!stats.isFile()) return 'is not a regular file';
  if (stats.size > MAX_FILE_BYTES) return `is too large for a settings file (${stats.size} of ${MAX_FILE_BYTES} bytes)`;
  return undefined;
}

function explainFailure(thrown: unknown): SettingsFile {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { code: 'FILE_MISSING', detail: 'no such file' };
  if (code === 'EACCES' || code === 'EPERM') return { code: 'FILE_UNREADABLE', detail: 'no permission to read it' };
  return { code: 'FILE_UNREADABLE', detail: `cannot be read (${showText(code)})` };
}

function parseBytes(bytes: Buffer): SettingsFile {
  let text: string;
  try {
    // Drops a byte order mark as well.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { code: 'SYNTAX', detail: 'is not UTF-8 text' };
  }
  try {
    return { text, document: parse(text, { integersAsBigInt: true, maxDepth: MAX_DEPTH }) };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // The rest of the parser's message quotes the lines around, which may hold secrets.
    const reason = (thrown.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
    const { line, column } = thrown;
    return { code: 'SYNTAX', detail: `not valid TOML: ${showText(reason)}`, line, column };
  }
}
