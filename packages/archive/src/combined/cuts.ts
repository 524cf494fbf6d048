import type { ClusterItem, ClusterRecord } from '@porthole/contract';
import { filterBatch, isBatch, type RecordBatch, recordsOf } from '@porthole/records';
import type { ArchivedLog, ArchivedNode } from '../ask/archived-nodes.ts';
import { familyOf } from '../ask/question.ts';
import type { MemberFacts } from './known-sources.ts';

/** A cut before all times: nothing comes from the archive. After all times: everything does. */
export const NOTHING_MS = -8.64e15;
export const EVERYTHING_MS = 8.64e15;

/**
 * The cut of each node, `*` for all others: its records before this time, by its own clock, come from the archive, and
 * all others from its disk. So each record comes from exactly one of them, whatever the clocks say. A log that needs
 * another cut than the rest of its node has its own, under `node/log`: ids of nodes have no slash.
 */
export type Cuts = Readonly<Record<string, number>>;

/** The cuts of logs that are not those of their nodes, by node. */
export type LogCuts = ReadonlyMap<string, ReadonlyMap<string, number>>;

export function logKey(node: string, log: string): string {
  return `${node}/${log}`;
}

export function readLogCuts(cuts: Cuts): LogCuts {
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

/** What is asked for. */
export interface CutRequest {
  /** The only log. */
  family?: string | undefined;
  /** Only records with a time: a time range is. */
  isTimed: boolean;
}

/**
 * Cuts a member so that nothing is missing: each of its logs not before anything that is only in the archive, and not
 * after anything that is only on its disk. One cut for all of its logs if there is one; else one that suits most of
 * them.
 */
export function cutNode(archived: ArchivedNode, facts: MemberFacts, request: CutRequest): NodeCut {
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
    .filter((log) => request.family === undefined || request.family === log)
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
    if (onDiskMs === null) return request.isTimed || request.family === undefined ? ANYWHERE : ON_DISK;
    return { fromMs: NOTHING_MS, toMs: onDiskMs - TOLERANCE_MS };
  }
  // A snapshot has the newest records: what was shipped is read from the archive.
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
export function asksUntimed(
  { untimed, lastMs }: ArchivedLog,
  onDiskMs: number | null | undefined,
  { family, isTimed }: CutRequest,
): boolean {
  if (isTimed) return false;
  const isWithout = onDiskMs === null || lastMs === null;
  return isWithout ? family !== undefined : untimed > 0;
}

export function mostFrequent(values: Iterable<number>): number | null {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const none: [number | null, number] = [null, 0];
  return [...counts].reduce<[number | null, number]>((most, entry) => (entry[1] > most[1] ? entry : most), none)[0];
}
