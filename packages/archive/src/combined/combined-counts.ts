import {
  type ArchivePart,
  addBuckets,
  type ClusterDigest,
  type ClusterFields,
  type ClusterHistogram,
  type ClusterState,
  type ClusterTop,
  codeOf,
  formatLogSource,
  type MemberReport,
  type MemberSelection,
  mergeBuckets,
  mergeFields,
  mergeTop,
  type SearchOptions,
  sharedRange,
} from '@porthole/contract';
import { bucketWidth, mergeGroups } from '@porthole/logs';
import type {
  DigestQuery,
  FieldsQuery,
  HistogramQuery,
  LogSelection,
  RecordFilter,
  TopQuery,
} from '@porthole/logs/types';
import type { ArchiveOptions } from '../query/prepare-query.ts';
import { archivePart, blameArchive, reportsOfUnasked, settleArchive, withArchive } from './combined-reports.ts';
import { type ClusterFacts, cutOf, MISSING_LOG, type SourcePlan } from './plan-sources.ts';

/* Counts of members and of the archive, of which no record is in both, added up. */

export const MAX_GROUPS = 1000;
const MAX_FIELDS = 1000;
const MAX_VALUES = 10_000;

/** How many logs of members are counted at a time. */
const PARALLEL = 4;

/** A floor after all records: the member counts nothing. The last millisecond with a year of four digits. */
const NEVER_MS = 253_402_300_799_999;

/** Where counts are made: by members, or in the archive. */
export type CountSource = Pick<ClusterState, 'logHistogram' | 'logDigest' | 'logFields' | 'logTop'>;

export type CountRequest = MemberSelection & LogSelection & Pick<RecordFilter, 'fromMs' | 'toMs'>;

export interface Counted {
  members: MemberReport[];
  archive?: ArchivePart;
}

/** One kind of count: how a source is asked for it, and how responses are added up. */
export interface CountKind<Request extends CountRequest, Result extends Counted> {
  count(source: CountSource, request: Request, options: ArchiveOptions): Promise<Result>;
  merge(parts: readonly Result[]): Partial<Result>;
}

/*
 * Each source is asked for more than is returned, where what is frequent only in total must not be missed.
 */

export const HISTOGRAM: CountKind<HistogramQuery & MemberSelection, ClusterHistogram> = {
  count: (source, request, options) => source.logHistogram(request, options),
  merge: mergeHistograms,
};

export function digestKind({ limit }: DigestQuery): CountKind<DigestQuery & MemberSelection, ClusterDigest> {
  const most = Math.min(MAX_GROUPS, limit * 4);
  return {
    count: (source, request, options) => source.logDigest({ ...request, limit: most }, options),
    merge: (parts) => mergeGroups(parts, { limit }),
  };
}

export function fieldsKind({ limit }: FieldsQuery): CountKind<FieldsQuery & MemberSelection, ClusterFields> {
  return {
    count: (source, request, options) => source.logFields({ ...request, limit: MAX_FIELDS }, options),
    merge: (parts) => mergeAllFields(parts, { limit }),
  };
}

export function topKind({ limit, values }: TopQuery): CountKind<TopQuery & MemberSelection, ClusterTop> {
  const areGiven = values !== undefined;
  return {
    count: (source, request, options) => source.logTop(areGiven ? request : { ...request, limit: MAX_VALUES }, options),
    merge: (parts) => mergeTops(parts, { limit, areGiven }),
  };
}

export interface CountDeps {
  cluster: CountSource;
  archive: CountSource;
  plan: SourcePlan;
  facts: ClusterFacts;
  options: SearchOptions;
}

/** Counts in members and archive. If the archive fails, the members count everything they have, and the response says so. */
export async function countBoth<Request extends CountRequest, Result extends Counted>(
  deps: CountDeps,
  request: Request,
  kind: CountKind<Request, Result>,
): Promise<Result> {
  const { cluster, archive, plan, facts, options } = deps;
  const [fromMembers, archived] = await Promise.all([
    plan.asksMembers ? countMembers(deps, request, kind) : undefined,
    plan.archive
      ? settleArchive(kind.count(archive, request, { ...options, ...plan.archive }), options.signal)
      : undefined,
  ]);
  const { fromMs, toMs } = request;
  const share = { plan, facts: facts.members, range: { fromMs, toMs } };
  if (archived && 'problem' in archived) {
    const { floors: _floors, ...unbounded } = plan.members;
    const { problem } = archived;
    const counted = await kind
      .count(cluster, { ...request, ...unbounded, store: 'nodes' }, options)
      .catch((error: unknown) => {
        throw blameArchive(error, problem);
      });
    const failed = { ...share, counts: new Map<string, number>(), problem };
    return { ...counted, members: withArchive(counted.members, failed), archive: archivePart(failed) };
  }
  const past = archived?.value;
  const parts = [...(fromMembers?.parts ?? []), ...(past ? [past] : [])];
  const counts = new Map(past?.members.map(({ id, count }) => [id, count]));
  const read = { ...share, counts, problem: null };
  const reports = withArchive(fromMembers?.members ?? reportsOfUnasked(facts.members, request), read);
  const partial = new Map(past?.members.filter(({ isPartial }) => isPartial).map((report) => [report.id, report]));
  return {
    ...kind.merge(parts),
    members: reports.map((report) => withPartial(report, partial.get(report.id))),
    archive: archivePart(read),
  } as Result;
}

function withPartial(report: MemberReport, archived: MemberReport | undefined): MemberReport {
  if (!archived) return report;
  const details = [report.detail, `archive: ${archived.detail}`].filter((text) => text !== null);
  return { ...report, isPartial: true, detail: details.join('; ') };
}

/** The counts of members: of all at once, but log by log of those whose logs have cuts of their own. */
async function countMembers<Request extends CountRequest, Result extends Counted>(
  { cluster, plan, facts, options }: CountDeps,
  request: Request,
  kind: CountKind<Request, Result>,
): Promise<{ parts: Result[]; members: MemberReport[] }> {
  const divided = facts.members.filter(({ id, isAlive }) => isAlive && plan.logCuts.has(id));
  const none = Object.fromEntries(divided.map(({ id }) => [id, NEVER_MS]));
  const members = { ...plan.members, floors: { ...plan.members.floors, ...none } };
  const first = await kind.count(cluster, { ...request, ...members, store: 'nodes' }, options);
  const parts = [first];
  const reports = new Map(first.members.map((report) => [report.id, report]));
  const logs = divided.flatMap(({ id, logs: own }) =>
    reports.get(id)?.outcome === 'ok' ? [...own.keys()].map((log) => ({ id, log })) : [],
  );
  for (let at = 0; at < logs.length; at += PARALLEL) {
    for (const part of await Promise.all(logs.slice(at, at + PARALLEL).map(countLog))) {
      if (!part) continue;
      parts.push(part);
      for (const report of part.members) reports.set(report.id, joinReports(reports.get(report.id), report));
    }
  }
  return { parts, members: [...reports.values()] };

  async function countLog({ id, log }: { id: string; log: string }): Promise<Result | undefined> {
    const floors = { [id]: cutOf(plan.cuts, id, log) };
    try {
      const src = [formatLogSource({ node: id, kind: 'family', name: log })];
      const { nodes: _nodes, role: _role, labels: _labels, ...rest } = request;
      const asked: object = { ...rest, src, floors, store: 'nodes' };
      return await kind.count(cluster, asked as Request, options);
    } catch (error) {
      // Deleted in the meantime, or empty: its report says what is missing.
      if (!MISSING_LOG.has(codeOf(error))) throw error;
      return undefined;
    }
  }
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

type Merged<T> = Omit<T, 'members' | 'archive'>;

/** Its counts are those of several nodes, at corrected times. */
const SEVERAL = { id: null, offsetAt: () => 0 };

function mergeHistograms(parts: readonly ClusterHistogram[]): Merged<ClusterHistogram> {
  const bucketMs = parts.reduce((widest, part) => Math.max(widest, part.bucketMs), 1);
  return {
    bucketMs,
    buckets: mergeBuckets(
      parts.map((histogram) => ({ ...SEVERAL, histogram })),
      { bucketMs },
    ),
    untimed: parts.reduce((sum, { untimed }) => sum + untimed, 0),
    counted: sharedRange(parts.map(({ counted }) => counted)),
  };
}

function mergeAllFields(parts: readonly ClusterFields[], { limit }: { limit: number }): Merged<ClusterFields> {
  const merged = mergeFields(
    parts.map((fields) => ({ ...SEVERAL, fields })),
    { limit },
  );
  return { ...merged, counted: sharedRange(parts.map(({ counted }) => counted)) };
}

function mergeTops(parts: readonly ClusterTop[], options: { limit: number; areGiven: boolean }): Merged<ClusterTop> {
  const tops = parts.map((top) => ({ ...SEVERAL, top }));
  const merged = mergeTop(tops, options);
  const bucketMs = parts.reduce((widest, part) => Math.max(widest, part.bucketMs ?? 0), 0);
  return {
    by: parts[0]?.by ?? '',
    ...merged,
    ...(bucketMs > 0 && { values: addBuckets(merged.values, tops, { bucketMs }), bucketMs }),
    counted: sharedRange(parts.map(({ counted }) => counted)),
  };
}

/** The width of buckets of a range that neither side knows as a whole. */
export function commonWidth(
  { fromMs, toMs, bucketMs, buckets }: HistogramQuery,
  { plan, facts }: { plan: SourcePlan; facts: ClusterFacts },
): number {
  const first = plan.archived.flatMap(({ logs }) => logs.flatMap((log) => log.fromMs ?? []));
  const onDisk = facts.members.flatMap(({ logs }) => [...logs.values()].flatMap((timeMs) => timeMs ?? []));
  const startMs = fromMs ?? [...first, ...onDisk].reduce((a, b) => Math.min(a, b), Infinity);
  const last = plan.archived.flatMap(({ logs }) => logs.flatMap((log) => log.lastMs ?? []));
  const endMs = toMs ?? last.reduce((a, b) => Math.max(a, b), Date.now()); // clock: time ranges of requests
  const spanMs = Number.isFinite(startMs) ? Math.max(0, endMs - startMs) : 0;
  return bucketWidth({ spanMs, bucketMs, buckets });
}
