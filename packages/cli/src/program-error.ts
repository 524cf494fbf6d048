/** Something the user can do about: told in one line, without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}
