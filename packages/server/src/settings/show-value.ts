import type { Notation, SettingScalar } from './setting-kinds.ts';
import type { SettingDefinition } from './settings.ts';

/** Enough to recognise a value without filling the terminal with a pasted key file. */
const SHOWN_CHARACTERS = 80;

/** Characters that could move the cursor, change the text direction or end a line in a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text for a message or a comment: one line, printable, short. */
export function showText(text: string): string {
  return escapeUnprintable(cut(text));
}

/** The same in quotes. */
export function quote(text: string): string {
  return `"${escapeUnprintable(cut(text).replace(/[\\"]/g, '\\$&'))}"`;
}

/** A value as a message names it: `"abc"`, `70000`, `a table`. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return cut(String(value));
  return describeType(value);
}

/**
 * A value with its type, for "expected ..., found ...". A whole number is a `bigint` in a file, where any other is a
 * float; programs have one type for both.
 */
export function describeFound(value: unknown, form: Notation['form']): string {
  const isWhole = form === 'option' && typeof value === 'number' && Number.isInteger(value);
  const noun = describeType(isWhole ? BigInt(value) : value);
  const named = typeof value === 'object' || typeof value === 'function' || value === undefined;
  return named ? noun : `${noun} ${showValue(value)}`;
}

const TYPE_NOUNS: Partial<Record<string, string>> = {
  string: 'a string',
  bigint: 'an integer',
  number: 'a float',
  boolean: 'a boolean',
  object: 'a table',
};

function describeType(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (value === null) return 'null';
  return TYPE_NOUNS[typeof value] ?? `a value of type ${typeof value}`;
}

function cut(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text;
  // Well past the cut in code units, so that the characters can be counted without spreading a text of megabytes.
  const shown = [...text.slice(0, SHOWN_CHARACTERS * 2)].slice(0, SHOWN_CHARACTERS).join('');
  return shown.length === text.length ? text : `${shown}...`;
}

export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A setting as a TOML literal. */
export function toToml({ kind }: Pick<SettingDefinition, 'kind'>, value: SettingScalar): string {
  return kind.toToml?.(value) ?? tomlLiteral(kind.toJson(value));
}

/** JSON literals are valid TOML, except that TOML requires DEL to be escaped. Lists and tables are written inline. */
export function tomlLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlLiteral).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  const pairs = Object.entries(value).map(([key, inner]) => `${tomlKey(key)} = ${tomlLiteral(inner)}`);
  return `{ ${pairs.join(', ')} }`;
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlLiteral(key);
}
