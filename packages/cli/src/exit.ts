/** An error the user can fix: printed as one line, without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** Exit codes; documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** No record matches, the configurations differ, the doctor found a problem, or a question was answered with no. */
  different: 1,
  error: 2,
  /** Part of the requested data could not be read. */
  partial: 3,
  /** SIGINT. */
  interrupted: 130,
  /** SIGTERM. */
  terminated: 143,
} as const;
