/** A failure of what records are sent to, or on the way to it. */
export class SinkError<Code extends string = string> extends Error {
  override readonly name: string = 'SinkError';
  readonly code: Code;
  /** How long the server asks to wait before it is asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
