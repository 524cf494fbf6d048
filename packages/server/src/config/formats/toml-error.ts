/**
 * The text is not valid TOML, or exceeds our limits of depth or string length. The message never contains any of the text:
 * the message of a parser may quote a secret.
 */
export class TomlError extends Error {
  override readonly name = 'TomlError';
  readonly reason: string;
  readonly line: number;
  readonly column: number;

  /** Line and column start at 1. There is no `cause`, because it would contain the text. */
  constructor(reason: string, at: { line: number; column: number }) {
    super(`${reason} (line ${at.line}, column ${at.column})`);
    this.reason = reason;
    this.line = at.line;
    this.column = at.column;
  }
}
