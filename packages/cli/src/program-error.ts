/** An error the user can fix: printed as one line, without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}
