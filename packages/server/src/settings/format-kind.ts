import { parseUserFormats, type UserFormat } from '@porthole/logs';
import { asToml, type Notation, type Reading, type SettingKind } from './setting-kinds.ts';
import { tomlLiteral } from './show-value.ts';

const KIND = {
  name: 'list of formats',
  noun: 'a list of log formats',
  accepted: 'tables with name, lines and times',
  limits: '',
  shape: 'list',
} as const;

/**
 * Log formats, each kept as its JSON text: a list of texts is compared, copied and reported like any other. A file has
 * them as tables; environment variables and flags as JSON.
 */
export const formatList: SettingKind<string[]> = {
  ...KIND,
  read(value, notation) {
    const given = notation.form === 'text' ? parseJsonList(String(value)) : value;
    if (given === undefined) return refuse(value, notation, 'not valid JSON');
    const { formats, problems } = parseUserFormats(given);
    if (problems.length > 0) return refuse(value, notation, problems.join('; '));
    return { value: formats.map(formatText) };
  },
  toJson: (texts) => [...texts],
  toToml: (texts) => `[${texts.map((text) => tomlValue(JSON.parse(text))).join(', ')}]`,
};

/** The formats of a valid setting. */
export function readFormats(texts: readonly string[]): UserFormat[] {
  return parseUserFormats(texts).formats;
}

function refuse(refused: unknown, notation: Notation, reason: string): Reading<string[]> {
  return { refused: asToml(refused, notation), wrong: 'value', reason, kind: KIND };
}

/** A list, or the items of one: a flag may be repeated. */
function parseJsonList(text: string): unknown[] | undefined {
  try {
    return (JSON.parse(`[${text}]`) as unknown[]).flat();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function formatText({ levels, samples, ...format }: UserFormat): string {
  const hasLevels = Object.keys(levels).length > 0;
  return JSON.stringify({ ...format, ...(hasLevels && { levels }), ...(samples.length > 0 && { samples }) });
}

/** Texts, lists and tables only, which are all that definitions consist of. */
function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return tomlLiteral(String(value));
  const pairs = Object.entries(value).map(([key, inner]) => `${tomlKey(key)} = ${tomlValue(inner)}`);
  return `{ ${pairs.join(', ')} }`;
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlLiteral(key);
}
