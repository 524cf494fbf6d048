import type { MemberReport } from '@porthole/contract';
import type { SearchItem } from '@porthole/logs/types';
import { outcomeOf } from '../fan-out/outcome-of.ts';
import { withDeadline } from '../fan-out/with-deadline.ts';
import type { ChosenMember } from '../state/choose-members.ts';
import type { MemberWords } from '../state/member-words.ts';
import { departedReport } from '../state/state-parts.ts';
import { type ClusterParts, limitsOf } from './cluster-parts.ts';

/** What is said of a member whose snapshot answers for it. */
export interface InsteadOf extends Pick<MemberReport, 'outcome' | 'detail' | 'asOfMs'> {
  snapshot: MemberWords;
}

/** Whose records can only be had from its snapshot: a member that responds, if only with a no, speaks for itself. */
const SILENT: ReadonlySet<MemberReport['outcome']> = new Set<MemberReport['outcome']>(['refused', 'timeout']);

/** Of the time for first records, how long a member of which there is a snapshot is waited for. */
const SNAPSHOT_SHARE = 0.75;

export interface OpenOptions {
  ask(signal: AbortSignal): AsyncIterable<SearchItem[]>;
  askKept(snapshot: MemberWords): AsyncIterable<SearchItem[]>;
}

export interface Opened {
  open(signal: AbortSignal): AsyncIterable<SearchItem[]>;
  /** What is said of it once its snapshot has answered for it. */
  instead?: () => InsteadOf | undefined;
}

/** How records of a member are had: from itself, or from its snapshot where it has departed or does not respond. */
export function openOrKept(parts: ClusterParts, { member, departed }: ChosenMember, options: OpenOptions): Opened {
  if (departed) {
    const { outcome, detail, asOfMs } = departedReport(departed, 0);
    const instead = { outcome, detail, asOfMs, snapshot: departed };
    return { open: () => options.askKept(departed), instead: () => instead };
  }
  if (!parts.directory.has(member.id)) return { open: options.ask };
  let instead: InsteadOf | undefined;
  const timeoutMs = limitsOf(parts).firstBatchMs * SNAPSHOT_SHARE;
  const open = (signal: AbortSignal) =>
    askOrKept(() => options.ask(signal), {
      timeoutMs,
      signal,
      onSilence(said) {
        const snapshot = parts.directory.of(member.id);
        if (!snapshot) return undefined;
        instead = { ...said, asOfMs: snapshot.asOfMs, snapshot };
        return options.askKept(snapshot);
      },
    });
  return { open, instead: () => instead };
}

interface SilentOptions {
  /** For its first sign of life. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Gives what its snapshot answers; `undefined` where there is none. */
  onSilence(said: Pick<MemberReport, 'outcome' | 'detail'>): AsyncIterable<SearchItem[]> | undefined;
}

async function* askOrKept(
  ask: () => AsyncIterable<SearchItem[]>,
  { timeoutMs, signal, onSilence }: SilentOptions,
): AsyncGenerator<SearchItem[], void, undefined> {
  const batches = ask()[Symbol.asyncIterator]();
  try {
    let next: IteratorResult<SearchItem[]>;
    try {
      next = await withDeadline(() => batches.next(), { timeoutMs, signal });
    } catch (error) {
      const { outcome, detail } = outcomeOf(error);
      if (signal.aborted || !SILENT.has(outcome)) throw error;
      const kept = onSilence({ outcome, detail });
      if (!kept) throw error;
      yield* kept;
      return;
    }
    for (; !next.done; next = await batches.next()) yield next.value;
  } finally {
    void batches.return?.().catch(() => {}); // it may be stuck, and nobody waits for it
  }
}
