import {
  type CallOptions,
  type ClusterItem,
  type ClusterRecord,
  type ClusterState,
  type Floors,
  isPattern,
  isSelected,
  type Labels,
  LogSources,
  type MemberReport,
  type MemberSelection,
  type MembershipState,
  namedNodes,
  parseLogSource,
  type SelectableMember,
  selectsMembers,
  sourcesOf,
} from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';
import type { RecordFilter } from '@porthole/logs/types';
import { filterBatch, isBatch, type RecordBatch, recordsOf } from '@porthole/records';
import type { ArchivedLog, ArchivedNode } from '../query/archived-nodes.ts';
import { type Ceilings, familyOf } from '../query/prepare-query.ts';

/** With more members, most share one cut, so that requests and cursors stay small. */
const MAX_OWN_CUTS = 32;

/**
 * Maximum logs on the disks of nodes whose logs have cuts of their own: counts ask for each of these logs. Other nodes get
 * one cut, and what it leaves out is reported.
 */
export const MAX_OWN_LOGS = 64;

/** A log that no member has any more may be in the archive. */
export const MISSING_LOG: ReadonlySet<string> = new Set(['LOG_FILE_NOT_FOUND', 'LOG_FAMILY_NOT_FOUND']);

export type PlannedRequest = MemberSelection & Pick<RecordFilter, 'fromMs' | 'toMs'>;

/** Which records come from members and which from the archive. */
export interface SourcePlan {
  /** What is asked for. */
  asked: PlannedRequest;
  cuts: Cuts;
  logCuts: LogCuts;
  members: Pick<MemberSelection, 'nodes' | 'src'> & { floors: Floors };
  /** Whether members can have something. */
  asksMembers: boolean;
  /** `null`: the archive is not asked. */
  archive: { ids: readonly string[]; ceilings: Ceilings } | null;
  /** The selected nodes that the archive knows. */
  archived: readonly ArchivedNode[];
  /** Records may be in neither part: reports of members say which. */
  hasGaps: boolean;
  /** Corrected times: the archive has nothing after the first, members nothing before the second. */
  archiveToMs: number;
  membersFromMs: number;
}

export interface Known {
  facts: readonly MemberFacts[];
  archived: readonly ArchivedNode[];
}

/** Plans a request that may read both. `given`: the cuts of its first page. */
export function planSources(request: PlannedRequest, { facts, archived }: Known, given?: Cuts): SourcePlan {
  const members = new Map(facts.filter((member) => isSelected(member, request)).map((member) => [member.id, member]));
  const ids = new Set(facts.map(({ id }) => id));
  const shipped = archived.filter(({ node, role, labels }) =>
    ids.has(node) ? members.has(node) : isSelected({ id: node, role, labels }, request),
  );
  const cuts = given ?? cutNodes(shipped, members, request);
  const { fromMs = -Infinity, toMs = Infinity } = request;
  const logCuts = readLogCuts(cuts);
  const spans = shipped.map((node) => ({
    id: node.node,
    toMs: archivedTo(node, cuts) - (members.get(node.node)?.offsetMs ?? 0),
  }));
  const inArchive = spans.filter((span) => span.toMs > fromMs);
  const known = new Set(shipped.map(({ node }) => node));
  const floorOf = (id: string) =>
    known.has(id) || Object.hasOwn(cuts, id) ? lowestCut(id, cuts, logCuts) : NOTHING_MS;
  const starts = [...members.values()].map(({ id, offsetMs }) => floorOf(id) - offsetMs);
  const isArchived = (name: string) => !ids.has(name) && shipped.some(({ node }) => node === name);
  const names = namedNodes(request).filter((name) => !isArchived(name));
  const isAsked = starts.some((startMs) => startMs < toMs) || shipped.length === 0 || hasUnknown(names, ids);
  const floors = [...members.keys()].map((id) => [id, floorOf(id)] as const);
  return {
    asked: request,
    cuts,
    logCuts,
    members: { ...withoutNodes(request, isArchived), floors: withoutNothing(compact(new Map(floors))) },
    asksMembers: isAsked,
    archive: inArchive.length > 0 ? toArchivePlan(inArchive, cuts, logCuts) : null,
    archived: shipped,
    hasGaps: shipped.some((node) => {
      const member = members.get(node.node);
      return member?.isAlive && findGaps(node, member, { plan: { cuts, asked: request }, range: request }).length > 0;
    }),
    archiveToMs: inArchive.reduce((latest, span) => Math.max(latest, span.toMs), -Infinity),
    membersFromMs: starts.reduce((first, startMs) => Math.min(first, startMs), Infinity),
  };
}

function toArchivePlan(
  spans: readonly { id: string }[],
  cuts: Cuts,
  logCuts: LogCuts,
): NonNullable<SourcePlan['archive']> {
  const ids = spans.map(({ id }) => id);
  const nodes = Object.fromEntries(ids.map((id) => [id, beforeOf(cuts, id)]));
  const logs = ids.flatMap((node) =>
    [...(logCuts.get(node) ?? [])].map(([log, cutMs]) => ({
      node,
      log,
      ceiling: cutMs < EVERYTHING_MS ? cutMs : null,
    })),
  );
  return { ids, ceilings: { nodes, ...(logs.length > 0 && { logs }) } };
}

/** A member is asked for everything that any of its logs has to return. */
function lowestCut(id: string, cuts: Cuts, logCuts: LogCuts): number {
  return [...(logCuts.get(id)?.values() ?? [])].reduce((a, b) => Math.min(a, b), cutOf(cuts, id));
}

/** Own time after which the archive returns nothing of a node. */
function archivedTo({ node, logs }: ArchivedNode, cuts: Cuts): number {
  return logs.reduce((latest, { log, lastMs }) => {
    const cutMs = cutOf(cuts, node, log);
    if (cutMs === NOTHING_MS) return latest;
    // Without a time, records come last.
    return Math.max(latest, lastMs === null ? NOTHING_MS : Math.min(cutMs, lastMs + 1));
  }, -Infinity);
}

/** An id that neither the cluster nor the archive knows: the cluster refuses it. */
function hasUnknown(names: readonly string[], ids: ReadonlySet<string>): boolean {
  return names.some((name) => !isPattern(name) && !ids.has(name));
}

/** The nodes and sources of a request without those that only the archive has. */
function withoutNodes(
  { nodes, role, labels, src }: MemberSelection,
  isLeftOut: (name: string) => boolean,
): Pick<MemberSelection, 'nodes' | 'src'> {
  const kept = src?.filter((text) => !isLeftOut(parseLogSource(text).node));
  const names = nodes?.filter((name) => !isLeftOut(name));
  // Without the nodes that sources named, all would be asked.
  const isNobody = selectsMembers({ ...(src && { src }) }) && !selectsMembers({ ...(kept && { src: kept }) });
  const hasOthers = nodes !== undefined || role !== undefined || labels !== undefined;
  return {
    ...(names && { nodes: names }),
    ...(isNobody && !hasOthers && { nodes: [] }),
    ...(kept && { src: kept }),
  };
}

export function toCutRequest(request: PlannedRequest, member: SelectableMember): CutRequest {
  const { fromMs, toMs } = request;
  const logs = new LogSources(sourcesOf(member, request));
  return { logs, isTimed: fromMs !== undefined || toMs !== undefined };
}

function cutNodes(
  shipped: readonly ArchivedNode[],
  members: ReadonlyMap<string, MemberFacts>,
  request: PlannedRequest,
): Cuts {
  let room = MAX_OWN_LOGS;
  const own: [string, number][] = [];
  const ranges = shipped.map((archived) => {
    const { node: id } = archived;
    const facts = members.get(id);
    // No member any more.
    if (!facts) return { id, cutMs: EVERYTHING_MS, toMs: EVERYTHING_MS };
    const { cutMs, toMs, logs } = cutNode(archived, facts, toCutRequest(request, facts));
    const size = logs.length === 0 ? 0 : facts.logs.size + logs.length;
    if (size > room) return { id, cutMs, toMs };
    room -= size;
    for (const each of logs) own.push([logKey(id, each.log), each.cutMs]);
    return { id, cutMs, toMs };
  });
  return { ...shareCuts(ranges), ...Object.fromEntries(own) };
}

function shareCuts(ranges: readonly { id: string; cutMs: number; toMs: number }[]): Cuts {
  if (ranges.length <= MAX_OWN_CUTS) return Object.fromEntries(ranges.map(({ id, cutMs }) => [id, cutMs]));
  // As few values as possible: the latest cut is possible for all nodes that have shipped that much.
  const cuts = new Map<string, number>();
  let open = ranges.toSorted((a, b) => b.cutMs - a.cutMs);
  while (open[0] !== undefined) {
    const { cutMs } = open[0];
    for (const { id, toMs } of open) if (toMs >= cutMs) cuts.set(id, cutMs);
    open = open.filter(({ id }) => !cuts.has(id));
  }
  return compact(cuts);
}

/** Without the members that have no floor, unless all others have one. */
function withoutNothing(floors: Readonly<Record<string, number>>): Floors {
  if ('*' in floors) return floors;
  return Object.fromEntries(Object.entries(floors).filter(([, floorMs]) => floorMs > NOTHING_MS));
}

/** The most frequent value as `*`, if there are many. */
function compact(values: ReadonlyMap<string, number>): Record<string, number> {
  if (values.size <= MAX_OWN_CUTS) return Object.fromEntries(values);
  const common = mostFrequent(values.values()) ?? NOTHING_MS;
  return Object.fromEntries([['*', common], ...[...values].filter(([, value]) => value !== common)]);
}

/** A time range of a log, by the clock of its node, of which records may be in neither part of a response. */
export interface Gap {
  log: string;
  fromMs: number;
  toMs: number;
  why: string;
  /** It is records without a time that may be missing: there is no range. */
  isUntimed?: true;
}

interface GapRequest {
  plan: Pick<SourcePlan, 'cuts' | 'asked'>;
  /** By the clock of the node that is asked. */
  range: { fromMs?: number | undefined; toMs?: number | undefined };
}

/** What a living member no longer has on disk after its cut, and what it has not shipped before it. */
export function findGaps(node: ArchivedNode, facts: MemberFacts, { plan, range }: GapRequest): Gap[] {
  const shipped = new Map(node.logs.map((log) => [log.log, log]));
  const asked = toCutRequest(plan.asked, facts);
  const names = new Set([...shipped.keys(), ...facts.logs.keys()]);
  const { fromMs = -Infinity, toMs = Infinity } = range;
  return [...names].flatMap((log) => {
    if (!asked.logs.hasFamily(log)) return [];
    const onDiskMs = facts.logs.get(log);
    const cutMs = cutOf(plan.cuts, node.node, log);
    const untimed = untimedGap(shipped.get(log), onDiskMs, { cutMs, asked });
    if (untimed) return [{ log, fromMs: 0, toMs: 0, why: untimed, isUntimed: true as const }];
    const gap = findGap(shipped.get(log), onDiskMs, cutMs);
    if (!gap) return [];
    const clipped = {
      fromMs: Math.max(gap.fromMs, Math.floor(fromMs + facts.offsetMs)),
      toMs: Math.min(gap.toMs, Math.ceil(toMs + facts.offsetMs)),
    };
    return clipped.fromMs < clipped.toMs ? [{ log, why: gap.why, ...clipped }] : [];
  });
}

/** Why records without a time are missing: they are on no side of a cut. */
function untimedGap(
  shipped: ArchivedLog | undefined,
  onDiskMs: number | null | undefined,
  { cutMs, asked }: { cutMs: number; asked: CutRequest },
): string | undefined {
  if (!shipped || !asksUntimed(shipped, onDiskMs, asked)) return undefined;
  if (onDiskMs === undefined)
    return cutMs < EVERYTHING_MS ? 'they are only in the archive: use "store=archive"' : undefined;
  if (cutMs > NOTHING_MS) return 'the log has other records in the archive: use "store=nodes" and "store=archive"';
  return onDiskMs === null && shipped.gone.files > 0
    ? 'files were deleted, and are only in the archive: use "store=archive"'
    : undefined;
}

function findGap(
  shipped: ArchivedLog | undefined,
  onDiskMs: number | null | undefined,
  cutMs: number,
): Omit<Gap, 'log'> | undefined {
  const { fromMs: firstMs = null, shippedToMs = null } = shipped ?? {};
  if (onDiskMs === undefined || onDiskMs === null) return undefined;
  if (shipped && firstMs !== null && shippedToMs !== null) {
    if (firstMs < onDiskMs && shippedToMs < onDiskMs)
      return { fromMs: shippedToMs, toMs: onDiskMs, why: 'they were deleted before they were shipped' };
    const goneToMs = onlyArchivedTo(shipped, onDiskMs);
    if (cutMs < goneToMs)
      return {
        fromMs: Math.max(cutMs, firstMs),
        toMs: goneToMs,
        why: 'they are only in the archive: use "store=archive"',
      };
  }
  const archivedToMs = Math.max(onDiskMs, shippedToMs ?? onDiskMs);
  if (archivedToMs < cutMs)
    return { fromMs: archivedToMs, toMs: cutMs, why: 'they are not in the archive yet: use "store=nodes"' };
  return undefined;
}

/** Before which time records may be in the archive only. */
function onlyArchivedTo(shipped: ArchivedLog, onDiskMs: number): number {
  if (isInStep(shipped, onDiskMs)) return shipped.gone.files === 0 ? -Infinity : shipped.gone.toMs + 1;
  return (shipped.fromMs ?? onDiskMs) < onDiskMs ? onDiskMs : -Infinity;
}

/** A cut before all times: nothing comes from the archive. After all times: everything does. */
const NOTHING_MS = -8.64e15;
const EVERYTHING_MS = 8.64e15;

/**
 * The cut of each node, `*` for all others: its records before this time, by its own clock, come from the archive, and
 * all others from its disk. So each record comes from exactly one of them, whatever the clocks say. A log that needs
 * another cut than the rest of its node has its own, under `node/log`: ids of nodes have no slash.
 */
export type Cuts = Readonly<Record<string, number>>;

/** The cuts of logs that are not those of their nodes, by node. */
type LogCuts = ReadonlyMap<string, ReadonlyMap<string, number>>;

export function logKey(node: string, log: string): string {
  return `${node}/${log}`;
}

function readLogCuts(cuts: Cuts): LogCuts {
  const byNode = new Map<string, Map<string, number>>();
  for (const [key, cutMs] of Object.entries(cuts)) {
    const slash = key.indexOf('/');
    if (slash < 0) continue;
    const node = key.slice(0, slash);
    const logs = byNode.get(node) ?? new Map<string, number>();
    byNode.set(node, logs.set(key.slice(slash + 1), cutMs));
  }
  return byNode;
}

/** The cut of a log, or of the logs of a node that have none of their own. */
export function cutOf(cuts: Cuts, node: string, log?: string): number {
  const own = log === undefined ? undefined : logKey(node, log);
  const key = [own, node].find((name) => name !== undefined && Object.hasOwn(cuts, name)) ?? '*';
  return cuts[key] ?? NOTHING_MS;
}

/** Own time before which the records of a node come from the archive; `null`: all of them do. */
export function beforeOf(cuts: Cuts, node: string): number | null {
  const cutMs = cutOf(cuts, node);
  return cutMs === EVERYTHING_MS ? null : cutMs;
}

/** A member is asked from the earliest cut of its logs: leaves out what it returned of logs before theirs. */
export async function* withoutArchived(
  found: AsyncIterable<ClusterItem[]>,
  plan: { cuts: Cuts; logCuts: LogCuts },
): AsyncGenerator<ClusterItem[], void, undefined> {
  for await (const items of found) yield items.filter((item) => item.type === 'end' || !isOfArchive(plan, item));
}

/** The same of batches. */
export async function* withoutArchivedLines<End extends { type: 'end' }>(
  found: AsyncIterable<RecordBatch | End>,
  plan: { cuts: Cuts; logCuts: LogCuts },
): AsyncGenerator<RecordBatch | End, void, undefined> {
  if (plan.logCuts.size === 0) return yield* found;
  for await (const item of found) {
    const records = isBatch(item) ? recordsOf<ClusterRecord>(item) : [];
    yield isBatch(item) ? filterBatch(item, (index) => !isOfArchive(plan, records[index] as ClusterRecord)) : item;
  }
}

function isOfArchive(
  { cuts, logCuts }: { cuts: Cuts; logCuts: LogCuts },
  { node, file, timeMs }: ClusterRecord,
): boolean {
  if (timeMs === undefined || !logCuts.has(node)) return false;
  return timeMs < cutOf(cuts, node, familyOf(file));
}

/** How far records of one log may be out of order: near the cut, the archive is preferred by this much. */
const TOLERANCE_MS = 60_000;

/** The times at which one log can be cut so that nothing is missing, both included. */
interface CutRange {
  log: string;
  fromMs: number;
  toMs: number;
}

/** Where a node is cut. */
interface NodeCut {
  cutMs: number;
  /** Any time up to this is as good. */
  toMs: number;
  /** Logs that this cut does not suit, with their own. */
  logs: readonly { log: string; cutMs: number }[];
}

/** What is asked for of a node. */
export interface CutRequest {
  logs: LogSources;
  /** Only records with a time: a time range is. */
  isTimed: boolean;
}

/**
 * Cuts a member so that nothing is missing: each of its logs not before anything that is only in the archive, and not
 * after anything that is only on its disk. One cut for all of its logs if there is one; else one that suits most of
 * them.
 */
function cutNode(archived: ArchivedNode, facts: MemberFacts, request: CutRequest): NodeCut {
  const ranges = cutRanges(archived, facts, request);
  const fromMs = ranges.reduce((latest, range) => Math.max(latest, range.fromMs), NOTHING_MS);
  const toMs = ranges.reduce((first, range) => Math.min(first, range.toMs), EVERYTHING_MS - 1);
  if (fromMs <= toMs) return { cutMs: fromMs, toMs, logs: [] };
  const suits = (cutMs: number) => ranges.filter((range) => range.fromMs <= cutMs && cutMs <= range.toMs).length;
  const cutMs = ranges
    .map((range) => range.fromMs)
    .filter((each) => each < EVERYTHING_MS)
    .reduce(
      (best, each) => (suits(each) > suits(best) || (suits(each) === suits(best) && each > best) ? each : best),
      NOTHING_MS,
    );
  const others = ranges.filter((range) => range.fromMs > cutMs || cutMs > range.toMs);
  return { cutMs, toMs: cutMs, logs: others.map((range) => ({ log: range.log, cutMs: range.fromMs })) };
}

function cutRanges({ logs }: ArchivedNode, facts: MemberFacts, request: CutRequest): CutRange[] {
  const shipped = new Map(logs.map((log) => [log.log, log]));
  const names = new Set([...shipped.keys(), ...facts.logs.keys()]);
  return [...names]
    .filter((log) => request.logs.hasFamily(log))
    .map((log) => ({ log, ...cutLog(shipped.get(log), facts, { ...request, log }) }));
}

const ANYWHERE = { fromMs: NOTHING_MS, toMs: EVERYTHING_MS - 1 };
const ON_DISK = { fromMs: NOTHING_MS, toMs: NOTHING_MS };
const ARCHIVED = { fromMs: EVERYTHING_MS, toMs: EVERYTHING_MS };

/** The times at which a log can be cut. */
export function cutLog(
  shipped: ArchivedLog | undefined,
  { isAlive, logs }: MemberFacts,
  { log, ...request }: CutRequest & { log: string },
): Omit<CutRange, 'log'> {
  const onDiskMs = logs.get(log);
  const { fromMs: firstMs = null, lastMs = null, shippedToMs = null } = shipped ?? {};
  // Records without a time are on no side of a cut: a log is read as a whole where all of them are.
  if (shipped && asksUntimed(shipped, onDiskMs, request)) {
    if (onDiskMs === undefined && (isAlive || lastMs === null)) return ARCHIVED;
    if (onDiskMs === null || (onDiskMs !== undefined && isInStep(shipped, onDiskMs) && shipped.gone.files === 0))
      return ON_DISK;
  }
  if (!shipped || firstMs === null || lastMs === null || shippedToMs === null) {
    // The archive may have nothing of it: all of it is read from disk.
    if (onDiskMs === undefined) return ANYWHERE;
    if (onDiskMs === null) return request.isTimed || !request.logs.names('family', log) ? ANYWHERE : ON_DISK;
    return { fromMs: NOTHING_MS, toMs: onDiskMs - TOLERANCE_MS };
  }
  // A recording has the newest records: what was shipped is read from the archive.
  if (!isAlive) return { fromMs: Math.min(lastMs + 1, shippedToMs), toMs: shippedToMs };
  // Not on its disk any more: all of it is in the archive.
  if (onDiskMs === undefined) return { fromMs: lastMs + 1, toMs: Math.max(lastMs + 1, shippedToMs) };
  const toMs = shippedToMs - Math.max(TOLERANCE_MS, shipped.disorderMs);
  if (onDiskMs === null) return { fromMs: NOTHING_MS, toMs };
  if (isInStep(shipped, onDiskMs)) {
    if (shipped.gone.files === 0) return { fromMs: NOTHING_MS, toMs };
    // Behind everything that was deleted, whatever the order of times, and a little behind where the disk begins: what is
    // deleted next, while pages are read, is mostly older than that.
    const fromMs = Math.max(shipped.gone.toMs + 1, Math.min(onDiskMs + TOLERANCE_MS, toMs));
    return { fromMs, toMs: Math.max(fromMs, toMs) };
  }
  // Files were deleted in the last seconds: as much as possible is read from the archive.
  if (onDiskMs + TOLERANCE_MS <= toMs) return { fromMs: toMs, toMs };
  // Its disk does not reach back far enough: in between. What is missing is reported.
  const closeMs = Math.ceil((Math.min(onDiskMs, shippedToMs) + shippedToMs) / 2);
  return { fromMs: closeMs, toMs: closeMs };
}

/**
 * Times are corrected and uncorrected on the way, by offsets that may have been measured anew in between. Where a log is cut,
 * that is behind the beginning of its disk by more than this.
 */
const STEP_MS = 30_000;
const UNCUT_STEP_MS = 1000;

/** Whether the log had the same oldest record when its node last said what it has shipped. */
export function isInStep({ diskFromMs, gone }: ArchivedLog, onDiskMs: number): boolean {
  if (diskFromMs === null) return false;
  return Math.abs(diskFromMs - onDiskMs) <= (gone.files === 0 ? UNCUT_STEP_MS : STEP_MS);
}

/**
 * Whether records of a log that have no time are asked for. Logs without any time are not part of requests that name no
 * log: members leave them out.
 */
function asksUntimed(
  { log, untimed, lastMs }: ArchivedLog,
  onDiskMs: number | null | undefined,
  { logs, isTimed }: CutRequest,
): boolean {
  if (isTimed) return false;
  const isWithout = onDiskMs === null || lastMs === null;
  return isWithout ? logs.names('family', log) : untimed > 0;
}

export function mostFrequent(values: Iterable<number>): number | null {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const none: [number | null, number] = [null, 0];
  return [...counts].reduce<[number | null, number]>((most, entry) => (entry[1] > most[1] ? entry : most), none)[0];
}

/** What is known of a member when a request is planned. */
export interface MemberFacts {
  id: string;
  role: string;
  labels?: Labels;
  /** Whether it has just listed its logs. Others are represented by what was recorded of them, and by the archive. */
  isAlive: boolean;
  /** How it responded to that. */
  report: MemberReport;
  /** To take off its times. */
  offsetMs: number;
  /** Its logs, by family: the oldest time on its disk by its own clock; `null`: its records have no times. */
  logs: ReadonlyMap<string, number | null>;
}

export interface ClusterFacts {
  members: readonly MemberFacts[];
  membership: MembershipState;
}

/** Asks the members what they have on disk. */
export async function fetchFacts(cluster: Pick<ClusterState, 'nodes' | 'logFiles'>): Promise<ClusterFacts> {
  const [{ nodes, membership }, { files, members }] = await Promise.all([cluster.nodes(), cluster.logFiles({})]);
  const reports = new Map(members.map((report) => [report.id, report]));
  const logs = new Map<string, Map<string, number | null>>();
  const offsets = new Map(nodes.map(({ id, clock }) => [id, Math.round(clock?.offsetMs ?? 0)]));
  for (const { node, family, firstTimeMs, format } of files) {
    // Has no records: the rest of its log may be in the archive.
    if (format === 'empty') continue;
    const own = logs.get(node) ?? new Map<string, number | null>();
    logs.set(node, own);
    const timeMs = firstTimeMs === null ? null : firstTimeMs + (offsets.get(node) ?? 0);
    own.set(family, earliest(own.get(family) ?? null, timeMs));
  }
  const listed = nodes.flatMap(({ id, role, labels }): MemberFacts[] => {
    const report = reports.get(id);
    // It joined or left in between.
    if (!report) return [];
    const own = logs.get(id) ?? new Map<string, number | null>();
    return [{ id, role, labels, isAlive: report.outcome === 'ok', report, offsetMs: offsets.get(id) ?? 0, logs: own }];
  });
  return { members: listed, membership };
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** How long a result is reused. */
const KEEP_MS = 5000;

/** How long a failure is: one that comes at once is not asked again and again. */
const KEEP_FAILURE_MS = 1000;

/** How long a request waits to see whether what failed last time is back. */
const RETRY_WAIT_MS = 500;

interface Failure {
  readonly error: unknown;
  /** When the first one was, epoch ms. */
  readonly sinceMs: number;
}

/** Fetches something at most every few seconds, for all requests that need it. */
export class Remembered<T> {
  readonly #fetch: () => Promise<T>;
  readonly #known: Shared<T>;
  #failure: Failure | undefined;

  constructor(fetch: () => Promise<T>, nowMs?: () => number) {
    this.#fetch = fetch;
    this.#known = new Shared({ keepMs: KEEP_MS, keepFailureMs: KEEP_FAILURE_MS, ...(nowMs && { nowMs }) });
  }

  /** Why it could not be fetched the last time; `undefined`: it could, or was not tried. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** No request cancels it for the others. What hangs costs one of them its timeout; until it is back, the others hardly wait. */
  async get(options?: CallOptions): Promise<T> {
    const fetched = this.#known.run(() => this.#fetchNoted(), options);
    const failure = this.#failure;
    if (!failure) return fetched;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(failure.error), RETRY_WAIT_MS);
    });
    return Promise.race([fetched, late]).finally(() => clearTimeout(timer));
  }

  async #fetchNoted(): Promise<T> {
    try {
      const value = await this.#fetch();
      this.#failure = undefined;
      return value;
    } catch (error) {
      // clock: since when something fails, for people
      this.#failure = { error, sinceMs: this.#failure?.sinceMs ?? Date.now() };
      throw error;
    }
  }
}
