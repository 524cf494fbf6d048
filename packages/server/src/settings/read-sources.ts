import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SettingSource } from '@porthole/contract';
import { parse, TomlError, type TomlTable } from 'smol-toml';
import { asToml, type Notation, type Reading, refusalText, type SettingScalar } from './setting-kinds.ts';
import { SECTIONS, SETTING_DEFINITIONS, SETTINGS_BY_KEY, type SettingDefinition } from './settings.ts';
import type { Finding } from './settings-error.ts';
import { describeFound, quote, showText } from './show-value.ts';
import { closestMatch, didYouMean, suggestKey, suggestProperty } from './suggest-key.ts';

/** The values of one source. */
export interface Layer {
  source: SettingSource;
  values: Map<string, SettingScalar>;
  findings: Finding[];
  warnings: string[];
  /** The text of the file; empty for other sources and when it could not be read. */
  text: string;
}

/** Where a setting was set, for the reader. */
export function describeOrigin(definition: SettingDefinition, source: SettingSource, fileName: string): string {
  const origins: Record<SettingSource, string> = {
    default: 'default',
    file: fileName,
    env: `environment ${definition.env}`,
    flag: `flag ${definition.flag}`,
    option: `option ${definition.section}.${definition.property}`,
  };
  return origins[source];
}

function emptyLayer(source: SettingSource): Layer {
  return { source, values: new Map(), findings: [], warnings: [], text: '' };
}

function report(layer: Layer, finding: Omit<Finding, 'source'>): void {
  layer.findings.push({ ...finding, source: layer.source });
}

interface Location {
  at: string;
  path?: readonly string[];
}

/** Adds the value to the layer, or reports why it was refused. */
function take(layer: Layer, definition: SettingDefinition, reading: Reading<SettingScalar>, location: Location): void {
  if (!('refused' in reading)) {
    layer.values.set(definition.key, reading.value);
    return;
  }
  const refusal = refusalText(reading, definition);
  const text = location.path === undefined ? refusal : `${definition.key}: ${refusal}`;
  report(layer, { code: 'BAD_VALUE', ...location, key: definition.key, text });
}

/** A source with sections and values: the file, the options of a program. */
interface Tree {
  notation: Notation;
  locate(...path: string[]): Location;
  isSection(value: unknown): value is object;
  findSetting(section: string, name: string): SettingDefinition | undefined;
  /** The message about a section that is unknown or has the wrong type. */
  wrongSection(section: string, value: unknown, known: boolean): string;
  unknownSetting(section: string, name: string): string;
}

function readTree(layer: Layer, sections: object, tree: Tree): void {
  for (const [section, value] of definedEntries(sections)) {
    const known = SECTIONS.includes(section);
    if (!known || !tree.isSection(value)) {
      const text = tree.wrongSection(section, value, known);
      report(layer, { code: known ? 'BAD_VALUE' : 'UNKNOWN_KEY', ...tree.locate(section), text });
      continue;
    }
    for (const [name, inner] of definedEntries(value)) {
      const location = tree.locate(section, name);
      const definition = tree.findSetting(section, name);
      if (definition !== undefined) take(layer, definition, definition.kind.read(inner, tree.notation), location);
      else report(layer, { code: 'UNKNOWN_KEY', ...location, text: tree.unknownSetting(section, name) });
    }
  }
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, inner]) => inner !== undefined);
}

/** Settings from the file. `at` is its name in messages. */
export async function readFileLayer(file: string, at: string): Promise<Layer> {
  const layer = emptyLayer('file');
  const read = await readSettingsFile(file);
  if ('code' in read) {
    report(layer, { ...read, at });
    return layer;
  }
  readTree(layer, read.document, {
    notation: { form: 'toml', baseDir: dirname(file) },
    locate: (...path) => ({ at, path }),
    isSection: isTable,
    findSetting: (section, name) => SETTINGS_BY_KEY.get(`${section}.${name}`),
    wrongSection: (section, value, known) => {
      if (known) return `${section}: expected a table, found ${describeFound(value)}`;
      return isTable(value)
        ? `unknown table ${quote(keyText(section))}${didYouMean(closestMatch(section, SECTIONS))}`
        : `unknown key ${quote(keyText(section))}${suggestKey('', section)}`;
    },
    unknownSetting: (section, name) => `unknown key ${quote(keyText(section, name))}${suggestKey(section, name)}`,
  });
  return { ...layer, text: read.text };
}

/** A dotted key in TOML: a part that contains a dot is quoted. */
function keyText(...path: string[]): string {
  return path.map((part) => (part.includes('.') ? `'${part}'` : part)).join('.');
}

function isTable(value: unknown): value is TomlTable {
  return isRecord(value) && !(value instanceof Date);
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Settings from the embedding program. It may be JavaScript, so the object is validated completely. */
export function readOptionLayer(options: object, baseDir: string): Layer {
  const layer = emptyLayer('option');
  const notation = { form: 'option', baseDir } as const;
  readTree(layer, options, {
    notation,
    locate: (...path) => ({ at: `option ${path.map(showText).join('.')}` }),
    isSection: isRecord,
    findSetting: (section, property) =>
      SETTING_DEFINITIONS.find((definition) => definition.section === section && definition.property === property),
    wrongSection: (section, value, known) =>
      known
        ? `expected an object, found ${describeFound(asToml(value, notation))}`
        : `unknown section${didYouMean(closestMatch(section, SECTIONS))}`,
    unknownSetting: (section, property) => `unknown setting${suggestProperty(section, property)}`,
  });
  return layer;
}

const PREFIX = 'PORTHOLE_';

/** Read by the command line and the loader; not settings. */
const OTHER_VARIABLES = new Set(['PORTHOLE_URL', 'PORTHOLE_TOKEN', 'PORTHOLE_CONFIG']);

/** Kubernetes puts `PORTHOLE_HTTP_PORT=tcp://10.0.0.1:80` into every pod beside a service named `porthole-http`. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

/** Settings from the environment. An empty variable counts as not set: compose files and charts pass such on. */
export function readEnvLayer(env: Readonly<Record<string, string | undefined>>, baseDir: string): Layer {
  const layer = emptyLayer('env');
  for (const definition of SETTING_DEFINITIONS) {
    const text = env[definition.env];
    if (text === undefined || text === '') continue;
    const at = describeOrigin(definition, 'env', '');
    if (definition.kind.name === 'port' && SERVICE_LINK.test(text)) {
      layer.warnings.push(`${at}: ${quote(text)} was set by Kubernetes and is ignored`);
    } else take(layer, definition, definition.kind.read(text, { form: 'text', baseDir }), { at });
  }
  layer.warnings.push(...warnOfTypos(Object.keys(env)));
  return layer;
}

/** Unknown names are not errors, as orchestrators add their own; a name very close to ours gives a warning. */
function warnOfTypos(names: readonly string[]): string[] {
  const known = SETTING_DEFINITIONS.map(({ env }) => env.slice(PREFIX.length));
  return names.flatMap((name) => {
    if (!name.toUpperCase().startsWith(PREFIX) || OTHER_VARIABLES.has(name)) return [];
    const meant = closestMatch(name.slice(PREFIX.length), known);
    if (meant === undefined || PREFIX + meant === name) return [];
    return [`environment ${showText(name)} is not a setting - did you mean ${PREFIX}${meant}?`];
  });
}

export type FlagValue = string | boolean | readonly string[];

/** Settings from the command line, by setting key. */
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
    const at = describeOrigin(definition, 'flag', '');
    const reading = readFlag(definition, value, baseDir);
    if (typeof reading === 'string') report(layer, { code: 'BAD_VALUE', at, key, text: reading });
    else take(layer, definition, reading, { at });
  }
  return layer;
}

/** The value, its refusal, or a message about a wrong use of the flag. */
function readFlag({ kind }: SettingDefinition, value: FlagValue, baseDir: string): Reading<SettingScalar> | string {
  if (typeof value === 'boolean') return kind.shape === 'switch' ? { value } : 'needs a value';
  const texts = typeof value === 'string' ? [value] : value;
  if (kind.shape !== 'list' && texts.length === 0) return 'needs a value';
  if (kind.shape !== 'list' && texts.length > 1) return `given ${texts.length} times, but takes one value`;
  // Unlike in the environment an empty text counts: on a command line it was written on purpose.
  return kind.read(texts.join(','), { form: 'text', baseDir });
}

/** All settings with their comments take 8 KiB; a far larger file is given by mistake. */
const MAX_FILE_BYTES = 256 * 1024;

/** Settings are two levels deep; the parser recurses, so the depth must be limited. */
const MAX_DEPTH = 32;

type FileProblem = Pick<Finding, 'code' | 'text' | 'line' | 'column'>;
type SettingsFile = { text: string; document: TomlTable } | FileProblem;

/** The text and values of the file, or its problem. */
async function readSettingsFile(file: string): Promise<SettingsFile> {
  let bytes: Buffer;
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const unfit = await whyUnfit(handle);
    if (unfit !== undefined) return { code: 'FILE_UNREADABLE', text: unfit };
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

function explainFailure(thrown: unknown): FileProblem {
  if (!(thrown instanceof Error && 'code' in thrown)) throw thrown;
  const code = String(thrown.code);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { code: 'FILE_MISSING', text: 'no such file' };
  if (code === 'EACCES' || code === 'EPERM') return { code: 'FILE_UNREADABLE', text: 'no permission to read it' };
  return { code: 'FILE_UNREADABLE', text: `cannot be read (${showText(code)})` };
}

function parseBytes(bytes: Buffer): SettingsFile {
  let text: string;
  try {
    // Drops a byte order mark as well.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { code: 'SYNTAX', text: 'is not UTF-8 text' };
  }
  try {
    return { text, document: parse(text, { integersAsBigInt: true, maxDepth: MAX_DEPTH }) };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // The rest of the parser's message quotes the lines around, which may hold secrets.
    const reason = (thrown.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
    const { line, column } = thrown;
    return { code: 'SYNTAX', text: `not valid TOML: ${showText(reason)}`, line, column };
  }
}
