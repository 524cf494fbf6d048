import { type Floors, type Labels, type MemberSelection, matchesLabels, matchesPattern } from '@porthole/contract';
import type { LogSelection, RecordFilter } from '@porthole/logs/types';
import type { ArchivedNode } from '../ask/archived-nodes.ts';
import type { Ceilings } from '../ask/scope.ts';
import type { MemberFacts } from './member-facts.ts';

/** How far records of one log may be out of order: near the cut, the archive is preferred by this much. */
const TOLERANCE_MS = 60_000;

/** With more members, most share one cut, so that requests and cursors stay small. */
const MAX_OWN_CUTS = 32;

/** A cut before all times: nothing comes from the archive. After all times: everything does. */
const NOTHING_MS = -8.64e15;
const EVERYTHING_MS = 8.64e15;

type Request = MemberSelection & LogSelection & Pick<RecordFilter, 'fromMs' | 'toMs'>;

/**
 * The cut of each node, `*` for all others: its records before this time, by its own clock, come from the archive, and
 * all others from its disk. So each record comes from exactly one of them, whatever the clocks say.
 */
export type Cuts = Readonly<Record<string, number>>;

/** Which records come from members and which from the archive. */
export interface SourcePlan {
  cuts: Cuts;
  members: { nodes?: readonly string[]; floors: Floors };
  /** Whether members can have something. */
  asksMembers: boolean;
  /** `null`: the archive is not asked. */
  archive: { ids: readonly string[]; ceilings: Ceilings } | null;
  /** The selected nodes that the archive knows. */
  archived: readonly ArchivedNode[];
  /** Corrected times: the archive has nothing after the first, members nothing before the second. */
  archiveToMs: number;
  membersFromMs: number;
}

export interface Known {
  facts: readonly MemberFacts[];
  archived: readonly ArchivedNode[];
}

/** Plans a request that may read both. `given`: the cuts of its first page. */
export function planSources(request: Request, { facts, archived }: Known, given?: Cuts): SourcePlan {
  const members = new Map(facts.filter((member) => isSelected(member, request)).map((member) => [member.id, member]));
  const ids = new Set(facts.map(({ id }) => id));
  const shipped = archived.filter(({ node, role }) =>
    ids.has(node) ? members.has(node) : isSelected({ id: node, role }, request),
  );
  const cuts = given ?? cutNodes(shipped, members, request);
  const { fromMs = -Infinity, toMs = Infinity } = request;
  const spans = shipped.map((node) => {
    const endMs = Math.min(cutOf(cuts, node.node), lastTime(node) + 1);
    return { id: node.node, toMs: endMs - (members.get(node.node)?.offsetMs ?? 0) };
  });
  const inArchive = spans.filter((span) => span.toMs > fromMs && cutOf(cuts, span.id) > NOTHING_MS);
  const starts = [...members.values()].map(({ id, offsetMs }) => floorOf(cuts, id, shipped) - offsetMs);
  const names = request.nodes?.filter((name) => ids.has(name) || !shipped.some(({ node }) => node === name));
  const isAsked = starts.some((startMs) => startMs < toMs) || shipped.length === 0 || hasUnknown(names, ids);
  const floors = [...members.keys()].map((id) => [id, floorOf(cuts, id, shipped)] as const);
  return {
    cuts,
    members: { ...(names && { nodes: names }), floors: withoutNothing(compact(new Map(floors))) },
    asksMembers: isAsked,
    archive: inArchive.length > 0 ? toArchivePlan(inArchive, cuts) : null,
    archived: shipped,
    archiveToMs: inArchive.reduce((latest, span) => Math.max(latest, span.toMs), -Infinity),
    membersFromMs: starts.reduce((first, startMs) => Math.min(first, startMs), Infinity),
  };
}

/** Own time before which the records of a node come from the archive; `null`: all of them do. */
export function beforeOf(cuts: Cuts, node: string): number | null {
  const cutMs = cutOf(cuts, node);
  return cutMs === EVERYTHING_MS ? null : cutMs;
}

function toArchivePlan(spans: readonly { id: string }[], cuts: Cuts): NonNullable<SourcePlan['archive']> {
  const ceilings = spans.map(({ id }) => [id, beforeOf(cuts, id)] as const);
  return { ids: spans.map(({ id }) => id), ceilings: { default: null, nodes: Object.fromEntries(ceilings) } };
}

function cutOf(cuts: Cuts, node: string): number {
  return (Object.hasOwn(cuts, node) ? cuts[node] : cuts['*']) ?? NOTHING_MS;
}

/** A member that has shipped nothing is asked for everything. */
function floorOf(cuts: Cuts, id: string, shipped: readonly ArchivedNode[]): number {
  const isShipped = Object.hasOwn(cuts, id) || shipped.some(({ node }) => node === id);
  return isShipped ? cutOf(cuts, id) : NOTHING_MS;
}

/** An id that neither the cluster nor the archive knows: the cluster refuses it. */
function hasUnknown(names: readonly string[] | undefined, ids: ReadonlySet<string>): boolean {
  return names?.some((name) => !/[*?]/.test(name) && !ids.has(name)) ?? false;
}

function lastTime({ logs }: ArchivedNode): number {
  return logs.reduce((last, { lastMs }) => Math.max(last, lastMs ?? -Infinity), -Infinity);
}

export function isSelected(
  { id, role, labels = {} }: { id: string; role: string; labels?: Labels },
  { nodes, role: wanted, labels: patterns }: MemberSelection,
): boolean {
  const isKnown = role !== 'unknown';
  if (isKnown && wanted !== undefined && role !== wanted) return false;
  // The archive has no labels: what is no member any more is not selected by one.
  if (isKnown && patterns !== undefined && !matchesLabels(labels, patterns)) return false;
  return nodes === undefined || nodes.some((name) => name === id || matchesPattern(id, name));
}

function cutNodes(shipped: readonly ArchivedNode[], members: ReadonlyMap<string, MemberFacts>, request: Request): Cuts {
  const ranges = shipped.map((archived) => {
    const facts = members.get(archived.node);
    // No member any more.
    if (!facts) return { id: archived.node, cutMs: EVERYTHING_MS, toMs: EVERYTHING_MS };
    return { id: archived.node, ...cutRange(archived, facts, request) };
  });
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

/**
 * The earliest time at which a member can be cut so that nothing is missing, and the latest: not before anything that is
 * only in the archive, and not after what it has shipped, both with tolerance. Where its disk does not reach back that
 * far, in between; what is missing then is reported.
 */
function cutRange(
  archived: ArchivedNode,
  { isAlive, logs }: MemberFacts,
  { family }: Request,
): { cutMs: number; toMs: number } {
  let [fromMs, closeMs] = [NOTHING_MS, NOTHING_MS];
  let endMs = EVERYTHING_MS - 1;
  for (const { log, fromMs: firstMs, lastMs, shippedToMs } of archived.logs) {
    if (family !== undefined && family !== log) continue;
    if (firstMs === null || lastMs === null || shippedToMs === null) continue;
    endMs = Math.min(endMs, shippedToMs);
    const onDiskMs = isAlive ? logs.get(log) : undefined;
    if (onDiskMs === undefined) {
      // Not on its disk any more: all of it is in the archive.
      fromMs = Math.max(fromMs, lastMs + 1);
      closeMs = Math.max(closeMs, lastMs + 1);
    } else if (onDiskMs !== null && firstMs < onDiskMs) {
      fromMs = Math.max(fromMs, onDiskMs + TOLERANCE_MS);
      closeMs = Math.max(closeMs, Math.ceil((Math.min(onDiskMs, shippedToMs) + shippedToMs) / 2));
    }
  }
  const toMs = isAlive ? endMs - TOLERANCE_MS : endMs;
  if (fromMs <= toMs) return { cutMs: fromMs, toMs };
  const cutMs = Math.min(closeMs, endMs);
  return { cutMs, toMs: cutMs };
}

/** Without the members that have no floor, unless all others have one. */
function withoutNothing(floors: Readonly<Record<string, number>>): Floors {
  if ('*' in floors) return floors;
  return Object.fromEntries(Object.entries(floors).filter(([, floorMs]) => floorMs > NOTHING_MS));
}

/** The most frequent value as `*`, if there are many. */
function compact(values: ReadonlyMap<string, number>): Record<string, number> {
  if (values.size <= MAX_OWN_CUTS) return Object.fromEntries(values);
  const counts = new Map<number, number>();
  for (const value of values.values()) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [common] = [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
  return Object.fromEntries([['*', common], ...[...values].filter(([, value]) => value !== common)]);
}
