import { ClientError } from '@porthole/client';
import { type ErrorCode, PortholeError } from '@porthole/contract';

/** Errors of a member that the client would otherwise mistake for errors of this node. */
const MEMBER_ERROR_CODES: Partial<Record<ErrorCode, ErrorCode>> = {
  UNAUTHENTICATED: 'UNREACHABLE',
  FORBIDDEN: 'UNREACHABLE',
  HOST_NOT_ALLOWED: 'UNREACHABLE',
  ORIGIN_NOT_ALLOWED: 'UNREACHABLE',
  SHUTTING_DOWN: 'UNREACHABLE',
  INTERNAL: 'BAD_ANSWER',
};

/** The error of a request to one member, for the client of this node. */
export function wrapMemberError(id: string, error: unknown): unknown {
  if (!(error instanceof PortholeError)) return error;
  const code = MEMBER_ERROR_CODES[error.code];
  if (code !== undefined)
    return new PortholeError(code, `member "${id}" returned ${error.code}: ${error.message}`, { cause: error });
  // Errors about the member's response should name the member.
  return error instanceof ClientError
    ? new PortholeError(error.code, `member "${id}": ${error.message}`, { cause: error })
    : error;
}
