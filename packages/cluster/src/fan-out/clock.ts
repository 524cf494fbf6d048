import { setTimeout as sleep } from 'node:timers/promises';
import { type CallOptions, type MemberClock, type NodeDescription, PortholeError } from '@porthole/contract';
import type { Membership } from '../membership/membership.ts';
import { inParallel } from './in-parallel.ts';
import type { Peer, Peers } from './peers.ts';
import { withDeadline } from './with-deadline.ts';

/** What is known of the members' clocks. */
export interface Clocks {
  /** This node's own is exact; `undefined` where one was never measured. */
  of(id: string): MemberClock | undefined;
  /** Asks the member for its time once; throws what it throws. */
  measure?(peer: Peer, options: CallOptions): Promise<MemberClock>;
}

/** Measurements kept of each member; the most certain one counts. */
const MAX_SAMPLES = 8;

/** Clocks run apart: what was measured a while ago is less certain by so much per millisecond. */
const DRIFT = 50e-6;

/** Times are told in whole milliseconds, on both sides. */
const ROUNDING_MS = 1;

/** Measured beside other work: few at a time, so that waiting for each other is not taken for distance. */
const MEASURED_AT_ONCE = 8;

/** A round takes at least so long for each: clocks run apart slowly, and a thousand members must cost next to nothing. */
const EACH_MS = 300;

/** Members that just started, or came up, are not left without a clock for a whole interval. */
const UNKNOWN_MS = 3000;

/** The time of day and a time that only runs forward, apart so that tests have their own. */
export interface ClockSource {
  /** Epoch ms. */
  nowMs(): number;
  /** Never set, never backwards. */
  runningMs(): number;
}

export interface ClockTableOptions {
  peers: Pick<Peers, 'all'>;
  selfId: string;
  /** Of one measurement. */
  timeoutMs: number;
  /** Hears what a member says of itself beside its time. */
  onDescription?(id: string, description: NodeDescription): void;
  source?: ClockSource;
}

/** One measurement: the true offset lies within `uncertaintyMs` of `offsetMs`. */
interface Sample extends MemberClock {
  takenMs: number;
}

/** Corrections are rounded to the coarsest of these that the measurement allows. The last one always does. */
const STEPS_MS = [100_000, 10_000, 1000, 100, 10, 1] as const;

const SYSTEM: ClockSource = { nowMs: () => Date.now(), runningMs: () => performance.now() };
const EXACT: MemberClock = { offsetMs: 0, uncertaintyMs: 0 };

/**
 * The members' clocks, estimated from round trips. Whoever starts it closes it.
 *
 * What it returns is a correction, not the latest estimate: every round trip gives a slightly different one, and the
 * same record must show the same time on every visit. An offset that may be zero is not corrected at all, and a
 * correction stays until a measurement rules it out.
 */
export class ClockTable implements Clocks {
  readonly #options: ClockTableOptions;
  readonly #source: ClockSource;
  readonly #samples = new Map<string, Sample[]>();
  /** What is taken off the times of each member. */
  readonly #corrections = new Map<string, number>();
  readonly #abortController = new AbortController();
  /** Being measured since they joined. */
  readonly #joining = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: () => void = () => {};

  constructor(options: ClockTableOptions) {
    this.#options = options;
    this.#source = options.source ?? SYSTEM;
  }

  of(id: string): MemberClock | undefined {
    if (id === this.#options.selfId) return EXACT;
    const estimate = this.#estimate(id);
    if (estimate === undefined) return undefined;
    const offsetMs = this.#corrections.get(id) ?? toCorrection(estimate);
    return { offsetMs, uncertaintyMs: estimate.uncertaintyMs + Math.abs(estimate.offsetMs - offsetMs) };
  }

  /** Asks the member for its time once. Throws what the member throws; what was known stays. */
  async measure({ member, state }: Peer, options: CallOptions = {}): Promise<MemberClock> {
    if (member.id === this.#options.selfId) return EXACT;
    const askedMs = this.#source.nowMs();
    const leftMs = this.#source.runningMs();
    const description = await state.describe(options);
    const { clockMs } = description;
    const takenMs = this.#source.runningMs();
    if (!Number.isFinite(clockMs)) throw new PortholeError('BAD_ANSWER', `"${member.id}" does not tell its time`);
    const halfMs = (takenMs - leftMs) / 2;
    const sample = { offsetMs: clockMs - (askedMs + halfMs), uncertaintyMs: halfMs + ROUNDING_MS, takenMs };
    this.#add(member.id, sample);
    this.#options.onDescription?.(member.id, description);
    return this.of(member.id) ?? sample;
  }

  /**
   * Measures all members now and again after every interval, and those that join at once; without keeping the process
   * alive.
   */
  start(intervalMs: number, members: Pick<Membership, 'onChange'>): void {
    this.#unsubscribe = members.onChange(() => void this.#measureNew());
    const round = async () => {
      await this.#measureAll(intervalMs);
      if (this.#abortController.signal.aborted) return;
      const isUnknown = this.#options.peers.all().some(({ member }) => this.of(member.id) === undefined);
      const waitMs = isUnknown ? Math.min(intervalMs, UNKNOWN_MS) : intervalMs;
      this.#timer = setTimeout(() => void round(), waitMs).unref();
    };
    void round();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe();
    this.#abortController.abort();
  }

  /** Those that were never measured: until then their times cannot be corrected. */
  async #measureNew(): Promise<void> {
    const { peers, timeoutMs } = this.#options;
    const { signal } = this.#abortController;
    const isNew = ({ member: { id } }: Peer) => this.of(id) === undefined && !this.#joining.has(id);
    const joining = peers.all().filter(isNew);
    for (const { member } of joining) this.#joining.add(member.id);
    await inParallel(joining, MEASURED_AT_ONCE, async (peer) => {
      const measure = (leaving: AbortSignal) => this.measure(peer, { signal: leaving });
      await withDeadline(measure, { timeoutMs, signal }).catch(() => {});
      this.#joining.delete(peer.member.id);
    });
  }

  async #measureAll(intervalMs: number): Promise<void> {
    const { peers, timeoutMs } = this.#options;
    const { signal } = this.#abortController;
    const all = peers.all();
    const ids = new Set(all.map(({ member }) => member.id));
    for (const id of this.#samples.keys()) {
      if (ids.has(id)) continue;
      this.#samples.delete(id);
      this.#corrections.delete(id);
    }
    const isLarge = all.length * EACH_MS > intervalMs;
    await inParallel(all, MEASURED_AT_ONCE, async (peer) => {
      if (signal.aborted) return;
      // Spread over the round, not all at its start; but nobody is left without a clock for that.
      const waits = isLarge && this.of(peer.member.id) !== undefined;
      if (waits) await sleep(EACH_MS * MEASURED_AT_ONCE, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      // One that cannot tell its time has no clock; who asks it for more reports why.
      await withDeadline((leaving) => this.measure(peer, { signal: leaving }), { timeoutMs, signal }).catch(() => {});
    });
  }

  /** The most certain of the measurements. */
  #estimate(id: string): MemberClock | undefined {
    const nowMs = this.#source.runningMs();
    let best: MemberClock | undefined;
    for (const { offsetMs, uncertaintyMs, takenMs } of this.#samples.get(id) ?? []) {
      const now = uncertaintyMs + (nowMs - takenMs) * DRIFT;
      if (best === undefined || now < best.uncertaintyMs) best = { offsetMs, uncertaintyMs: now };
    }
    return best;
  }

  #add(id: string, sample: Sample): void {
    // One that cannot be true beside the new one was taken before a clock was set.
    const kept = (this.#samples.get(id) ?? []).filter(
      (known) =>
        Math.abs(known.offsetMs - sample.offsetMs) <=
        known.uncertaintyMs + sample.uncertaintyMs + (sample.takenMs - known.takenMs) * DRIFT,
    );
    this.#samples.set(id, [...kept, sample].slice(-MAX_SAMPLES));
    const estimate = this.#estimate(id) ?? sample;
    const applied = this.#corrections.get(id);
    if (applied === undefined || !isWithin(applied, estimate)) this.#corrections.set(id, toCorrection(estimate));
  }
}

/** The roundest offset that the measurement allows; none where the clock may be right. */
function toCorrection(estimate: MemberClock): number {
  if (isWithin(0, estimate)) return 0;
  const rounded = STEPS_MS.map((stepMs) => Math.round(estimate.offsetMs / stepMs) * stepMs);
  return rounded.find((offsetMs) => isWithin(offsetMs, estimate)) ?? Math.round(estimate.offsetMs);
}

function isWithin(candidateMs: number, { offsetMs, uncertaintyMs }: MemberClock): boolean {
  return Math.abs(candidateMs - offsetMs) <= uncertaintyMs;
}
