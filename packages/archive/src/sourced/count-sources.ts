import {
  type ArchivePart,
  codeOf,
  errorMessage,
  type MemberReport,
  type MemberSelection,
  type SearchOptions,
} from '@porthole/contract';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import type { ArchiveOptions } from '../ask/question.ts';
import { countMembers } from './count-members.ts';
import type { ClusterFacts } from './member-facts.ts';
import type { SourcePlan } from './plan-sources.ts';
import { archivePart, reportsOfUnasked, withArchive } from './sourced-reports.ts';
import { blameArchive } from './unread-archive.ts';

interface Counted {
  members: MemberReport[];
  archive?: ArchivePart;
}

type CountRequest = MemberSelection & LogSelection & Pick<RecordFilter, 'fromMs' | 'toMs'>;

export interface CountDeps {
  plan: SourcePlan;
  facts: ClusterFacts;
  options: SearchOptions;
}

/** One kind of count: how each side is asked, and how their responses are added up. */
export interface CountKind<Request extends CountRequest, Result extends Counted> {
  ofMembers(request: Request, options: SearchOptions): Promise<Result>;
  ofArchive(request: Request, options: ArchiveOptions): Promise<Result>;
  merge(parts: readonly Result[]): Omit<Result, 'members' | 'archive'>;
}

/** Counts in members and archive. If the archive fails, the members count everything they have, and the response says so. */
export async function countSources<Request extends CountRequest, Result extends Counted>(
  { plan, facts, options }: CountDeps,
  request: Request,
  kind: CountKind<Request, Result>,
): Promise<Result> {
  const members = { plan, facts: facts.members, options, count: kind.ofMembers };
  const [fromMembers, archived] = await Promise.all([
    plan.asksMembers ? countMembers(request, members) : undefined,
    plan.archive ? settle(kind.ofArchive(request, { ...options, ...plan.archive }), options.signal) : undefined,
  ]);
  const { fromMs, toMs } = request;
  const range = { fromMs, toMs };
  if (archived && 'problem' in archived) {
    const { floors: _floors, ...unbounded } = plan.members;
    const { problem } = archived;
    const counted = await kind
      .ofMembers({ ...request, ...unbounded, store: 'nodes' }, options)
      .catch((error: unknown) => {
        throw blameArchive(error, problem);
      });
    const share = { plan, facts: facts.members, counts: new Map<string, number>(), problem, range };
    return { ...counted, members: withArchive(counted.members, share), archive: archivePart(share) };
  }
  const parts = [...(fromMembers?.parts ?? []), ...(archived ? [archived.value] : [])];
  const counts = new Map(archived?.value.members.map(({ id, count }) => [id, count]));
  const share = { plan, facts: facts.members, counts, problem: null, range };
  const reports = withArchive(fromMembers?.members ?? reportsOfUnasked(facts.members, request), share);
  const partial = new Map(
    archived?.value.members.filter(({ isPartial }) => isPartial).map((report) => [report.id, report]),
  );
  return {
    ...kind.merge(parts),
    members: reports.map((report) => withPartial(report, partial.get(report.id))),
    archive: archivePart(share),
  } as Result;
}

function withPartial(report: MemberReport, archived: MemberReport | undefined): MemberReport {
  if (!archived) return report;
  const details = [report.detail, `archive: ${archived.detail}`].filter((text) => text !== null);
  return { ...report, isPartial: true, detail: details.join('; ') };
}

/** A failure of the archive is a result; one of the request is not. */
async function settle<T>(
  call: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<{ value: T } | { problem: string }> {
  try {
    return { value: await call };
  } catch (error) {
    signal?.throwIfAborted();
    if (codeOf(error) !== 'ARCHIVE_UNAVAILABLE') throw error;
    return { problem: errorMessage(error) };
  }
}
