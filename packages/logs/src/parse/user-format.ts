import { parseJson } from '@porthole/records';
import type { Level } from '../types.ts';
import { LAYOUT_COLUMNS } from './columns/layout-table.ts';
import { checkLineLayout, checkTimeLayout, LAYOUT_LIMITS } from './formats/layout/check-layout.ts';
import { OWN_LAYOUTS } from './formats/layout/own-layouts.ts';
import { LEVELS_BY_RANK } from './level.ts';
import type { Zone } from './zone.ts';

/** A format from the settings. Plain data, so that it can be sent to threads and kept as JSON. */
export interface UserFormat {
  name: string;
  /** Line layouts, the most specific first. */
  lines: readonly string[];
  /** Time layouts; the first that matches is used. */
  times: readonly string[];
  /** Level texts besides the usual words and letters. */
  levels: Readonly<Record<string, Level>>;
  samples: readonly UserFormatSample[];
}

/** A record of the format, and optionally what must be read from it. */
export interface UserFormatSample {
  line: string;
  /** ISO 8601; without an offset in the zone of the logs. */
  time?: string;
  level?: Level;
}

/** All formats are tried on every file, so their number is limited. */
const MAX_FORMATS = 32;
const MAX_LEVELS = 32;
const MAX_SAMPLES = 32;
const MAX_SAMPLE_CHARACTERS = 4096;

/** Longer texts are not read as levels. */
const MAX_LEVEL_BYTES = 15;

const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?$/;

/** What the list of files shows for files that have none. */
export const OTHER_NAMES: readonly string[] = ['empty', 'binary', 'unreadable'];

/** Why a definition is rejected; the message names the format. */
class Rejection extends Error {}

/**
 * Reads definitions: a list of tables, or a table of them by name. A table may also be its JSON text. `problems` names
 * every format that is rejected, and why.
 */
export function parseUserFormats(value: unknown): { formats: UserFormat[]; problems: string[] } {
  const problems: string[] = [];
  const formats: UserFormat[] = [];
  const tables = toTables(value);
  if (!tables) return { formats, problems: ['expected a list of tables, or tables by name'] };
  if (tables.length > MAX_FORMATS) return { formats, problems: [`${tables.length} formats, at most ${MAX_FORMATS}`] };
  for (const [index, table] of tables.entries()) {
    const label =
      isTable(table) && typeof table.name === 'string' ? `format ${shown(table.name)}` : `format ${index + 1}`;
    try {
      const format = parseFormat(table);
      if (formats.some(({ name }) => name === format.name)) throw new Rejection('the name is used twice');
      formats.push(format);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      problems.push(`${label}: ${error.message}`);
    }
  }
  return { formats, problems };
}

/** What is wrong with the samples of the formats, by format: not matched, or read differently than expected. */
export async function checkUserFormats(
  formats: readonly UserFormat[],
  options: { zone: Zone; nowMs: number },
): Promise<ReadonlyMap<string, readonly string[]>> {
  // Loaded on demand: the settings are parsed at every start, without the code of all formats.
  const { checkSamples } = await import('./check-samples.ts');
  return checkSamples(formats, options);
}

function toTables(value: unknown): unknown[] | undefined {
  if (Array.isArray(value))
    return value.map((table: unknown) => (typeof table === 'string' ? parseJson(table) : table));
  if (!isTable(value)) return undefined;
  return Object.entries(value).map(([name, table]) => (isTable(table) ? { name, ...table } : table));
}

function parseFormat(table: unknown): UserFormat {
  if (!isTable(table)) throw new Rejection('expected a table with name, lines and times');
  rejectUnknown(table, ['name', 'lines', 'times', 'levels', 'samples']);
  const { name } = table;
  if (typeof name !== 'string' || !NAME.test(name))
    throw new Rejection('name must be 1 to 40 lower-case letters, digits and dashes, a letter first');
  if ([...BUILT_IN_NAMES, ...OTHER_NAMES].some((known) => known === name))
    throw new Rejection('the name is that of a built-in format');
  const lines = parseTexts(table, 'lines', LAYOUT_LIMITS.layouts);
  const times = parseTexts(table, 'times', LAYOUT_LIMITS.layouts);
  for (const problem of [...lines.map(checkLineLayout), ...times.map(checkTimeLayout)])
    if (problem !== undefined) throw new Rejection(problem);
  return { name, lines, times, levels: parseLevels(table.levels), samples: parseSamples(table.samples) };
}

/** A list of texts; one text may stand alone. */
function parseTexts(table: Table, key: string, most: number): string[] {
  const value = typeof table[key] === 'string' ? [table[key]] : table[key];
  if (!Array.isArray(value) || value.length === 0 || value.length > most || !value.every(isString))
    throw new Rejection(`${key} must be a text or a list of 1 to ${most} texts`);
  return [...value];
}

function parseLevels(value: unknown = {}): Record<string, Level> {
  if (!isTable(value)) throw new Rejection('levels must be a table like { OOPS = "error" }');
  const entries = Object.entries(value);
  if (entries.length > MAX_LEVELS) throw new Rejection(`${entries.length} levels, at most ${MAX_LEVELS}`);
  return Object.fromEntries(
    entries.map(([text, level]) => {
      if (text.trim() === '' || Buffer.byteLength(text) > MAX_LEVEL_BYTES)
        throw new Rejection(`levels: ${shown(text)} must have 1 to ${MAX_LEVEL_BYTES} bytes`);
      return [text, parseLevel(level, `levels: ${shown(text)}`)];
    }),
  );
}

function parseSamples(value: unknown = []): UserFormatSample[] {
  if (!Array.isArray(value) || value.length > MAX_SAMPLES)
    throw new Rejection(`samples must be a list of at most ${MAX_SAMPLES} lines`);
  return value.map((given: unknown, index) => {
    const label = `sample ${index + 1}`;
    const sample = typeof given === 'string' ? { line: given } : given;
    if (!isTable(sample)) throw new Rejection(`${label} must be a text, or a table with line, time and level`);
    rejectUnknown(sample, ['line', 'time', 'level'], label);
    const { line, time, level } = sample;
    if (typeof line !== 'string' || line.trim() === '' || line.length > MAX_SAMPLE_CHARACTERS)
      throw new Rejection(`${label}: line must be a text of at most ${MAX_SAMPLE_CHARACTERS} characters`);
    return {
      line,
      ...(time !== undefined && { time: parseTime(time, label) }),
      ...(level !== undefined && { level: parseLevel(level, `${label}: level`) }),
    };
  });
}

/** TOML has dates of its own, which keep how they were written. */
function parseTime(value: unknown, label: string): string {
  const text = value instanceof Date ? value.toISOString() : value;
  if (typeof text === 'string' && TIME.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new Rejection(`${label}: time must be like "2026-11-15T10:00:00Z"`);
}

function parseLevel(value: unknown, label: string): Level {
  const level = LEVELS_BY_RANK.find((known) => typeof value === 'string' && known === value.toUpperCase());
  if (!level) throw new Rejection(`${label} must be trace, debug, info, warn, error or fatal`);
  return level;
}

type Table = Readonly<Record<string, unknown>>;

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function rejectUnknown(table: Table, known: readonly string[], label?: string): void {
  const unknown = Object.keys(table).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const where = label === undefined ? '' : `${label}: `;
  throw new Rejection(`${where}unknown key ${shown(unknown)}: expected ${known.join(', ')}`);
}

const SHOWN_CHARACTERS = 80;

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text);
}

/** Formats with code of their own, and what files are called of which little is known. */
const CODED_FORMATS = [
  ...['contract', 'lindb-access', 'lindb-slow-sql', 'json', 'json-keys', 'json-mixed', 'otlp', 'glog', 'capnslog'],
  ...['tidb', 'log4j', 'nginx-access', 'nginx-error', 'syslog', 'syslog-5424', 'iso', 'journal-export', 'python-basic'],
  ...['windows-event-xml', 'log4j-xml', 'log4j2-xml', 'jul-xml', 'enterprise-library', 'ossec-alerts', 'snort-full'],
  ...['journal-full', 'jul', 'timed-text', 'clock-text', 'text'],
];

/** In no order: detection has its own. Known without the code of the formats, which takes longer to load. */
export const BUILT_IN_NAMES: readonly string[] = [
  ...CODED_FORMATS,
  ...[...LAYOUT_COLUMNS, ...OWN_LAYOUTS].map(({ name }) => name),
];
