import { setMaxListeners } from 'node:events';
import type { CallOptions, MemberReport } from '@porthole/contract';
import { inParallel, MAX_LISTENERS, withDeadline } from '../requests/bounded-calls.ts';
import { toOutcome } from '../requests/member-failure.ts';
import type { SharedBudget } from '../requests/response-budget.ts';
import type { Peer } from './peers.ts';

/**
 * The node that was asked is not given up like a member: it ends by the time budget of the request, however busy it is. Only a
 * disk that hangs takes longer.
 */
export const SELF_MORE_MS = 15_000;

export interface FanOutOptions<T> extends CallOptions {
  /** Per member. */
  timeoutMs: number;
  /** Concurrent requests. */
  maxParallel: number;
  /** Number of items, for the report. */
  countOf(value: T): number;
  /** Shared by the responses of all members. */
  responses?: SharedBudget | undefined;
}

export interface MemberResponse<T, P extends Peer = Peer> {
  peer: P;
  /** `undefined` if the member failed; the report has the reason. */
  value: T | undefined;
  report: MemberReport;
}

type MemberCall<T, P extends Peer> = (peer: P, options: CallOptions) => Promise<T>;

/**
 * Queries every member, each with its own deadline, and returns the results in the order of the members. A failure goes into
 * the report of the member; only the signal of the caller makes it reject.
 */
export async function fanOut<T, P extends Peer = Peer>(
  peers: readonly P[],
  call: MemberCall<T, P>,
  { responses, ...options }: FanOutOptions<T>,
): Promise<MemberResponse<T, P>[]> {
  const budget = responses?.share();
  // Every request listens to it.
  if (options.signal) setMaxListeners(MAX_LISTENERS, options.signal);
  const callOptions = { ...options, ...(budget && { responseBudget: budget }) };
  try {
    return await inParallel(peers, options.maxParallel, (peer) => callMember(peer, call, callOptions));
  } finally {
    budget?.close();
  }
}

async function callMember<T, P extends Peer>(
  peer: P,
  call: MemberCall<T, P>,
  options: FanOutOptions<T>,
): Promise<MemberResponse<T, P>> {
  const { signal, timeoutMs, countOf, responseBudget } = options;
  const startedMs = performance.now();
  const toReport = (facts: Pick<MemberReport, 'outcome' | 'detail' | 'count'>): MemberReport => {
    return { id: peer.member.id, ...facts, elapsedMs: Math.round(performance.now() - startedMs), asOfMs: null };
  };
  const callOptions = responseBudget ? { responseBudget } : {};
  const deadline = { timeoutMs: peer.member.isSelf ? timeoutMs + SELF_MORE_MS : timeoutMs, ...(signal && { signal }) };
  try {
    const value = await withDeadline(async (leaving) => call(peer, { signal: leaving, ...callOptions }), deadline);
    return { peer, value, report: toReport({ outcome: 'ok', detail: null, count: countOf(value) }) };
  } catch (error) {
    signal?.throwIfAborted();
    return { peer, value: undefined, report: toReport({ ...toOutcome(error), count: 0 }) };
  }
}
