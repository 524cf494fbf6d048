import type { OutgoingHttpHeaders } from 'node:http';
import { type ErrorCode, toProblem } from '@porthole/contract';
import type { BodyAnswer } from './answer.ts';
import { HttpRefusal } from './http-refusal.ts';

/** Seconds until asking again may help, for failures that come from below HTTP. */
const RETRY_AFTER_S: Partial<Record<ErrorCode, number>> = { TOO_MANY_SEARCHES: 1 };

/** The one place where a throw becomes an HTTP answer. */
export function problemAnswer(thrown: unknown, accept: string | undefined): BodyAnswer {
  const problem = toProblem(thrown);
  const extra = thrown instanceof HttpRefusal ? thrown.headers : retryHeaders(problem.code);
  if (wantsOnlyText(accept)) {
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...extra };
    return { status: problem.status, headers, body: `${problem.code}: ${problem.detail}\n` };
  }
  const headers = { 'content-type': 'application/problem+json; charset=utf-8', ...extra };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

function retryHeaders(code: ErrorCode): OutgoingHttpHeaders {
  const seconds = RETRY_AFTER_S[code];
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

/** Whether the client takes plain text and nothing a problem document could be. */
function wantsOnlyText(accept: string | undefined): boolean {
  if (!accept) return false;
  const types = accept.split(',').map((part) => part.split(';', 1)[0]?.trim().toLowerCase());
  return types.includes('text/plain') && types.every((type) => type?.startsWith('text/'));
}
