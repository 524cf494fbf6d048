import { setTimeout as delay } from 'node:timers/promises';
import {
  type ClusterFollowItem,
  codeOf,
  MEMBER_HEARTBEAT_MS,
  type MemberReport,
  type MemberSelection,
  PortholeError,
} from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { FollowItem, FollowQuery, FoundRecord } from '@porthole/logs/types';
import { FollowPosition } from '../../contract-only/follow-position.ts';
import { type SteppedClock, toOwnTime } from '../../fan-out/clock-steps.ts';
import type { Peer } from '../../fan-out/peers.ts';
import { deadlineExceeded, withDeadline } from '../../requests/bounded-calls.ts';
import { expectFailure, toOutcome } from '../../requests/member-failure.ts';
import { type ClusterDeps, getClock } from '../search/cluster-deps.ts';
import { toMemberFollow } from '../search/member-query.ts';
import { isInvalidRequest } from '../search/refusals.ts';
import { isTime, stripClusterFields, toClusterRecord } from '../to-cluster-record.ts';
import type { HeldMember, TimedItem } from './reorder-window.ts';

/** Files whose last timestamp is remembered; each log has one live file. */
const MAX_FILES = 2048;

/** Retry delays double up to this. */
const LONGEST_WAIT_MS = 30_000;

/** After a timeout: a member that stays silent is asked in the background, and following it then fails at once. */
const SILENT_WAIT_MS = 2000;

export interface FollowedMemberOptions {
  request: FollowQuery & MemberSelection;
  /** By the clock of the member. */
  start: FollowQuery['start'];
  firstWaitMs: number;
  /** Accepts items; resolves when it can accept more. */
  pass(member: FollowedMember, items: readonly TimedItem[]): Promise<void>;
  emit(item: ClusterFollowItem): void;
  /** Called when this node stops, which ends the whole follow. */
  onStopping(): void;
  /** Position when it left, or from the request. */
  place?: FollowPosition;
  /** Joined later, or was reported as failed: report when it is followed. */
  isJoining?: boolean;
  /** Timeout for measuring its clock before it is followed. */
  measureMs: number;
}

/** Follows one member, reconnecting as often as needed. */
export class FollowedMember implements HeldMember {
  readonly peer: Peer;
  readonly id: string;
  readonly position: FollowPosition;
  held = 0;
  heldBytes = 0;
  uncertaintyMs = 0;
  hasAnswered = false;
  problem: unknown;
  readonly #options: FollowedMemberOptions;
  readonly #clocks: ClusterDeps['clocks'];
  readonly #abortController = new AbortController();
  /** Last timestamp per file: records without one or with an earlier one stay after it. */
  readonly #lastMs = new Map<string, number>();
  #newestMs = -Infinity;
  #clock: SteppedClock = { offsetMs: 0, uncertaintyMs: 0 };
  /** The clock correction has changed since the previous record. */
  #isCorrected = false;
  #state = 'ok';
  #startedMs = 0;
  #count = 0;
  #settled: () => void = () => {};
  #running = NO_WORK;

  constructor(peer: Peer, clocks: ClusterDeps['clocks'], options: FollowedMemberOptions) {
    this.peer = peer;
    this.id = peer.member.id;
    this.#clocks = clocks;
    this.#options = options;
    this.position = options.place ?? new FollowPosition(options.start);
    if (options.isJoining) this.#state = 'joining';
  }

  /** Starts following; resolves when it is established, failed once or takes too long, in which case it continues in the background. */
  async start(withinMs: number): Promise<void> {
    this.#startedMs = performance.now();
    const settled = new Promise<void>((resolve) => {
      this.#settled = resolve;
    });
    const timer = setTimeout(() => {
      this.#report(toOutcome(deadlineExceeded(withinMs)));
      this.#settled();
    }, withinMs);
    this.#running = owned(this.#run(), (error) => {
      this.#report(toOutcome(error));
      this.#settled();
    });
    await settled;
    clearTimeout(timer);
  }

  /** The last reported state. */
  get isFollowed(): boolean {
    return this.#state === 'ok';
  }

  /** Stops following; does not wait for streams that ignore the signal. */
  async stop(): Promise<void> {
    this.#abortController.abort();
    this.#settled();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abortController;
    for (let failures = 0; !signal.aborted; failures++) {
      const countBefore = this.#count;
      try {
        await this.#followOnce();
        if (signal.aborted) return;
        throw new PortholeError('UNREACHABLE', 'the member ended the stream');
      } catch (error) {
        if (signal.aborted) return;
        if (this.#count > countBefore) failures = 0;
        this.problem = error;
        if (codeOf(error) === 'CURSOR_GONE' && this.position.forget()) {
          // How much is missing is unknown; continue with new records.
          const gap = { type: 'gap', family: '', reason: 'gone', bytes: null, after: null, until: null } as const;
          // clock: where records begin that are followed
          await this.#options.pass(this, [this.#event(gap, Date.now())]);
          continue;
        }
        this.#report(toOutcome(error));
        this.#settled();
        if (isFinal(error)) return;
        const longestMs = codeOf(error) === 'DEADLINE_EXCEEDED' ? SILENT_WAIT_MS : LONGEST_WAIT_MS;
        const waitMs = Math.min(longestMs, this.#options.firstWaitMs * 2 ** failures);
        // Not all at the same time: many nodes may follow a member that was restarted.
        await this.#pause(waitMs * (0.5 + Math.random() / 2));
      }
    }
  }

  async #followOnce(): Promise<void> {
    await this.#measure();
    this.#correct();
    const query = toMemberFollow(
      this.#options.request,
      { member: this.peer.member, clock: this.#clock },
      this.position.start(),
    );
    const askedMs = Date.now() + this.#clock.offsetMs; // clock: where records begin that are followed
    for await (const items of this.peer.state.followLogs(query, {
      signal: this.#abortController.signal,
      heartbeatMs: MEMBER_HEARTBEAT_MS,
      // Passed on: the consumer of the merged follow decides whether to load the gap.
      gaps: 'report',
      positions: true,
    })) {
      // Whoever follows it from now on continues after what was passed on before.
      if (this.#abortController.signal.aborted) return;
      this.hasAnswered = true;
      this.position.started(askedMs);
      this.#settled();
      if (!(await this.#take(items))) return;
    }
  }

  /** Before the first record, so that all times are corrected; a member that cannot be measured is followed anyway. */
  async #measure(): Promise<void> {
    if (this.#clocks.of(this.id) !== undefined || !this.#clocks.measure) return;
    const deadline = { timeoutMs: this.#options.measureMs, signal: this.#abortController.signal };
    const measure = (signal: AbortSignal) => this.#clocks.measure?.(this.peer, { signal }) ?? Promise.resolve();
    await withDeadline<unknown>(measure, deadline).catch(expectFailure); // the follow itself reports a failing member
  }

  /**
   * Updates the clock correction if it is known better or the clock was set. Times before and after the change are not
   * comparable, so the order is uncertain.
   */
  #correct(): void {
    const clock = getClock(this.#clocks, this.id);
    const { offsetMs, uncertaintyMs } = clock;
    const changeMs = offsetMs - this.#clock.offsetMs;
    const isFirst = this.#count === 0;
    const isBetter = uncertaintyMs < this.uncertaintyMs;
    const wasSet = Math.abs(changeMs) > uncertaintyMs + this.uncertaintyMs;
    if (!isFirst && !isBetter && !wasSet) return;
    this.#clock = clock;
    this.uncertaintyMs = uncertaintyMs;
    if (isFirst || changeMs === 0) return;
    this.#isCorrected = true;
  }

  /** Returns whether to continue. */
  async #take(items: readonly FollowItem[]): Promise<boolean> {
    const nowMs = Date.now(); // clock: where records begin that are followed
    this.#correct();
    const timed: TimedItem[] = [];
    let isUp = true;
    for (const item of items) {
      if (item.type === 'reconnecting') {
        isUp = false;
        this.#report({ outcome: item.isTimeout ? 'timeout' : 'refused', detail: item.reason });
        continue;
      }
      if (item.type === 'end') {
        await this.#options.pass(this, timed);
        if (this.peer.member.isSelf && item.reason === 'stopping') this.#options.onStopping();
        return false;
      }
      if (isUp) this.#report({ outcome: 'ok', detail: null });
      if (item.type === 'position') this.position.locate(item.cursor);
      if (item.type !== 'record') timed.push(this.#event(item, nowMs));
      else if (isNamed(item)) timed.push(this.#record(item, nowMs));
      else timed.push(this.#event({ type: 'skipped', count: 1, detail: 'an invalid record was skipped' }, nowMs));
    }
    if (isUp) this.#report({ outcome: 'ok', detail: null });
    if (timed.length > 0) await this.#options.pass(this, timed);
    return true;
  }

  #record(record: FoundRecord, nowMs: number): TimedItem {
    const { timeMs, file } = record;
    this.position.track(record);
    this.#count++;
    const hasTime = isTime(timeMs);
    const correctedMs = hasTime ? toOwnTime(this.#clock, timeMs) : undefined;
    const item = toClusterRecord(stripClusterFields(record), {
      node: this.id,
      atMs: correctedMs,
      isUnsure: this.#isCorrected,
    });
    this.#isCorrected = false;
    // A timestamp in the future must not delay the other members.
    const ownMs = Math.min(correctedMs ?? -Infinity, nowMs);
    const known = this.#lastMs.get(file);
    const atMs = hasTime || known !== undefined ? Math.max(ownMs, known ?? -Infinity) : nowMs;
    this.#lastMs.delete(file);
    this.#lastMs.set(file, atMs);
    if (this.#lastMs.size > MAX_FILES) this.#lastMs.delete(this.#lastMs.keys().next().value ?? '');
    this.#newestMs = Math.max(this.#newestMs, atMs);
    return { item, atMs };
  }

  /** Events come after the emitted records of the member. */
  #event(
    item: Exclude<FollowItem, FoundRecord | { type: 'end' } | { type: 'reconnecting' }>,
    nowMs: number,
  ): TimedItem {
    return { item: { ...item, node: this.id }, atMs: this.#newestMs === -Infinity ? nowMs : this.#newestMs };
  }

  /** Reports only changes. */
  #report({ outcome, detail }: Pick<MemberReport, 'outcome' | 'detail'>): void {
    // How long it has been silent is no change.
    const state = outcome === 'ok' || outcome === 'timeout' ? outcome : `${outcome} ${detail}`;
    if (this.#state === state) return;
    this.#state = state;
    const elapsedMs = Math.round(performance.now() - this.#startedMs);
    const report: MemberReport = { id: this.id, outcome, detail, elapsedMs, count: this.#count, asOfMs: null };
    this.#options.emit({ type: 'member', node: this.id, report });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#abortController;
    await delay(ms, undefined, { signal }).catch(() => {}); // it was stopped: the loop that pauses ends
  }
}

/** Whether retrying cannot help. */
function isFinal(error: unknown): boolean {
  return codeOf(error) === 'NOT_SUPPORTED' || isInvalidRequest(error);
}

/** The client decodes HTTP responses; records without these two cannot be followed. */
function isNamed({ file, cursor }: FoundRecord): boolean {
  return typeof file === 'string' && typeof cursor === 'string';
}
