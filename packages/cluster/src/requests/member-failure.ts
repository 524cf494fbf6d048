import {
  codeOf,
  errorMessage,
  isUnread,
  type MemberOutcome,
  type MemberReport,
  ONLY_ARCHIVED,
} from '@porthole/contract';
import type { FileProblem, SearchEnd } from '@porthole/logs/types';

/** How many causes to follow for a system error code. */
const MAX_CAUSES = 8;

const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT|EPROTO)/;

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'DEADLINE_EXCEEDED',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const OUTCOMES: Readonly<Record<string, MemberOutcome>> = {
  MEMBER_REFUSED: 'refused',
  UNAUTHENTICATED: 'auth',
  FORBIDDEN: 'auth',
  NOT_SUPPORTED: 'not supported',
  BAD_ANSWER: 'version',
  DEADLINE_EXCEEDED: 'timeout',
};

/** Rethrows what has no code: that is a mistake in this program, not a member that failed or a cancelled request. */
export function expectFailure(error: unknown): undefined {
  if (isMistake(error)) throw error;
}

/** For work in the background, which goes on: reports a mistake in this program; requests report a member that failed. */
export function reportMistake(error: unknown, report: (problem: string) => void = () => {}): void {
  if (isMistake(error)) report(`internal error: ${error instanceof Error ? error.stack : String(error)}`);
}

function isMistake(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error) || error instanceof TypeError;
}

/** Converts the failure of a member into the outcome of its report. */
export function toOutcome(error: unknown): Pick<MemberReport, 'outcome' | 'detail'> {
  const message = errorMessage(error);
  const code = codeOf(error);
  const outcome = code === 'UNREACHABLE' ? unreachable(error) : OUTCOMES[code];
  if (outcome !== undefined) return { outcome, detail: message };
  if (error instanceof Error && error.name === 'TimeoutError') return { outcome: 'timeout', detail: message };
  return { outcome: 'failed', detail: `${code}: ${message}` };
}

function unreachable(error: unknown): MemberOutcome | undefined {
  const codes = systemCodes(error);
  const [failure, status] = [fieldOf(error, 'failure'), fieldOf(error, 'status')];
  if (codes.some((code) => TLS_CODES.test(code))) return 'tls';
  if (codes.some((code) => TIMEOUT_CODES.has(code))) return 'timeout';
  // There was a connection, but no byte came, or none any more.
  if (failure === 'timeout') return 'timeout';
  // A truncated response or an error of a proxy means that there was a connection.
  if (typeof status === 'number') return undefined;
  return status === undefined || codes.length > 1 ? 'refused' : undefined;
}

/** `null`: it has no such field. */
function fieldOf(error: unknown, name: 'failure' | 'status'): unknown {
  return error instanceof Error && name in error ? (error as Error & Record<typeof name, unknown>)[name] : null;
}

function systemCodes(error: unknown): string[] {
  const codes: string[] = [];
  let next = error;
  for (let depth = 0; depth < MAX_CAUSES && next instanceof Error; depth++) {
    if ('code' in next && typeof next.code === 'string') codes.push(next.code);
    next = next instanceof AggregateError ? next.errors[0] : next.cause;
  }
  return codes;
}

/** Describes what a member could not read; `null` if it read everything. The input is untrusted. */
export function unreadPart({ limits, problems }: Pick<SearchEnd, 'problems' | 'limits'>): string | null {
  const texts = typeof limits === 'string' ? [limits] : [];
  const [problem, ...more] = readFailures({ problems });
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  if (problem) texts.push(`${problem.file} could not be read${others}: ${problem.detail}`);
  return texts.length === 0 ? null : texts.join('; ');
}

/** Files that could not be read. The input is untrusted. */
export function readFailures({ problems }: Pick<SearchEnd, 'problems'>): FileProblem[] {
  return (Array.isArray(problems) ? problems : []).filter(isFailure);
}

function isFailure(value: unknown): value is FileProblem {
  if (typeof value !== 'object' || value === null) return false;
  const { file, code, detail } = value as Partial<Record<keyof FileProblem, unknown>>;
  if (![file, code, detail].every((text) => typeof text === 'string')) return false;
  // A cluster reads the archive itself.
  return isUnread({ code: code as string }) && code !== ONLY_ARCHIVED;
}
