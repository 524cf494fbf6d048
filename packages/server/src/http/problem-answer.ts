import { toProblem } from '@porthole/contract';
import { retryAfterSeconds } from '../doors/retry-after.ts';
import type { BodyAnswer } from './answer.ts';
import { HttpRefusal } from './http-refusal.ts';

/** The one place where a throw becomes an HTTP answer. */
export function problemAnswer(thrown: unknown, accept: string | undefined): BodyAnswer {
  const problem = toProblem(thrown);
  const retryAfter = retryAfterSeconds(thrown, problem.code);
  const extra = {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(thrown instanceof HttpRefusal && thrown.headers),
  };
  if (wantsOnlyText(accept)) {
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...extra };
    return { status: problem.status, headers, body: `${problem.code}: ${problem.detail}\n` };
  }
  const headers = { 'content-type': 'application/problem+json; charset=utf-8', ...extra };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

/** Whether the client takes plain text and nothing a problem document could be. */
function wantsOnlyText(accept: string | undefined): boolean {
  if (!accept) return false;
  const types = accept.split(',').map((part) => part.split(';', 1)[0]?.trim().toLowerCase());
  return types.includes('text/plain') && types.every((type) => type?.startsWith('text/'));
}
