import {
  invalidCursor,
  isCursorOf,
  packCursor,
  readList,
  readOptionalTime,
  readText,
  readTime,
  unpackCursor,
} from '@porthole/logs';
import type { SearchQuery } from '@porthole/logs/types';
import type { ArchivedLog } from '../query/archived-nodes.ts';
import { encodeArchiveCursor } from '../query/search-archive.ts';
import {
  type CutRequest,
  type Cuts,
  cutLog,
  cutOf,
  type Gap,
  isInStep,
  type Known,
  logKey,
  MAX_OWN_LOGS,
} from './plan-sources.ts';

/** Where to resume one side of a search. */
export interface SidePosition {
  /** Start of the page it stopped in; `null`: the start of the search. */
  page: string | null;
  /** The last record that was emitted of this page: the page is read again up to it. `null`: none was. */
  after: { node: string; cursor: string; atMs: number | null } | null;
}

export interface CombinedPosition {
  order: 'newest' | 'oldest';
  cuts: Cuts;
  /** `null`: everything was emitted. */
  members: SidePosition | null;
  archive: SidePosition | null;
  /** The last times that each side has emitted; `null`: none. Of the archive by the clocks of nodes. */
  reached: { membersMs: number | null; archiveMs: number | null };
}

const MAX_CUTS = 10_000;

/** A page is a cursor of the cluster or of the archive, and a record has one of its member. */
const MAX_TEXT = 64 * 1024;

export function encodeCombinedCursor({ order, cuts, members, archive, reached }: CombinedPosition): string {
  const values = [cuts, writeSide(members), writeSide(archive), reached.membersMs, reached.archiveMs];
  return packCursor({ kind: 'combined', order }, values);
}

/** Where an earlier page of both stopped. Throws CURSOR_INVALID for what `encodeCombinedCursor` did not make for this order. */
export function resumedPosition({ start, order }: SearchQuery): CombinedPosition | undefined {
  if (!start || !('cursor' in start) || !isCursorOf('combined', start.cursor)) return undefined;
  const values = readList(unpackCursor({ kind: 'combined', order }, start.cursor), 5);
  const [cuts, members, archive, membersMs, archiveMs] = values;
  const reached = { membersMs: readOptionalTime(membersMs), archiveMs: readOptionalTime(archiveMs) };
  return { order, cuts: readCuts(cuts), members: readSide(members), archive: readSide(archive), reached };
}

function writeSide(side: SidePosition | null): unknown {
  return side && [side.page, side.after && [side.after.node, side.after.cursor, side.after.atMs]];
}

function readSide(value: unknown): SidePosition | null {
  if (value === null) return null;
  const [page, after] = readList(value, 2);
  const from = page === null ? null : readText(page, MAX_TEXT);
  if (after === null) return { page: from, after };
  const [node, cursor, atMs] = readList(after, 3);
  const last = { node: readText(node, MAX_TEXT), cursor: readText(cursor, MAX_TEXT), atMs: readOptionalTime(atMs) };
  return { page: from, after: last };
}

function readCuts(value: unknown): Cuts {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidCursor();
  const entries = Object.entries(value);
  if (entries.length > MAX_CUTS) throw invalidCursor();
  return Object.fromEntries(entries.map(([name, timeMs]) => [name, readTime(timeMs)]));
}

/** Where a search resumes, and what may be missing there. */
export interface MovedPosition {
  position: CombinedPosition;
  gaps: readonly (Gap & { node: string })[];
}

/** A log of which files above the cut were deleted since the last page. */
interface MovedLog {
  node: string;
  log: string;
  cutMs: number;
  toMs: number;
  /** Own time up to which its records were emitted. */
  emittedMs: number;
}

const WHY = 'they were deleted while pages were read';

/**
 * Rotation goes on between two pages: what it deleted above the cut, and no page has emitted yet, is read from the
 * archive, by moving the cut of its log. Where that would emit records again, the cut stays, and the gap is reported.
 */
export function moveCuts(position: CombinedPosition, known: Known, request: CutRequest): MovedPosition {
  const logs = findMoved(position, known, request);
  const room = MAX_OWN_LOGS - Object.keys(position.cuts).filter((key) => key.includes('/')).length;
  if (logs.length === 0 || logs.length > room) return { position, gaps: [] };
  return position.order === 'newest' ? moveNewest(position, logs) : moveOldest(position, logs);
}

function findMoved(
  { order, cuts, reached }: CombinedPosition,
  { facts, archived }: Known,
  request: CutRequest,
): MovedLog[] {
  const nodes = new Map(archived.map((node) => [node.node, node]));
  const times = [reached.membersMs, reached.archiveMs].flatMap((timeMs) => timeMs ?? []);
  const reachedMs = order === 'newest' ? Math.min(...times, Infinity) : Math.max(...times, -Infinity);
  return facts.flatMap((member) => {
    const logs = member.isAlive ? (nodes.get(member.id)?.logs ?? []) : [];
    return logs.flatMap((shipped): MovedLog[] => {
      const { log } = shipped;
      if (request.family !== undefined && request.family !== log) return [];
      const cutMs = cutOf(cuts, member.id, log);
      const onDiskMs = member.logs.get(log);
      const toMs = cutLog(shipped, member, { ...request, log }).fromMs;
      if (toMs <= cutMs || !isPassed(shipped, onDiskMs, cutMs)) return [];
      return [{ node: member.id, log, cutMs, toMs, emittedMs: reachedMs + member.offsetMs }];
    });
  });
}

/** Whether files were deleted that may have had records behind the cut. */
function isPassed(shipped: ArchivedLog, onDiskMs: number | null | undefined, cutMs: number): boolean {
  if (onDiskMs === undefined) return true;
  if (onDiskMs === null) return false;
  return isInStep(shipped, onDiskMs) ? shipped.gone.toMs >= cutMs : onDiskMs > cutMs;
}

/** Down to where pages have come, members have emitted their records; the archive has what is below. */
function moveNewest(position: CombinedPosition, logs: readonly MovedLog[]): MovedPosition {
  const { cuts, archive, reached } = position;
  const archiveMs = reached.archiveMs ?? Infinity;
  const moved = logs.flatMap(({ node, log, cutMs, toMs, emittedMs }) => {
    const timeMs = Math.floor(Math.min(toMs, emittedMs, archiveMs));
    return timeMs > cutMs ? [[logKey(node, log), timeMs] as const] : [];
  });
  // The archive had nothing more: what it has now is older than everything it has emitted.
  const from = archive ?? { page: pageAt('newest', reached.archiveMs), after: null };
  return {
    position: { ...position, cuts: withCuts(cuts, moved), archive: moved.length > 0 ? from : archive },
    gaps: [],
  };
}

/** Up to where pages have come, members have emitted their records: the archive is read from there. */
function moveOldest(position: CombinedPosition, logs: readonly MovedLog[]): MovedPosition {
  const { cuts, archive, reached } = position;
  const archiveMs = reached.archiveMs ?? -Infinity;
  if (archive) {
    // It is read on from its own position: only what is behind everything that was emitted can be added.
    const moved = logs.filter(({ cutMs, emittedMs }) => cutMs > emittedMs && cutMs > archiveMs);
    return { position: { ...position, cuts: withCuts(cuts, moved.map(toCut)) }, gaps: [] };
  }
  const startMs = logs
    .filter(({ cutMs, emittedMs }) => cutMs <= emittedMs)
    .reduce((latest, { emittedMs }) => Math.max(latest, Math.floor(emittedMs)), archiveMs);
  // Others of the same millisecond may not have been emitted.
  const gaps = logs.flatMap(({ node, log, cutMs, emittedMs }) => {
    const fromMs = Math.floor(Math.max(cutMs, emittedMs));
    return fromMs <= startMs ? [{ node, log, fromMs, toMs: startMs + 1, why: WHY }] : [];
  });
  const page = pageAt('oldest', startMs === -Infinity ? null : startMs + 1);
  return { position: { ...position, cuts: withCuts(cuts, logs.map(toCut)), archive: { page, after: null } }, gaps };
}

function toCut({ node, log, toMs }: MovedLog): readonly [string, number] {
  return [logKey(node, log), toMs];
}

function withCuts(cuts: Cuts, moved: readonly (readonly [string, number])[]): Cuts {
  return { ...cuts, ...Object.fromEntries(moved) };
}

function pageAt(order: CombinedPosition['order'], timeMs: number | null): string | null {
  return timeMs === null ? null : encodeArchiveCursor(order, { timeMs });
}
