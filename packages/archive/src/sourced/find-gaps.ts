import type { ArchivedLog, ArchivedNode } from '../ask/archived-nodes.ts';
import { asksUntimed, type CutRequest, isInStep } from './cut-node.ts';
import { cutOf, EVERYTHING_MS, NOTHING_MS } from './cuts.ts';
import type { MemberFacts } from './member-facts.ts';
import type { SourcePlan } from './plan-sources.ts';

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
  const { asked } = plan;
  const names = new Set([...shipped.keys(), ...facts.logs.keys()]);
  const { fromMs = -Infinity, toMs = Infinity } = range;
  return [...names].flatMap((log) => {
    if (asked.family !== undefined && asked.family !== log) return [];
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
