import { codeOf, type MemberReport, type MemberSelection, type SearchOptions } from '@porthole/contract';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import { cutOf } from './cuts.ts';
import type { MemberFacts } from './member-facts.ts';
import type { SourcePlan } from './plan-sources.ts';

type CountRequest = MemberSelection & LogSelection & Pick<RecordFilter, 'fromMs' | 'toMs'>;

/** How many logs of members are counted at a time. */
const PARALLEL = 4;

/** A floor after all records: the member counts nothing. The last millisecond with a year of four digits. */
const NEVER_MS = 253_402_300_799_999;

const MISSING_LOG: ReadonlySet<string> = new Set(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

export interface MemberCounts<Request, Result> {
  plan: SourcePlan;
  facts: readonly MemberFacts[];
  options: SearchOptions;
  count(request: Request, options: SearchOptions): Promise<Result>;
}

/** The counts of members: of all at once, but log by log of those whose logs have cuts of their own. */
export async function countMembers<Request extends CountRequest, Result extends { members: MemberReport[] }>(
  request: Request,
  { plan, facts, options, count }: MemberCounts<Request, Result>,
): Promise<{ parts: Result[]; members: MemberReport[] }> {
  const divided = facts.filter(({ id, isAlive }) => isAlive && plan.logCuts.has(id));
  const none = Object.fromEntries(divided.map(({ id }) => [id, NEVER_MS]));
  const members = { ...plan.members, floors: { ...plan.members.floors, ...none } };
  const first = await count({ ...request, ...members, store: 'nodes' }, options);
  const parts = [first];
  const reports = new Map(first.members.map((report) => [report.id, report]));
  const logs = divided.flatMap(({ id, logs: own }) =>
    reports.get(id)?.outcome === 'ok' ? ofLogs(id, own.keys()) : [],
  );
  for (let at = 0; at < logs.length; at += PARALLEL) {
    const batch = logs.slice(at, at + PARALLEL);
    for (const part of await Promise.all(batch.map(countLog))) {
      if (!part) continue;
      parts.push(part);
      for (const report of part.members) reports.set(report.id, joinReports(reports.get(report.id), report));
    }
  }
  return { parts, members: [...reports.values()] };

  async function countLog({ id, log }: { id: string; log: string }): Promise<Result | undefined> {
    const floors = { [id]: cutOf(plan.cuts, id, log) };
    try {
      return await count({ ...request, nodes: [id], family: log, floors, store: 'nodes' }, options);
    } catch (error) {
      // Deleted in the meantime, or empty: its report says what is missing.
      if (!MISSING_LOG.has(codeOf(error))) throw error;
      return undefined;
    }
  }
}

function ofLogs(id: string, logs: Iterable<string>): { id: string; log: string }[] {
  return [...logs].map((log) => ({ id, log }));
}

/** Counts of the same member. */
function joinReports(known: MemberReport | undefined, { count, ...report }: MemberReport): MemberReport {
  if (!known) return { ...report, count };
  const isWorse = known.outcome === 'ok' && report.outcome !== 'ok';
  const details = new Set([known.detail, report.detail].filter((detail) => detail !== null));
  return {
    ...known,
    ...(isWorse && { outcome: report.outcome }),
    ...((known.isPartial || report.isPartial) && { isPartial: true as const }),
    detail: details.size === 0 ? null : [...details].join('; '),
    elapsedMs: known.elapsedMs + report.elapsedMs,
    count: known.count + count,
  };
}
