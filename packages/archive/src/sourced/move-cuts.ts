import type { ArchivedLog } from '../ask/archived-nodes.ts';
import { encodeArchiveCursor } from '../ask/search/archive-cursor.ts';
import { type CutRequest, cutLog, isInStep } from './cut-node.ts';
import { type Cuts, cutOf, logKey } from './cuts.ts';
import type { Gap } from './find-gaps.ts';
import { type Known, MAX_OWN_LOGS } from './plan-sources.ts';
import type { SourcedPosition } from './sourced-cursor.ts';

/** Where a search resumes, and what may be missing there. */
export interface MovedPosition {
  position: SourcedPosition;
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
export function moveCuts(position: SourcedPosition, known: Known, request: CutRequest): MovedPosition {
  const logs = findMoved(position, known, request);
  const room = MAX_OWN_LOGS - Object.keys(position.cuts).filter((key) => key.includes('/')).length;
  if (logs.length === 0 || logs.length > room) return { position, gaps: [] };
  return position.order === 'newest' ? moveNewest(position, logs) : moveOldest(position, logs);
}

function findMoved(
  { order, cuts, reached }: SourcedPosition,
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
function moveNewest(position: SourcedPosition, logs: readonly MovedLog[]): MovedPosition {
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
function moveOldest(position: SourcedPosition, logs: readonly MovedLog[]): MovedPosition {
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

function pageAt(order: SourcedPosition['order'], timeMs: number | null): string | null {
  return timeMs === null ? null : encodeArchiveCursor(order, { timeMs });
}
