import {
  type ClusterFollowItem,
  codeOf,
  type MemberReport,
  type MemberSelection,
  PortholeError,
} from '@porthole/contract';
import type { FollowItem, FollowQuery, FoundRecord } from '@porthole/logs/types';
import type { Peer } from '../../fan-out/peers.ts';
import { toOutcome } from '../../fan-out/to-outcome.ts';
import { deadlineExceeded, withDeadline } from '../../fan-out/with-deadline.ts';
import { type ClusterDeps, getClock } from '../cluster-deps.ts';
import { toMemberFollow } from '../member-query.ts';
import { isInvalidRequest } from '../refusals.ts';
import { isTime, stripClusterFields, toClusterRecord } from '../to-cluster-record.ts';
import { FollowPosition } from './follow-position.ts';
import type { HeldMember, TimedItem } from './reorder-window.ts';

/** Files of which the time of the last record is remembered; a log has one that is written. */
const MAX_FILES = 2048;

/** The wait before a member is tried again doubles from the first to the longest. */
const LONGEST_WAIT_MS = 30_000;

export interface FollowedMemberOptions {
  request: FollowQuery & MemberSelection;
  /** By the member's clock. */
  start: FollowQuery['start'];
  firstWaitMs: number;
  /** Takes items; resolves when it may take more. */
  pass(member: FollowedMember, items: readonly TimedItem[]): Promise<void>;
  emit(item: ClusterFollowItem): void;
  /** The member of this process is stopping, and all with it. */
  onStopping(): void;
  /** Where it was when it left, or was asked elsewhere. */
  place?: FollowPosition;
  /** Came while others were followed already, or was reported as failing before: that it is followed is reported. */
  isJoining?: boolean;
  /** How long measuring its clock may take before it is followed. */
  measureMs: number;
}

/** One member as it is followed, over as many attempts as it takes. */
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
  /** Per file, the time of its last record: what has none, or goes back, stays behind it. */
  readonly #lastMs = new Map<string, number>();
  #newestMs = -Infinity;
  #offsetMs = 0;
  /** Its times are corrected otherwise than those of the record before. */
  #isCorrected = false;
  #state = 'ok';
  #startedMs = 0;
  #count = 0;
  #settled: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(peer: Peer, clocks: ClusterDeps['clocks'], options: FollowedMemberOptions) {
    this.peer = peer;
    this.id = peer.member.id;
    this.#clocks = clocks;
    this.#options = options;
    this.position = options.place ?? new FollowPosition(options.start);
    if (options.isJoining) this.#state = 'joining';
  }

  /** Begins to follow; resolves when it stands, has failed once, or takes too long: then it goes on beside the others. */
  async start(withinMs: number): Promise<void> {
    this.#startedMs = performance.now();
    const settled = new Promise<void>((resolve) => {
      this.#settled = resolve;
    });
    const timer = setTimeout(() => {
      this.#report(toOutcome(deadlineExceeded(withinMs)));
      this.#settled();
    }, withinMs);
    this.#running = this.#run();
    await settled;
    clearTimeout(timer);
  }

  /** Whether it is followed, as far as was reported. */
  get isFollowed(): boolean {
    return this.#state === 'ok';
  }

  /** Ends it; what does not listen is not waited for. */
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
        throw new PortholeError('UNREACHABLE', 'it ended its answer');
      } catch (error) {
        if (signal.aborted) return;
        if (this.#count > countBefore) failures = 0;
        this.problem = error;
        if (codeOf(error) === 'CURSOR_GONE' && this.position.forget()) {
          // What is missing cannot be known; what it writes from now on is.
          const gap = { type: 'gap', family: '', reason: 'gone', bytes: null, after: null, until: null } as const;
          this.#options.emit({ ...gap, node: this.id });
          continue;
        }
        this.#report(toOutcome(error));
        this.#settled();
        if (isFinal(error)) return;
      }
      await this.#pause(Math.min(LONGEST_WAIT_MS, this.#options.firstWaitMs * 2 ** failures));
    }
  }

  async #followOnce(): Promise<void> {
    await this.#measure();
    this.#correct();
    const query = toMemberFollow(this.#options.request, this.#offsetMs, this.position.start());
    const askedMs = Date.now() + this.#offsetMs;
    for await (const items of this.peer.state.followLogs(query, {
      signal: this.#abortController.signal,
      // For whoever reads the merged follow to load: it may not want to.
      gaps: 'report',
    })) {
      this.hasAnswered = true;
      this.position.started(askedMs);
      this.#settled();
      if (!(await this.#take(items))) return;
      if (this.#abortController.signal.aborted) return;
    }
  }

  /** Before its first record, so that none is emitted with a time that is off; one that cannot be measured is followed all the same. */
  async #measure(): Promise<void> {
    if (this.#clocks.of(this.id) !== undefined || !this.#clocks.measure) return;
    const deadline = { timeoutMs: this.#options.measureMs, signal: this.#abortController.signal };
    const measure = (signal: AbortSignal) => this.#clocks.measure?.(this.peer, { signal }) ?? Promise.resolve();
    await withDeadline<unknown>(measure, deadline).catch(() => {});
  }

  /**
   * Takes what is known of its clock now: where it is known better than before, or was set. What comes after that is in
   * another time than what came before, so which was first cannot be told by the times.
   */
  #correct(): void {
    const { offsetMs, uncertaintyMs } = getClock(this.#clocks, this.id);
    const changeMs = offsetMs - this.#offsetMs;
    const isFirst = this.#count === 0;
    const isBetter = uncertaintyMs < this.uncertaintyMs;
    const wasSet = Math.abs(changeMs) > uncertaintyMs + this.uncertaintyMs;
    if (!isFirst && !isBetter && !wasSet) return;
    this.#offsetMs = offsetMs;
    this.uncertaintyMs = uncertaintyMs;
    if (isFirst || changeMs === 0) return;
    this.#isCorrected = true;
  }

  /** Whether it goes on. */
  async #take(items: readonly FollowItem[]): Promise<boolean> {
    const nowMs = Date.now();
    this.#correct();
    const timed: TimedItem[] = [];
    let isUp = true;
    for (const item of items) {
      if (item.type === 'reconnecting') {
        isUp = false;
        this.#report({ outcome: 'refused', detail: item.reason });
        continue;
      }
      if (item.type === 'end') {
        await this.#options.pass(this, timed);
        if (this.peer.member.isSelf && item.reason === 'stopping') this.#options.onStopping();
        return false;
      }
      if (isUp) this.#report({ outcome: 'ok', detail: null });
      if (item.type !== 'record') timed.push(this.#event(item, nowMs));
      else if (isNamed(item)) timed.push(this.#record(item, nowMs));
      else timed.push(this.#event({ type: 'skipped', count: 1, detail: 'an invalid record was left out' }, nowMs));
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
    const correctedMs = hasTime ? timeMs - this.#offsetMs : undefined;
    const item = toClusterRecord(stripClusterFields(record), {
      node: this.id,
      atMs: correctedMs,
      isUnsure: this.#isCorrected,
    });
    this.#isCorrected = false;
    // Nothing is written later than it comes: a time that says so must not hold up the others.
    const ownMs = Math.min(correctedMs ?? -Infinity, nowMs);
    const known = this.#lastMs.get(file);
    const atMs = hasTime || known !== undefined ? Math.max(ownMs, known ?? -Infinity) : nowMs;
    this.#lastMs.delete(file);
    this.#lastMs.set(file, atMs);
    if (this.#lastMs.size > MAX_FILES) this.#lastMs.delete(this.#lastMs.keys().next().value ?? '');
    this.#newestMs = Math.max(this.#newestMs, atMs);
    return { item, atMs };
  }

  /** What happened to a log comes behind what was told of the member. */
  #event(
    item: Exclude<FollowItem, FoundRecord | { type: 'end' } | { type: 'reconnecting' }>,
    nowMs: number,
  ): TimedItem {
    return { item: { ...item, node: this.id }, atMs: this.#newestMs === -Infinity ? nowMs : this.#newestMs };
  }

  /** Told only where it changes something. */
  #report({ outcome, detail }: Pick<MemberReport, 'outcome' | 'detail'>): void {
    const state = `${outcome} ${detail}`;
    const isKnown = outcome === 'ok' ? this.#state === 'ok' : this.#state === state;
    if (isKnown) return;
    this.#state = outcome === 'ok' ? 'ok' : state;
    const elapsedMs = Math.round(performance.now() - this.#startedMs);
    const report: MemberReport = { id: this.id, outcome, detail, elapsedMs, count: this.#count, asOfMs: null };
    this.#options.emit({ type: 'member', node: this.id, report });
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#abortController;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** Whether asking again cannot help. */
function isFinal(error: unknown): boolean {
  return codeOf(error) === 'NOT_SUPPORTED' || isInvalidRequest(error);
}

/** What comes over HTTP is decoded by the client; without these two it has no place in a follow. */
function isNamed({ file, cursor }: FoundRecord): boolean {
  return typeof file === 'string' && typeof cursor === 'string';
}
