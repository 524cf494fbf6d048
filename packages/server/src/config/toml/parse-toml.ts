import { parse, TomlError as SmolTomlError, type TomlTable } from 'smol-toml';
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import { TomlError } from './toml-error.ts';

/** Deeper than any configuration is. Both parsers and our own walk recurse, so the depth must be bounded. */
export const MAX_DEPTH = 100;

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
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
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
