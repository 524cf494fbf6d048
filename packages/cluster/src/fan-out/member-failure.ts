/** Rethrows what has no code: that is a mistake in this program, not a member that failed or a cancelled request. */
export function expectFailure(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error) || error instanceof TypeError) throw error;
}
