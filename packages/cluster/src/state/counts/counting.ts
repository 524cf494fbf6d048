import type { MemberReport, SearchOptions } from '@porthole/contract';
import type { FileProblem, SearchEnd } from '@porthole/logs/types';
import type { StateDeps } from '../state-deps.ts';

/** Of a member's time, what it may look; the rest is for the way. A count that is cut short is still told. */
const SCAN_SHARE = 0.8;

/** How long a member may look: as long as is asked for, but never beyond its time here. */
export function memberBudget({ timeoutMs }: Pick<StateDeps, 'timeoutMs'>, { budgetMs = Infinity }: SearchOptions) {
  return { budgetMs: Math.max(1, Math.floor(Math.min(budgetMs, timeoutMs * SCAN_SHARE))) };
}

/** Says in a member's line that it did not scan everything. */
export function withTruncation(
  report: MemberReport,
  end: Pick<SearchEnd, 'reason' | 'problems' | 'limits'> | undefined,
): MemberReport {
  if (end === undefined) return report;
  if (end.reason !== 'exhausted') return { ...report, detail: `scan stopped: ${end.reason}`, isPartial: true };
  const unread = unreadPart(end);
  return unread === null ? report : { ...report, detail: unread, isPartial: true };
}

/** What a member could not read, in words; `null` where it read everything. Members may send anything. */
export function unreadPart({ limits, problems }: Pick<SearchEnd, 'problems' | 'limits'>): string | null {
  const texts = typeof limits === 'string' ? [limits] : [];
  const [problem, ...more] = readFailures({ problems });
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  if (problem) texts.push(`${problem.file} could not be read${others}: ${problem.detail}`);
  return texts.length === 0 ? null : texts.join('; ');
}

/** What is said of files although nothing that was asked for is missing. */
const NOTICES: ReadonlySet<string> = new Set(['NO_TIMES', 'LEFT_OUT']);

/** Files that should have been read and were not. Members may send anything. */
export function readFailures({ problems }: Pick<SearchEnd, 'problems'>): FileProblem[] {
  return (Array.isArray(problems) ? problems : []).filter(isFailure);
}

function isFailure(value: unknown): value is FileProblem {
  if (typeof value !== 'object' || value === null) return false;
  const { file, code, detail } = value as Partial<Record<keyof FileProblem, unknown>>;
  return [file, code, detail].every((text) => typeof text === 'string') && !NOTICES.has(code as string);
}

/** What all of them have looked at, by our clock; `null` where nobody was cut short. */
export function countedRange(
  responses: readonly {
    offsetMs: number;
    end: Pick<SearchEnd, 'reason' | 'coveredFromMs' | 'coveredToMs' | 'limits'>;
  }[],
): { fromMs: number; toMs: number } | null {
  const cut = responses.filter(({ end }) => end.reason !== 'exhausted' || end.limits !== undefined);
  if (cut.length === 0) return null;
  let [fromMs, toMs] = [-Infinity, Infinity];
  for (const { offsetMs, end } of cut) {
    // Members may tell anything: what is no time covers nothing.
    fromMs = Math.max(fromMs, toTime(end.coveredFromMs) - offsetMs);
    toMs = Math.min(toMs, toTime(end.coveredToMs) - offsetMs);
  }
  return { fromMs: Math.round(fromMs), toMs: Math.round(Math.max(fromMs, toMs)) };
}

function toTime(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
