/** What a promise or an iteration fails with. */
export async function catchFailure(asked: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  try {
    if (Symbol.asyncIterator in asked) for await (const _ of asked);
    else await asked;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
