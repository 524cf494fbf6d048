import type { SettingSource } from '@porthole/contract';
import { type Reading, refusalText, type SettingScalar } from '../kinds/setting-kind.ts';
import type { SettingsProblemCode } from '../problems/settings-error.ts';
import { closestMatch, didYouMean, suggestKey } from '../problems/suggest-key.ts';
import { SECTIONS, SETTING_DEFINITIONS, SETTINGS_BY_KEY, type SettingDefinition } from '../settings.ts';
import { describeFound, quote, showText } from '../show-value.ts';

/** The values of one source. */
export interface Layer {
  source: SettingSource;
  values: Map<string, SettingScalar>;
  findings: Finding[];
  warnings: string[];
}

/** A problem before its line is known: lines need a second parser, which runs only if there is a problem. */
export interface Finding {
  code: SettingsProblemCode;
  source: SettingSource;
  /** Where, for the reader: `environment PORTHOLE_HTTP_PORT`; the file's name for a file. */
  at: string;
  text: string;
  /** The setting concerned, where there is one. */
  key?: string;
  /** Where in the file. */
  path?: readonly string[];
  line?: number;
  column?: number;
}

export function emptyLayer(source: SettingSource): Layer {
  return { source, values: new Map(), findings: [], warnings: [] };
}

/** Adds the value to the layer, or reports why it was refused. */
export function take(
  layer: Layer,
  definition: SettingDefinition,
  { reading, ...location }: { reading: Reading<SettingScalar>; at: string; path?: readonly string[] },
): void {
  if (!('refused' in reading)) {
    layer.values.set(definition.key, reading.value);
    return;
  }
  const refusal = refusalText(reading, definition);
  const text = location.path === undefined ? refusal : `${definition.key}: ${refusal}`;
  report(layer, { code: 'BAD_VALUE', ...location, key: definition.key, text });
}

export function report(layer: Layer, finding: Omit<Finding, 'source'>): void {
  layer.findings.push({ ...finding, source: layer.source });
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
    const at = `environment ${definition.env}`;
    if (isServiceLink(definition, text)) {
      layer.warnings.push(`${at}: ${quote(text)} was set by Kubernetes and is ignored`);
      continue;
    }
    take(layer, definition, { reading: definition.kind.fromText(text, baseDir), at });
  }
  layer.warnings.push(...warnOfTypos(Object.keys(env)));
  return layer;
}

function isServiceLink(definition: SettingDefinition, text: string): boolean {
  return definition.kind.name === 'port' && SERVICE_LINK.test(text);
}

/** Unknown names are not errors, as orchestrators add their own; a name very close to ours gives a warning. */
function warnOfTypos(names: readonly string[]): string[] {
  const known = new Map(SETTING_DEFINITIONS.map(({ env }) => [env.slice(PREFIX.length), env]));
  const warnings: string[] = [];
  for (const name of names) {
    if (!name.toUpperCase().startsWith(PREFIX) || OTHER_VARIABLES.has(name)) continue;
    const own = known.get(closestMatch(name.slice(PREFIX.length), known.keys()) ?? '');
    if (own !== undefined && own !== name) {
      warnings.push(`environment ${showText(name)} is not a setting - did you mean ${own}?`);
    }
  }
  return warnings;
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
    const at = `flag ${definition.flag}`;
    const reading = readFlag(definition, value, baseDir);
    if (typeof reading === 'string') report(layer, { code: 'BAD_VALUE', at, key, text: reading });
    else take(layer, definition, { reading, at });
  }
  return layer;
}

/** The value, its refusal, or a message about a wrong use of the flag. */
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

/** Settings from the embedding program. It may be JavaScript, so the object is validated completely. */
export function readOptionLayer(options: object, baseDir: string): Layer {
  const layer = emptyLayer('option');
  for (const [section, properties] of Object.entries(options)) {
    if (properties === undefined) continue;
    if (SECTIONS.includes(section) && isRecord(properties)) {
      readProperties(layer, baseDir, { section, properties });
      continue;
    }
    const known = SECTIONS.includes(section);
    report(layer, {
      code: known ? 'BAD_VALUE' : 'UNKNOWN_KEY',
      at: `option ${showText(section)}`,
      text: known
        ? `expected an object, found ${describeFound(asToml(properties))}`
        : `unknown section${didYouMean(closestMatch(section, SECTIONS))}`,
    });
  }
  return layer;
}

function readProperties(
  layer: Layer,
  baseDir: string,
  { section, properties }: { section: string; properties: Record<string, unknown> },
): void {
  const definitions = SETTING_DEFINITIONS.filter((definition) => definition.section === section);
  for (const [property, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    const at = `option ${section}.${showText(property)}`;
    const definition = definitions.find((known) => known.property === property);
    if (definition === undefined) {
      const near = definitions.find(({ name }) => name === property)?.property;
      const meant =
        near ??
        closestMatch(
          property,
          definitions.map((known) => known.property),
        );
      const hint = meant === undefined ? '' : ` - did you mean ${quote(`${section}.${meant}`)}?`;
      report(layer, { code: 'UNKNOWN_KEY', at, text: `unknown setting${hint}` });
      continue;
    }
    take(layer, definition, { reading: toTomlReading(definition.kind.fromOption(value, baseDir)), at });
  }
}

/** Messages distinguish integers by `bigint`, as in values from the file. */
function toTomlReading(reading: Reading<SettingScalar>): Reading<SettingScalar> {
  return 'refused' in reading ? { ...reading, refused: asToml(reading.refused) } : reading;
}

function asToml(value: unknown): unknown {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
