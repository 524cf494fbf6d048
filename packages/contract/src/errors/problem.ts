import { codeOf, ERROR_KINDS, type ErrorCode } from './errors.ts';

/** The body of every error answer (RFC 9457). */
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
  // Only messages written for clients leave the node: those of an unexpected error may hold paths or worse.
  const detail =
    code === 'INTERNAL' ? 'The node failed to answer; its own log has the cause.' : (thrown as Error).message;
  return { type: `/docs#${code}`, title, status: http, detail, code };
}
