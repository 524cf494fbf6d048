/** The node cannot start, and the message says what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
