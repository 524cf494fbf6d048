import {
  type ArchivePart,
  type ClusterEnd,
  type ClusterItem,
  codeOf,
  errorMessage,
  isSelected,
  type MemberArchive,
  type MemberReport,
  type MemberSelection,
  PortholeError,
} from '@porthole/contract';
import type { ArchivedNode } from '../query/archived-nodes.ts';
import { beforeOf, findGaps, type Gap, type MemberFacts, mostFrequent, type SourcePlan } from './plan-sources.ts';

/** What a request read of the archive. */
interface ArchiveShare {
  plan: SourcePlan;
  facts: readonly MemberFacts[];
  /** Records that came from the archive, by node. */
  counts: ReadonlyMap<string, number>;
  /** Why the archive failed. */
  problem: string | null;
  range: { fromMs?: number | undefined; toMs?: number | undefined };
  /** Others than those that plan and facts have. */
  gaps?: readonly (Gap & { node: string })[];
}

export function archivePart({ plan, counts, problem }: Pick<ArchiveShare, 'plan' | 'counts' | 'problem'>): ArchivePart {
  const cuts = plan.archived.flatMap(({ node }) => beforeOf(plan.cuts, node) ?? []);
  return {
    records: [...counts.values()].reduce((sum, count) => sum + count, 0),
    beforeMs: mostFrequent(cuts),
    problem,
  };
}

/** Reports of members that had nothing to be asked for: as they have just responded when they listed their logs. */
export function reportsOfUnasked(facts: readonly MemberFacts[], selection: MemberSelection): MemberReport[] {
  return facts.filter((member) => isSelected(member, selection)).map(({ report }) => ({ ...report, count: 0 }));
}

/** The reports of members with the part of each that came from the archive, and of nodes that only the archive has. */
export function withArchive(reports: readonly MemberReport[], share: ArchiveShare): MemberReport[] {
  const { plan, facts, counts } = share;
  const archived = new Map(plan.archived.map((node) => [node.node, node]));
  const members = new Map(facts.map((member) => [member.id, member]));
  const known = reports.map((report) => {
    const node = archived.get(report.id);
    archived.delete(report.id);
    if (!node) return report;
    const facts = members.get(report.id);
    const isRead = facts?.isAlive && report.outcome === 'ok';
    return markGaps(
      addShare(report, node, share),
      isRead ? [...findGaps(node, facts, share), ...(share.gaps ?? []).filter((gap) => gap.node === report.id)] : [],
    );
  });
  const others = [...archived.values()].map((node) => addShare(pastReport(node), node, share));
  return [...known, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));

  function addShare(report: MemberReport, node: ArchivedNode, { plan: { cuts } }: ArchiveShare): MemberReport {
    const count = counts.get(node.node) ?? 0;
    const archive: MemberArchive = { count, beforeMs: beforeOf(cuts, node.node), ...shippedRange(node) };
    return { ...report, count: report.count + count, archive };
  }
}

/** A node that is no member any more. */
function pastReport(node: ArchivedNode): MemberReport {
  return {
    id: node.node,
    outcome: 'left',
    detail: 'no longer a member: its records are from the archive',
    elapsedMs: 0,
    count: 0,
    asOfMs: shippedRange(node).shippedToMs,
    state: 'left',
    sinceMs: null,
  };
}

/** How far behind shipping may be without a word: the last seconds are never in the archive. */
const MAX_LAG_MS = 300_000;

const UNKNOWN = 'the archive knows nothing of it: it has shipped nothing yet, or ships nothing';

/**
 * The reports of a response that is of the archive only, with what each node has shipped. Members of which it has
 * nothing, or not everything of the time range, are partial.
 */
export function withUnshipped(
  reports: readonly MemberReport[],
  {
    archived,
    facts,
    request,
  }: { archived: readonly ArchivedNode[]; facts: readonly MemberFacts[]; request: Unshipped },
): MemberReport[] {
  const nodes = new Map(archived.map((node) => [node.node, node]));
  const found = new Map(reports.map((report) => [report.id, report]));
  // A member without logs has nothing to ship.
  const hasLogs = ({ id, isAlive, logs }: MemberFacts) => !isAlive || logs.size > 0 || nodes.has(id);
  const members = new Set(facts.filter((member) => isSelected(member, request) && hasLogs(member)).map(({ id }) => id));
  const untilMs = Math.min(request.toMs ?? Infinity, Date.now() - MAX_LAG_MS); // clock: compared with times of records
  return [...new Set([...found.keys(), ...members])].sort().map((id) => {
    const nothing: MemberReport = { id, outcome: 'ok', detail: null, elapsedMs: 0, count: 0, asOfMs: null };
    const report = found.get(id) ?? nothing;
    const node = nodes.get(id);
    if (!node) return members.has(id) ? asPartial(report, [UNKNOWN]) : report;
    const archive: MemberArchive = { count: report.count, beforeMs: null, ...shippedRange(node) };
    const toMs = archive.shippedToMs ?? Infinity;
    if (!members.has(id) || toMs >= untilMs) return { ...report, archive };
    return asPartial({ ...report, archive }, [`what it logged after ${text(toMs)} is not in the archive yet`]);
  });
}

interface Unshipped extends MemberSelection {
  toMs?: number | undefined;
}

/** Nothing is covered of which a member has not shipped everything. */
export function clipCoverage(
  { coveredFromMs, coveredToMs }: Pick<ClusterEnd, 'coveredFromMs' | 'coveredToMs'>,
  members: readonly MemberReport[],
): Pick<ClusterEnd, 'coveredFromMs' | 'coveredToMs'> {
  const isKnown = members.every(({ isPartial, archive }) => !isPartial || archive);
  const shippedTos = members.flatMap(({ isPartial, archive }) => (isPartial ? (archive?.shippedToMs ?? []) : []));
  const toMs = Math.min(coveredToMs ?? -Infinity, ...shippedTos.map((timeMs) => timeMs - 1));
  if (!isKnown || (coveredFromMs ?? Infinity) > toMs) return { coveredFromMs: null, coveredToMs: null };
  return { coveredFromMs: coveredFromMs ?? null, coveredToMs: toMs };
}

/** Times by the clock of the node. */
export function shippedRange({
  logs,
}: ArchivedNode): Pick<MemberArchive, 'shippedFromMs' | 'shippedToMs' | 'lostBytes'> {
  const froms = logs.flatMap(({ fromMs }) => fromMs ?? []);
  const tos = logs.flatMap(({ shippedToMs }) => shippedToMs ?? []);
  return {
    shippedFromMs: froms.length === 0 ? null : froms.reduce((a, b) => Math.min(a, b)),
    shippedToMs: tos.length === 0 ? null : tos.reduce((a, b) => Math.min(a, b)),
    lostBytes: logs.reduce((sum, { lostBytes }) => sum + lostBytes, 0),
  };
}

/** Gaps that a report names; there are rarely more than one. */
const MAX_GAPS = 3;

/** Says which records may be missing. */
function markGaps(report: MemberReport, gaps: readonly Gap[]): MemberReport {
  if (gaps.length === 0) return report;
  const texts = gaps.slice(0, MAX_GAPS).map(({ log, fromMs, toMs, why, isUntimed }) => {
    const which = isUntimed ? 'without a timestamp' : `between ${text(fromMs)} and ${text(toMs)}`;
    return `${log}: records ${which} may be missing: ${why}`;
  });
  const more = gaps.length > MAX_GAPS ? [`${gaps.length - MAX_GAPS} more logs have such gaps`] : [];
  return asPartial(report, [...texts, ...more]);
}

function asPartial(report: MemberReport, why: readonly string[]): MemberReport {
  const details = [...(report.detail === null ? [] : [report.detail]), ...why];
  return { ...report, isPartial: true, detail: details.join('; ') };
}

function text(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

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

export function blameArchive(error: unknown, problem: string | undefined): unknown {
  if (problem === undefined || !isGone(error)) return error;
  return new PortholeError('ARCHIVE_UNAVAILABLE', `${problem}; of members: ${errorMessage(error)}`, { cause: error });
}

/**
 * What members found, with the problem of the archive in its end. What they do not have is not said to be nowhere while
 * the archive cannot be read.
 */
export async function* withProblem(
  found: AsyncIterable<ClusterItem[]>,
  problem: string | undefined,
): AsyncGenerator<ClusterItem[], void, undefined> {
  try {
    for await (const items of found)
      yield problem === undefined
        ? items
        : items.map((item) => (item.type === 'end' ? { ...item, archive: failedPart(problem) } : item));
  } catch (error) {
    throw blameArchive(error, problem);
  }
}

export function failedPart(problem: string): ArchivePart {
  return { records: 0, beforeMs: null, problem };
}

/** A failure of the archive is a result; one of the request is not. */
export async function settleArchive<T>(
  call: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<{ value: T } | { failure: unknown; problem: string }> {
  try {
    return { value: await call };
  } catch (failure) {
    signal?.throwIfAborted();
    if (codeOf(failure) !== 'ARCHIVE_UNAVAILABLE') throw failure;
    return { failure, problem: errorMessage(failure) };
  }
}
