/**
 * The text is not valid TOML, or nests deeper or holds longer strings than we read. The message never holds any of
 * the text: what a parser says about a broken line may quote the secret that stands in it.
 */
export class TomlError extends Error {
  override readonly name = 'TomlError';
  readonly reason: string;
  readonly line: number;
  readonly column: number;

  /** Line and column count from 1. No `cause` is kept, because the cause would carry the text after all. */
  constructor(reason: string, at: { line: number; column: number }) {
    super(`${reason} (line ${at.line}, column ${at.column})`);
    this.reason = reason;
    this.line = at.line;
    this.column = at.column;
  }
}
