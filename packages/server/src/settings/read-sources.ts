import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { types } from 'node:util';
import type { SettingSource } from '@porthole/contract';
import { parse, TomlError, type TomlTable } from 'smol-toml';
import { hasCode } from '../errors.ts';
import { closestMatch } from './check-options.ts';
import type { Notation, Reading, SettingScalar } from './setting-kinds.ts';
import { SECTIONS, SETTING_DEFINITIONS, SETTINGS_BY_KEY, type SettingDefinition, toKebabCase } from './settings.ts';
import type { Finding } from './settings-error.ts';
import { describeFound, quote, showText } from './show-value.ts';

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
  const { key } = definition;
  if ('value' in reading) layer.values.set(key, reading.value);
  else {
    const text = location.path === undefined ? reading.refused : `${key}: ${reading.refused}`;
    report(layer, { code: 'BAD_VALUE', ...location, key, text });
  }
}

/** A source with sections and values: the file, the options of a program. */
interface Tree {
  notation: Notation;
  /** How it names a setting within its section. */
  by: 'name' | 'property';
  locate(...path: string[]): Location;
  /** The message about a section that is unknown or has the wrong type. */
  wrongSection(section: string, value: unknown, known: boolean): string;
  unknownSetting(section: string, name: string): string;
}

function readTree(layer: Layer, sections: object, tree: Tree): void {
  for (const [section, value] of definedEntries(sections)) {
    const known = SECTIONS.includes(section);
    if (!known || !isTable(value)) {
      const text = tree.wrongSection(section, value, known);
      report(layer, { code: known ? 'BAD_VALUE' : 'UNKNOWN_KEY', ...tree.locate(section), text });
      continue;
    }
    for (const [name, inner] of definedEntries(value)) {
      const location = tree.locate(section, name);
      const definition = SETTING_DEFINITIONS.find((each) => each.section === section && each[tree.by] === name);
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
    by: 'name',
    locate: (...path) => ({ at, path }),
    wrongSection: (section, value, known) => {
      if (known) return `${section}: expected a table, found ${describeFound(value, 'toml')}`;
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
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Settings from the embedding program. It may be JavaScript, so the object is validated completely. */
export function readOptionLayer(options: object, baseDir: string): Layer {
  const layer = emptyLayer('option');
  readTree(layer, options, {
    notation: { form: 'option', baseDir },
    by: 'property',
    locate: (...path) => ({ at: `option ${path.map(showText).join('.')}` }),
    wrongSection: (section, value, known) =>
      known
        ? `expected an object, found ${describeFound(value, 'option')}`
        : `unknown section${didYouMean(closestMatch(section, SECTIONS))}`,
    unknownSetting: (section, property) => `unknown setting${suggestProperty(section, property)}`,
  });
  return layer;
}

const PREFIX = 'PORTHOLE_';

/** Not settings: read by the command line and the loader, or set by Kubernetes beside a service named `porthole`. */
const OTHER_VARIABLES = new Set([
  'PORTHOLE_URL',
  'PORTHOLE_TOKEN',
  'PORTHOLE_CONFIG',
  'PORTHOLE_CONTEXT',
  'PORTHOLE_PAGER',
  'PORTHOLE_SERVICE_HOST',
  'PORTHOLE_SERVICE_PORT',
]);

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
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const unfit = whyUnfit(await handle.stat());
    return unfit === undefined ? parseBytes(await handle.readFile()) : { code: 'FILE_UNREADABLE', text: unfit };
  } catch (thrown) {
    if (!(types.isNativeError(thrown) && 'code' in thrown)) throw thrown;
    if (hasCode(thrown, 'ENOENT', 'ENOTDIR')) return { code: 'FILE_MISSING', text: 'no such file' };
    const isDenied = hasCode(thrown, 'EACCES', 'EPERM');
    const text = isDenied ? 'no permission to read it' : `cannot be read (${showText(String(thrown.code))})`;
    return { code: 'FILE_UNREADABLE', text };
  }
}

function whyUnfit(stats: Stats): string | undefined {
  if (stats.isDirectory()) return 'is a directory, not a file';
  if (!stats.isFile()) return 'is not a regular file';
  if (stats.size > MAX_FILE_BYTES) return `is too large for a settings file (${stats.size} of ${MAX_FILE_BYTES} bytes)`;
  return undefined;
}

function parseBytes(bytes: Buffer): SettingsFile {
  if (!isUtf8(bytes)) return { code: 'SYNTAX', text: 'is not UTF-8 text' };
  // Drops a byte order mark as well.
  const text = new TextDecoder().decode(bytes);
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

/** ` - did you mean "http.port"?`, or empty if there is no suggestion. */
function didYouMean(...meant: (string | undefined)[]): string {
  const quoted = meant.filter((key) => key !== undefined).map(quote);
  return quoted.length === 0 ? '' : ` - did you mean ${quoted.join(' or ')}?`;
}

/** The likeliest first: another spelling in the same table, the right name in the wrong table, a typo. */
function suggestKey(section: string, name: string): string {
  const spelt = toKebabCase(name);
  const scopes = [listSection(section), SETTING_DEFINITIONS];
  for (const scope of scopes) {
    const same = scope.filter((definition) => definition.name === spelt || definition.property === name);
    if (same.length > 0) return didYouMean(...same.map(({ key }) => key));
  }
  for (const scope of scopes) {
    const near = closestMatch(spelt, listNames(scope));
    if (near !== undefined) return didYouMean(...scope.filter((known) => known.name === near).map(({ key }) => key));
  }
  if (section !== '') return '';
  // Outside any table the name may hold the table's: "httpPort", or "http.port" in quotes.
  const keys = SETTING_DEFINITIONS.map(({ key }) => key);
  const whole = closestMatch(
    spelt.replaceAll('.', '-'),
    keys.map((key) => key.replace('.', '-')),
  );
  return didYouMean(keys.find((key) => key.replace('.', '-') === whole));
}

/** The same for an option of a program: `"http.maxStreams"`. */
function suggestProperty(section: string, property: string): string {
  const definitions = listSection(section);
  const meant =
    definitions.find(({ name }) => name === property)?.property ??
    closestMatch(
      property,
      definitions.map((known) => known.property),
    );
  return didYouMean(meant && `${section}.${meant}`);
}

function listSection(section: string): SettingDefinition[] {
  return SETTING_DEFINITIONS.filter((definition) => definition.section === section);
}

function listNames(definitions: readonly SettingDefinition[]): string[] {
  return definitions.map(({ name }) => name);
}
