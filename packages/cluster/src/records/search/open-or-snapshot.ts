import type { MemberReport } from '@porthole/contract';
import { deadlineExceeded, withDeadline } from '../../fan-out/bounded-calls.ts';
import { toOutcome } from '../../fan-out/member-failure.ts';
import type { ChosenMember } from '../../state/choose-members.ts';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { departedReport, findSnapshot } from '../../state/state-deps.ts';
import { type ClusterDeps, getLimits } from '../cluster-deps.ts';
import type { LaneItems } from '../merge/member-pages.ts';

/** Report fields of a member whose snapshot is searched. */
export interface SnapshotReport extends Pick<MemberReport, 'outcome' | 'detail' | 'asOfMs'> {
  snapshot: MemberSnapshot;
}

/** Outcomes for which the snapshot is used: a member that responds, even with an error, is not replaced. */
const SILENT: ReadonlySet<MemberReport['outcome']> = new Set<MemberReport['outcome']>(['refused', 'timeout']);

/** Fraction of the first-record timeout to wait for a member that has a snapshot. */
const SNAPSHOT_SHARE = 0.75;

export interface OpenOptions {
  search(signal: AbortSignal): AsyncIterable<LaneItems>;
  searchSnapshot(snapshot: MemberSnapshot): AsyncIterable<LaneItems>;
  /** Its first records are too late already. */
  isSilent?: boolean;
}

export interface Opened {
  open(signal: AbortSignal): AsyncIterable<LaneItems>;
  /** Report fields once its snapshot was used. */
  instead?: () => SnapshotReport | undefined;
}

/** Opens the records of a member, or of its snapshot if it has departed or does not respond. */
export function openOrSnapshot(deps: ClusterDeps, { member, departed }: ChosenMember, options: OpenOptions): Opened {
  if (departed) {
    const { outcome, detail, asOfMs } = departedReport(departed, 0);
    const instead = { outcome, detail, asOfMs, snapshot: departed };
    return { open: () => options.searchSnapshot(departed), instead: () => instead };
  }
  if (!deps.directory.has(member.id)) return { open: options.search };
  let instead: SnapshotReport | undefined;
  const timeoutMs = patienceMs(deps);
  const onSilence = async (failure: Pick<MemberReport, 'outcome' | 'detail'>) => {
    const snapshot = await findSnapshot(deps.directory, member.id);
    if (!snapshot) return undefined;
    instead = { ...failure, asOfMs: snapshot.asOfMs, snapshot };
    return options.searchSnapshot(snapshot);
  };
  if (options.isSilent) {
    const openSilent = async function* (signal: AbortSignal) {
      const records = await onSilence(toOutcome(deadlineExceeded(timeoutMs)));
      yield* records ?? options.search(signal);
    };
    return { open: openSilent, instead: () => instead };
  }
  const open = (signal: AbortSignal) =>
    readOrSnapshot(() => options.search(signal), {
      timeoutMs,
      signal,
      onSilence,
    });
  return { open, instead: () => instead };
}

/** How long to wait for the first records of a member that has a snapshot. */
function patienceMs(deps: ClusterDeps): number {
  return getLimits(deps).firstBatchMs * SNAPSHOT_SHARE;
}

/** The same for a helper that asks it; nothing if it has no snapshot. */
export function silentAfter(deps: ClusterDeps, { member }: ChosenMember): { silentMs?: number } {
  return deps.directory.has(member.id) ? { silentMs: patienceMs(deps) } : {};
}

interface SilentOptions {
  /** Timeout until its first batch. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Opens its snapshot; `undefined` if there is none. */
  onSilence(failure: Pick<MemberReport, 'outcome' | 'detail'>): Promise<AsyncIterable<LaneItems> | undefined>;
}

async function* readOrSnapshot(
  call: () => AsyncIterable<LaneItems>,
  { timeoutMs, signal, onSilence }: SilentOptions,
): AsyncGenerator<LaneItems, void, undefined> {
  const batches = call()[Symbol.asyncIterator]();
  try {
    let next: IteratorResult<LaneItems>;
    try {
      next = await withDeadline(() => batches.next(), { timeoutMs, signal });
    } catch (error) {
      const { outcome, detail } = toOutcome(error);
      if (signal.aborted || !SILENT.has(outcome)) throw error;
      const fallback = await onSilence({ outcome, detail });
      if (!fallback) throw error;
      yield* fallback;
      return;
    }
    for (; !next.done; next = await batches.next()) yield next.value;
  } finally {
    void batches.return?.().catch(() => {}); // not awaited: it may be stuck, and its result no longer matters
  }
}
