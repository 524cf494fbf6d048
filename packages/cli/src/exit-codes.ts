/** What the program's exit codes mean; documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** No record matches, the configurations differ, the doctor found something. */
  different: 1,
  error: 2,
  /** Some of what was asked for could not be read. */
  partial: 3,
  /** By SIGINT. */
  interrupted: 130,
  /** By SIGTERM. */
  terminated: 143,
} as const;
