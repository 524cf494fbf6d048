import { codeOf, errorMessage, PortholeError } from '@porthole/contract';

/** No member has what a request names: a record, a log or a node. The archive may have it. */
const GONE: ReadonlySet<string> = new Set([
  'CURSOR_GONE',
  'LOG_FILE_NOT_FOUND',
  'LOG_FAMILY_NOT_FOUND',
  'MEMBER_NOT_FOUND',
  'UNREACHABLE',
  'DEADLINE_EXCEEDED',
]);

export function isGone(error: unknown): boolean {
  return GONE.has(codeOf(error));
}

/** What members do not have is not said to be nowhere while the archive cannot be read. */
export async function* unlessUnread<T>(found: AsyncIterable<T>, problem: string | undefined): AsyncGenerator<T> {
  try {
    yield* found;
  } catch (error) {
    throw blameArchive(error, problem);
  }
}

export function blameArchive(error: unknown, problem: string | undefined): unknown {
  if (problem === undefined || !isGone(error)) return error;
  return new PortholeError('ARCHIVE_UNAVAILABLE', `${problem}; of members: ${errorMessage(error)}`, { cause: error });
}
