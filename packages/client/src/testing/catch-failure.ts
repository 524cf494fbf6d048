/** The error of a promise or an iteration. */
export async function catchFailure(call: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  try {
    if (Symbol.asyncIterator in call) for await (const _ of call);
    else await call;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
