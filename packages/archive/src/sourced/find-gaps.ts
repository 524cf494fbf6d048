import type { ArchivedLog, ArchivedNode } from '../ask/archived-nodes.ts';
import { cutOf } from './cuts.ts';
import type { MemberFacts } from './member-facts.ts';
import type { SourcePlan } from './plan-sources.ts';

/** A time range of a log, by the clock of its node, of which records may be in neither part of a response. */
export interface Gap {
  log: string;
  fromMs: number;
  toMs: number;
  why: string;
}

interface GapRequest {
  plan: Pick<SourcePlan, 'cuts'>;
  /** By the clock of the node that is asked. */
  range: { fromMs?: number | undefined; toMs?: number | undefined };
}

/** What a living member no longer has on disk after its cut, and what it has not shipped before it. */
export function findGaps(node: ArchivedNode, facts: MemberFacts, { plan, range }: GapRequest): Gap[] {
  const shipped = new Map(node.logs.map((log) => [log.log, log]));
  const names = new Set([...shipped.keys(), ...facts.logs.keys()]);
  const { fromMs = -Infinity, toMs = Infinity } = range;
  return [...names].flatMap((log) => {
    const gap = findGap(shipped.get(log), facts.logs.get(log), cutOf(plan.cuts, node.node, log));
    if (!gap) return [];
    const clipped = {
      fromMs: Math.max(gap.fromMs, Math.floor(fromMs + facts.offsetMs)),
      toMs: Math.min(gap.toMs, Math.ceil(toMs + facts.offsetMs)),
    };
    return clipped.fromMs < clipped.toMs ? [{ log, why: gap.why, ...clipped }] : [];
  });
}

function findGap(
  shipped: ArchivedLog | undefined,
  onDiskMs: number | null | undefined,
  cutMs: number,
): Omit<Gap, 'log'> | undefined {
  const { fromMs: firstMs = null, shippedToMs = null } = shipped ?? {};
  if (onDiskMs === undefined || onDiskMs === null) return undefined;
  // Nothing older was ever shipped: the disk has all of it.
  if (firstMs !== null && firstMs < onDiskMs && cutMs < onDiskMs) {
    const isShipped = shippedToMs !== null && shippedToMs > cutMs;
    const why = isShipped
      ? 'they are only in the archive: use "store=archive"'
      : 'they were deleted before they were shipped';
    return { fromMs: Math.max(cutMs, firstMs), toMs: onDiskMs, why };
  }
  const archivedToMs = Math.max(onDiskMs, shippedToMs ?? onDiskMs);
  if (archivedToMs < cutMs)
    return { fromMs: archivedToMs, toMs: cutMs, why: 'they are not in the archive yet: use "store=nodes"' };
  return undefined;
}
