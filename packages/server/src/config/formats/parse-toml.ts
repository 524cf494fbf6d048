import { parse, TomlError as SmolTomlError, type TomlTable } from 'smol-toml';
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import { MAX_DEPTH, withoutMark } from './config-document.ts';
import { TomlError } from './toml-error.ts';

/** A valid text with its syntax tree and its values. */
export interface ParsedToml {
  /** Without a byte order mark: the positions count from after it. */
  text: string;
  ast: AST.TOMLProgram;
  values: TomlTable;
}

/**
 * Two parsers must agree that the text is TOML, because clients may reject what one of them accepts by mistake
 * (30 February; a duplicate key). Throws `TomlError` otherwise.
 */
export function parseToml(source: string): ParsedToml {
  const text = withoutMark(source);
  const values = parseValues(text);
  return { text, values, ast: parseRanges(text) };
}

export function parseValues(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH });
  } catch (thrown) {
    if (thrown instanceof SmolTomlError) throw new TomlError('not valid TOML', thrown);
    throw tooLarge(thrown);
  }
}

function parseRanges(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.1' });
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw tooLarge(thrown);
    throw new TomlError('not valid TOML', { line: thrown.lineNumber, column: thrown.column + 1 });
  }
}

/** `undefined` if the text is not TOML. */
export function parseLoosely(text: string): AST.TOMLProgram | undefined {
  try {
    return parseTOML(text, { tomlVersion: '1.1' });
  } catch (thrown) {
    if (thrown instanceof ParseError || thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/** The stack ended: the position parser spreads each string over it, and fails at some 100,000 characters. */
function tooLarge(thrown: unknown): unknown {
  if (!(thrown instanceof RangeError)) return thrown;
  return new TomlError('nested too deeply or holding too long a string', { line: 1, column: 1 });
}

/** A string as written in TOML, with the source position of each code unit of its value. */
interface TomlString {
  value: string;
  /** One more than the value has code units: the last is that of the closing quotes. */
  positions: number[];
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001B',
  '"': '"',
  '\\': '\\',
};

const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads a valid string token with its quotes. */
export function readTomlString(raw: string): TomlString {
  const quotes = openingQuotes(raw);
  const end = raw.length - quotes.length;
  let index = quotes.length;
  if (quotes.length === 3) index += /^\r?\n/.exec(raw.slice(index, index + 2))?.[0].length ?? 0;
  let value = '';
  const positions: number[] = [];
  while (index < end) {
    const unit =
      quotes.startsWith('"') && raw[index] === '\\'
        ? readEscape(raw, index)
        : { value: raw[index] ?? '', next: index + 1 };
    for (let count = unit.value.length; count > 0; count--) positions.push(index);
    value += unit.value;
    index = unit.next;
  }
  positions.push(end);
  return { value, positions };
}

/** The quotes around a string token: one or three, double or single. */
export function openingQuotes(raw: string): string {
  return /^(?:"""|'''|"|')/.exec(raw.length >= 6 ? raw : raw.slice(0, 1))?.[0] ?? '';
}

function readEscape(raw: string, at: number): { value: string; next: number } {
  const sign = raw[at + 1] ?? '';
  const digits = HEX_DIGITS[sign];
  if (digits !== undefined) {
    const next = at + 2 + digits;
    return { value: String.fromCodePoint(Number.parseInt(raw.slice(at + 2, next), 16)), next };
  }
  const escaped = ESCAPES[sign];
  if (escaped !== undefined) return { value: escaped, next: at + 2 };
  // A backslash at the end of a line hides it and the blanks that follow.
  const next = at + 1 + raw.slice(at + 1).search(/\S/);
  return { value: '', next };
}
