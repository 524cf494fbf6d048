import { setTimeout as sleep } from 'node:timers/promises';
import { type CallOptions, type MemberClock, type NodeDescription, PortholeError } from '@porthole/contract';
import type { Membership } from '../membership/membership.ts';
import { inParallel, withDeadline } from '../requests/bounded-calls.ts';
import { reportMistake } from '../requests/member-failure.ts';
import type { ClockStep } from './clock-steps.ts';
import type { Peer, Peers } from './peers.ts';

/** Clock offsets of the members. */
export interface Clocks {
  /** Exact for this node; `undefined` for a member that was never measured. */
  of(id: string): MemberClock | undefined;
  /** When it was set, as far as this node has seen; oldest first. */
  steps?(id: string): readonly ClockStep[];
  /** When it last sent its time, as a time of day; `undefined` if it never did. */
  heardMs?(id: string): number | undefined;
  /** Requests the time of the member once; rejects if the request fails. */
  measure?(peer: Peer, options: CallOptions): Promise<MemberClock>;
}

/** A clock that is set by less than this counts as corrected; all its times are taken for those of the new one. */
const MIN_STEP_MS = 500;

/** Steps to remember per member, and members of which the last measurement is remembered when they leave. */
const MAX_STEPS = 16;
const MAX_REMEMBERED = 10_000;

/** Measurements to retain per member; the one with the smallest uncertainty is used. */
const MAX_SAMPLES = 8;

/** Clock drift: how much the uncertainty of a measurement grows per millisecond of its age. */
const DRIFT = 50e-6;

/** Both sides report whole milliseconds. */
const ROUNDING_MS = 1;

/** Few at a time, so that queueing is not mistaken for network delay. */
const MEASURED_AT_ONCE = 8;

/** Minimum time per member in a round: clocks drift slowly, and a thousand members must cost next to nothing. */
const EACH_MS = 600;

/** Members that just started or joined are measured earlier than after a whole interval. */
const UNKNOWN_MS = 3000;

/** Wall clock and monotonic clock; tests provide their own. */
export interface ClockSource {
  /** Epoch ms. */
  nowMs(): number;
  /** Monotonic. */
  runningMs(): number;
}

export interface ClockTableOptions {
  peers: Pick<Peers, 'all'>;
  selfId: string;
  /** Timeout of one measurement. */
  timeoutMs: number;
  /** Called with the description of a member that comes with its time. */
  onDescription?(id: string, description: NodeDescription): void;
  /** Reports a mistake in this program. */
  report?(problem: string): void;
  source?: ClockSource;
}

/** One measurement: the true offset lies within `uncertaintyMs` of `offsetMs`. */
interface Sample extends MemberClock {
  takenMs: number;
  /** What the clock of the member showed then. */
  clockMs: number;
}

/** A restarted member may come back with another clock, so this outlives its membership. */
interface SeenClock {
  last: Sample;
  correctionMs: number;
  steps: readonly ClockStep[];
}

/** A correction is rounded to the coarsest of these within the uncertainty; the last always fits. */
const STEPS_MS = [100_000, 10_000, 1000, 100, 10, 1] as const;

// clock: clocks of members are compared with it
const SYSTEM: ClockSource = { nowMs: () => Date.now(), runningMs: () => performance.now() };
const EXACT: MemberClock = { offsetMs: 0, uncertaintyMs: 0 };

/**
 * The members' clocks, estimated from round trips. The caller that starts it closes it.
 *
 * What it returns is a correction, not the latest estimate: every round trip gives a slightly different one, and the
 * same record must show the same time in every response. An offset that may be zero is not corrected at all, and a
 * correction stays until a measurement rules it out.
 */
export class ClockTable implements Clocks {
  readonly #options: ClockTableOptions;
  readonly #source: ClockSource;
  readonly #samples = new Map<string, Sample[]>();
  /** Subtracted from the timestamps of each member. */
  readonly #corrections = new Map<string, number>();
  readonly #seen = new Map<string, SeenClock>();
  readonly #abortController = new AbortController();
  /** New members that are being measured. */
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

  steps(id: string): readonly ClockStep[] {
    return this.#seen.get(id)?.steps ?? [];
  }

  /** Requests the time of the member once. Rejects if the request fails; the known offset stays. */
  async measure({ member, state }: Peer, options: CallOptions = {}): Promise<MemberClock> {
    if (member.id === this.#options.selfId) return EXACT;
    const askedMs = this.#source.nowMs();
    const leftMs = this.#source.runningMs();
    const description = await state.describe(options);
    const { clockMs } = description;
    const takenMs = this.#source.runningMs();
    if (!Number.isFinite(clockMs)) throw new PortholeError('BAD_ANSWER', `member "${member.id}" returned no time`);
    const halfMs = (takenMs - leftMs) / 2;
    const uncertaintyMs = halfMs + ROUNDING_MS;
    const sample = { offsetMs: clockMs - (askedMs + halfMs), uncertaintyMs, takenMs, clockMs: clockMs + halfMs };
    this.#add(member.id, sample);
    this.#options.onDescription?.(member.id, description);
    return this.of(member.id) ?? sample;
  }

  /** When the clock of a member was last measured, by the monotonic clock; `undefined` if it never was. */
  measuredMs(id: string): number | undefined {
    return this.#samples.get(id)?.at(-1)?.takenMs;
  }

  /** The same as a time of day. */
  heardMs(id: string): number | undefined {
    const takenMs = this.measuredMs(id);
    return takenMs && Math.round(this.#source.nowMs() - (this.#source.runningMs() - takenMs));
  }

  /**
   * Measures all members now and after every interval, and new members immediately. Does not keep the process alive.
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

  /** Members never measured: their timestamps cannot be corrected yet. */
  async #measureNew(): Promise<void> {
    const { peers } = this.#options;
    const isNew = ({ member: { id } }: Peer) => this.of(id) === undefined && !this.#joining.has(id);
    const joining = peers.all().filter(isNew);
    for (const { member } of joining) this.#joining.add(member.id);
    await inParallel(joining, MEASURED_AT_ONCE, async (peer) => {
      await this.#tryMeasure(peer);
      this.#joining.delete(peer.member.id);
    });
  }

  /** A member that fails stays without an offset; the next real request reports why. */
  async #tryMeasure(peer: Peer): Promise<void> {
    const { timeoutMs, report } = this.#options;
    const deadline = { timeoutMs, signal: this.#abortController.signal };
    const measuring = withDeadline((leaving) => this.measure(peer, { signal: leaving }), deadline);
    await measuring.catch((error: unknown) => reportMistake(error, report));
  }

  async #measureAll(intervalMs: number): Promise<void> {
    const { peers } = this.#options;
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
      // Spread over the round, except for members without an offset.
      const waits = isLarge && this.of(peer.member.id) !== undefined;
      if (waits)
        await sleep(EACH_MS * MEASURED_AT_ONCE, undefined, { signal, ref: false }).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      if (signal.aborted) return;
      await this.#tryMeasure(peer);
    });
  }

  /** The measurement with the smallest uncertainty. */
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
    // Measurements that contradict the new one are from before a clock was set.
    const kept = (this.#samples.get(id) ?? []).filter((known) => !contradicts(known, sample));
    this.#samples.set(id, [...kept, sample].slice(-MAX_SAMPLES));
    const estimate = this.#estimate(id) ?? sample;
    const applied = this.#corrections.get(id);
    const correctionMs = applied !== undefined && isWithin(applied, estimate) ? applied : toCorrection(estimate);
    this.#corrections.set(id, correctionMs);
    this.#remember(id, sample, correctionMs);
  }

  #remember(id: string, sample: Sample, correctionMs: number): void {
    const seen = this.#seen.get(id);
    const wasSet = seen && contradicts(seen.last, sample) && Math.abs(seen.correctionMs - correctionMs) >= MIN_STEP_MS;
    const steps = wasSet ? [...seen.steps, this.#step(seen, sample)].slice(-MAX_STEPS) : (seen?.steps ?? []);
    this.#seen.delete(id);
    this.#seen.set(id, { last: sample, correctionMs, steps });
    if (this.#seen.size > MAX_REMEMBERED) this.#seen.delete(this.#seen.keys().next().value ?? '');
  }

  /** It was set right after the measurement before, right before this one, or at any time in between. */
  #step({ last, correctionMs }: SeenClock, sample: Sample): ClockStep {
    const betweenMs = (sample.takenMs - last.takenMs) * (1 + DRIFT) + last.uncertaintyMs + sample.uncertaintyMs;
    return {
      offsetMs: correctionMs,
      foundMs: this.#source.nowMs(),
      firstAfterMs: Math.floor(sample.clockMs - betweenMs),
      lastBeforeMs: Math.ceil(last.clockMs + betweenMs),
    };
  }
}

/** Whether the clock was set between two measurements. */
function contradicts(known: Sample, sample: Sample): boolean {
  const driftMs = (sample.takenMs - known.takenMs) * DRIFT;
  return Math.abs(known.offsetMs - sample.offsetMs) > known.uncertaintyMs + sample.uncertaintyMs + driftMs;
}

/** The roundest offset within the uncertainty; 0 if the clock may be right. */
function toCorrection(estimate: MemberClock): number {
  if (isWithin(0, estimate)) return 0;
  const rounded = STEPS_MS.map((stepMs) => Math.round(estimate.offsetMs / stepMs) * stepMs);
  return rounded.find((offsetMs) => isWithin(offsetMs, estimate)) ?? Math.round(estimate.offsetMs);
}

function isWithin(candidateMs: number, { offsetMs, uncertaintyMs }: MemberClock): boolean {
  return Math.abs(candidateMs - offsetMs) <= uncertaintyMs;
}
