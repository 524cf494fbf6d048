import type { CallOptions, MemberReport } from '@porthole/contract';
import { inParallel } from './in-parallel.ts';
import { outcomeOf } from './outcome-of.ts';
import type { Peer } from './peers.ts';
import type { SharedBudget } from './response-budget.ts';
import { withDeadline } from './with-deadline.ts';

export interface AskAllOptions<T> extends CallOptions {
  /** Of each member. */
  timeoutMs: number;
  /** Asked at the same time. */
  maxParallel: number;
  /** For the report. */
  countOf(value: T): number;
  /** Of the responses of all members. */
  responses?: SharedBudget | undefined;
}

export interface MemberAnswer<T, P extends Peer = Peer> {
  peer: P;
  /** `undefined` where there is none; the report says why. */
  value: T | undefined;
  report: MemberReport;
}

type AskMember<T, P extends Peer> = (peer: P, options: CallOptions) => Promise<T>;

/**
 * Asks every one of them, each with its own deadline, and gives the answers in the order of the members. A member that
 * fails is in its report; only the caller's signal makes it reject.
 */
export async function askAll<T, P extends Peer = Peer>(
  peers: readonly P[],
  ask: AskMember<T, P>,
  { responses, ...options }: AskAllOptions<T>,
): Promise<MemberAnswer<T, P>[]> {
  const budget = responses?.share();
  const asking = { ...options, ...(budget && { responseBudget: budget }) };
  try {
    return await inParallel(peers, options.maxParallel, (peer) => askOne(peer, ask, asking));
  } finally {
    budget?.close();
  }
}

async function askOne<T, P extends Peer>(
  peer: P,
  ask: AskMember<T, P>,
  options: AskAllOptions<T>,
): Promise<MemberAnswer<T, P>> {
  const { signal, timeoutMs, countOf, responseBudget } = options;
  const startedMs = performance.now();
  const reportOf = (facts: Pick<MemberReport, 'outcome' | 'detail' | 'count'>): MemberReport => {
    return { id: peer.member.id, ...facts, elapsedMs: Math.round(performance.now() - startedMs), asOfMs: null };
  };
  try {
    const value = await withDeadline(
      async (leaving) => ask(peer, { signal: leaving, ...(responseBudget && { responseBudget }) }),
      {
        timeoutMs,
        ...(signal && { signal }),
      },
    );
    return { peer, value, report: reportOf({ outcome: 'ok', detail: null, count: countOf(value) }) };
  } catch (error) {
    signal?.throwIfAborted();
    return { peer, value: undefined, report: reportOf({ ...outcomeOf(error), count: 0 }) };
  }
}
