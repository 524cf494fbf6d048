/** What is told of a connection that the other side closed before it answered. */
const CUT_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * A fetch that asks once more where a connection was closed before the answer began: one that was kept from an earlier
 * question may be closed by the member at the very moment it is used again. For questions that change nothing.
 */
export function retryWhenCut(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    try {
      return await send(input, init);
    } catch (error) {
      if (init?.signal?.aborted || !wasCut(error)) throw error;
      return send(input, init);
    }
  };
}

function wasCut(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && CUT_CODES.has(String(cause.code));
}
