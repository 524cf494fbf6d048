import { codeOf, ERROR_KINDS, type ErrorCode } from './errors.ts';

/** The body of every error response (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
}

export function toProblem(thrown: unknown): Problem {
  const code = codeOf(thrown);
  const { http, title } = ERROR_KINDS[code];
  // Only messages written for clients leave the node: those of an unexpected error may contain paths or worse.
  const detail = code === 'INTERNAL' ? 'internal error; the log of the node has the cause' : (thrown as Error).message;
  return { type: `/docs#${code}`, title, status: http, detail, code };
}
