/** What the program's exit codes mean; documented in docs/operations.md. */
export const EXIT = {
  ok: 0,
  error: 2,
  interrupted: 130,
} as const;
