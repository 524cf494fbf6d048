import type { ArchivedLog, ArchivedNode } from '../ask/archived-nodes.ts';
import { EVERYTHING_MS, NOTHING_MS } from './cuts.ts';
import type { MemberFacts } from './member-facts.ts';

/** How far records of one log may be out of order: near the cut, the archive is preferred by this much. */
export const TOLERANCE_MS = 60_000;

/** The times at which one log can be cut so that nothing is missing, both included. */
export interface CutRange {
  log: string;
  fromMs: number;
  toMs: number;
}

/** Where a node is cut. */
export interface NodeCut {
  cutMs: number;
  /** Any time up to this is as good. */
  toMs: number;
  /** Logs that this cut does not suit, with their own. */
  logs: readonly { log: string; cutMs: number }[];
}

/**
 * Cuts a member so that nothing is missing: each of its logs not before anything that is only in the archive, and not
 * after anything that is only on its disk. One cut for all of its logs if there is one; else one that suits most of
 * them. `family`: the only log that is asked for.
 */
export function cutNode(archived: ArchivedNode, facts: MemberFacts, family: string | undefined): NodeCut {
  const ranges = cutRanges(archived, facts, family);
  const fromMs = ranges.reduce((latest, range) => Math.max(latest, range.fromMs), NOTHING_MS);
  const toMs = ranges.reduce((first, range) => Math.min(first, range.toMs), EVERYTHING_MS - 1);
  if (fromMs <= toMs) return { cutMs: fromMs, toMs, logs: [] };
  const suits = (cutMs: number) => ranges.filter((range) => range.fromMs <= cutMs && cutMs <= range.toMs).length;
  const cutMs = ranges
    .map((range) => range.fromMs)
    .reduce((best, each) => (suits(each) > suits(best) || (suits(each) === suits(best) && each > best) ? each : best));
  const others = ranges.filter((range) => range.fromMs > cutMs || cutMs > range.toMs);
  return { cutMs, toMs: cutMs, logs: others.map((range) => ({ log: range.log, cutMs: range.fromMs })) };
}

function cutRanges({ logs }: ArchivedNode, facts: MemberFacts, family: string | undefined): CutRange[] {
  const shipped = new Map(logs.map((log) => [log.log, log]));
  const names = new Set([...shipped.keys(), ...facts.logs.keys()]);
  return [...names]
    .filter((log) => family === undefined || family === log)
    .map((log) => ({ log, ...cutLog(shipped.get(log), facts, log) }));
}

/** The times at which a log can be cut. */
export function cutLog(
  shipped: ArchivedLog | undefined,
  { isAlive, logs }: MemberFacts,
  log: string,
): Omit<CutRange, 'log'> {
  const onDiskMs = logs.get(log);
  const { fromMs: firstMs = null, lastMs = null, shippedToMs = null } = shipped ?? {};
  if (firstMs === null || lastMs === null || shippedToMs === null) {
    // The archive may have nothing of it: all of it is read from disk.
    const toMs = onDiskMs === undefined || onDiskMs === null ? EVERYTHING_MS - 1 : onDiskMs - TOLERANCE_MS;
    return { fromMs: NOTHING_MS, toMs };
  }
  // A snapshot has the newest records: what was shipped is read from the archive.
  if (!isAlive) return { fromMs: Math.min(lastMs + 1, shippedToMs), toMs: shippedToMs };
  // Not on its disk any more: all of it is in the archive.
  if (onDiskMs === undefined) return { fromMs: lastMs + 1, toMs: Math.max(lastMs + 1, shippedToMs) };
  const toMs = shippedToMs - TOLERANCE_MS;
  if (onDiskMs === null || firstMs >= onDiskMs) return { fromMs: NOTHING_MS, toMs };
  const fromMs = onDiskMs + TOLERANCE_MS;
  if (fromMs <= toMs) return { fromMs, toMs };
  // Its disk does not reach back far enough: in between. What is missing is reported.
  const closeMs = Math.ceil((Math.min(onDiskMs, shippedToMs) + shippedToMs) / 2);
  return { fromMs: closeMs, toMs: closeMs };
}
