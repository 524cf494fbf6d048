import type { SettingScalar } from './setting-kinds.ts';
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

/** A value with its type, for "expected ..., found ...". A whole number is a `bigint` here, any other a float. */
export function describeFound(value: unknown): string {
  const noun = describeType(value);
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

type Masking = Pick<SettingDefinition, 'kind' | 'secret'>;

const MASK = '******';

/** A value as JSON, spelt as in the file. A secret is masked; an empty one stays empty, which shows that it is not set. */
export function toMaskedJson(definition: Masking, value: SettingScalar): SettingScalar {
  const json = definition.kind.toJson(value);
  if (!definition.secret || json === '' || (Array.isArray(json) && json.length === 0)) return json;
  return Array.isArray(json) ? json.map(() => MASK) : MASK;
}

/** The same as a TOML literal. */
export function toMaskedToml(definition: Masking, value: SettingScalar): string {
  if (definition.kind.toToml && !definition.secret) return definition.kind.toToml(value);
  const json = toMaskedJson(definition, value);
  return Array.isArray(json) ? `[${json.map(tomlLiteral).join(', ')}]` : tomlLiteral(json);
}

/** JSON literals are valid TOML, except that TOML requires DEL to be escaped. */
export function tomlLiteral(value: string | number | boolean): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
