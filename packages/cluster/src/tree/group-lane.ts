import { type CallOptions, PortholeError } from '@porthole/contract';
import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { deadlineExceeded } from '../fan-out/bounded-calls.ts';
import { type BookOptions, LaneBook, type QueriedLane } from '../records/merge/lane-book.ts';
import { joinEnds } from '../records/merge/member-pages.ts';
import type { JoinMerge, MergeLane } from '../records/merge/merge-by-time.ts';
import { LineRecord, type MergedRecord } from '../records/merge/record-lines.ts';
import { memberCoverage } from '../records/search/cluster-coverage.ts';
import type { GroupBatch, MemberProgress } from './group-search.ts';

/** A member whose records come with those of its group. */
export class GroupedLane extends LaneBook {
  /** Of the last record that came, or was emitted. */
  queuedKey = -Infinity;
  takenKey = -Infinity;
  /** The lane that the asking node opened for it, because no other node can ask it, or its snapshot is used. */
  instead: QueriedLane | undefined;
  /** Emitted records: those that come again after a helper was replaced are left out. Only where there are no cursors. */
  readonly seen: Set<string> | undefined;
  /** How many records it has; known with its end. */
  #sent = Infinity;
  #sentBefore = 0;
  #edgeMs: number | undefined;
  /** Of the searches before this one, up to what was emitted. */
  #endBefore: SearchEnd | undefined;
  readonly #options: BookOptions;
  readonly #group: () => GroupLane;
  readonly #startedMs = performance.now();
  #elapsedMs: number | undefined;

  constructor(options: BookOptions, { group, isResumable }: { group: () => GroupLane; isResumable: boolean }) {
    super(options);
    this.#options = options;
    if (options.reached) this.queuedKey = this.takenKey = options.reached.key;
    this.#group = group;
    this.seen = isResumable ? undefined : new Set();
  }

  get isFinished(): boolean {
    if (this.instead !== undefined || this.problem !== undefined) return true;
    return this.end !== undefined && this.delivered >= this.#sent;
  }

  /** What is not known to be over comes after what the group has reached. */
  get hasNext(): boolean {
    return !this.isFinished && !this.isLate;
  }

  /** The records are on another node. They come after what has come, except those out of order. */
  undeliveredTimes(): number[] {
    if (!this.hasNext) return [];
    const reachedMs = this.#group().reachedMs;
    return [...(reachedMs === undefined ? [] : [reachedMs]), ...(this.#edgeMs === undefined ? [] : [this.#edgeMs])];
  }

  keyFor(record: FoundRecord | LineRecord): number {
    this.queuedKey = this.keyAfter(this.queuedKey, record);
    return this.queuedKey;
  }

  emit(record: FoundRecord | LineRecord, { key, isUnsure }: { key: number; isUnsure: boolean }): MergedRecord {
    this.takenKey = key;
    this.noteReached(key);
    this.seen?.add(record.cursor);
    return this.deliver(record, isUnsure);
  }

  update(progress: MemberProgress): void {
    if (progress.is === 'answered') this.hasAnswered = true;
    else if (progress.is === 'late') this.isLate = true;
    else if (progress.is === 'failed') this.fail(progress.problem);
    else if ('end' in progress) {
      const end = this.#endBefore ? joinEnds(this.#endBefore, progress.end) : progress.end;
      this.#edgeMs = progress.edgeMs === null ? undefined : this.timeOf({ timeMs: progress.edgeMs });
      this.pageEnd = end;
      if (progress.is === 'page') return;
      this.end = end;
      this.#sent = this.#sentBefore + progress.sent;
      this.#elapsedMs ??= performance.now() - this.#startedMs;
    }
  }

  fail(problem: unknown): void {
    this.problem ??= problem;
    this.#elapsedMs ??= performance.now() - this.#startedMs;
  }

  /** It is searched again, after what was emitted. */
  restart(): void {
    this.#endBefore = this.#emittedEnd();
    this.pageEnd = this.#endBefore;
    this.end = undefined;
    this.#sent = Infinity;
    this.#edgeMs = undefined;
    this.#sentBefore = this.seen ? 0 : this.delivered;
    this.queuedKey = this.takenKey;
  }

  protected get elapsedMs(): number {
    return this.#elapsedMs ?? performance.now() - this.#startedMs;
  }

  /** Its end as far as its records were emitted; `undefined` if that is no range. */
  #emittedEnd(): SearchEnd | undefined {
    const { newestFirst, clock } = this.#options;
    const { coveredFromMs, coveredToMs } = memberCoverage({ lane: this }, newestFirst ? 'newest' : 'oldest');
    if (this.isLate || !this.lastEnd || coveredFromMs === null || coveredToMs === null) return undefined;
    const { offsetMs } = clock;
    return { ...this.lastEnd, coveredFromMs: coveredFromMs + offsetMs, coveredToMs: coveredToMs + offsetMs };
  }
}

interface QueuedRecord {
  lane: GroupedLane;
  record: FoundRecord | LineRecord;
  key: number;
}

export interface GroupLaneOptions {
  /** In the order that decides between records of the same time. */
  lanes: readonly GroupedLane[];
  newestFirst: boolean;
  /** Whether records stay lines. */
  asLines: boolean;
  /** Total time to wait for the group. */
  timeoutMs: number;
  /** The parts of these members, through helpers or directly. Each attempt begins after what was emitted. */
  attempts(): AsyncIterable<GroupAttempt>;
  /** Opens a member directly, or its snapshot if it is silent. */
  openInstead(lane: GroupedLane, options: { isSilent: boolean }): QueriedLane & MergeLane;
}

export interface GroupAttempt {
  /** Those that are searched, as the parts number them. */
  lanes: readonly GroupedLane[];
  /** After so many records there may be more. */
  limit: number;
  /** Lets the next attempt continue after this one, which has not failed. */
  goOn(): void;
  /** Rejects with a HelperFailure if another attempt may help. */
  open(options: Required<Pick<CallOptions, 'signal'>>): AsyncIterable<GroupBatch>;
  /** Whether there may be another attempt after this failure. */
  isReplaced(error: unknown): boolean;
}

/** A group of members as one lane of a merge. */
export class GroupLane implements MergeLane {
  hasAnswered = false;
  readonly isLate = false;
  isOver = false;
  readonly #options: GroupLaneOptions;
  readonly #abortController = new AbortController();
  #queue: QueuedRecord[] = [];
  #at = 0;
  #lastKey: number | undefined;
  #batches: AsyncIterator<void> | undefined;
  #remainingMs: number;
  #onChange: (lane: MergeLane) => void = () => {};
  #join: JoinMerge = () => {};

  constructor(options: GroupLaneOptions) {
    this.#options = options;
    this.#remainingMs = options.timeoutMs;
  }

  get hasNext(): boolean {
    return this.#at < this.#queue.length;
  }

  get key(): number {
    return this.#head?.key ?? this.#lastKey ?? -Infinity;
  }

  get index(): number {
    return (this.#head?.lane ?? this.#options.lanes[0])?.index ?? 0;
  }

  get id(): string {
    return this.#head?.lane.id ?? '';
  }

  get uncertaintyMs(): number {
    return this.#head?.lane.uncertaintyMs ?? 0;
  }

  /** The time that was reached, by the clock of this node: records that have not come are not before it. */
  get reachedMs(): number | undefined {
    const key = this.#head?.key ?? this.#lastKey;
    if (key === undefined || !Number.isFinite(key)) return undefined;
    return this.#options.newestFirst ? -key : key;
  }

  open(onChange: (lane: MergeLane) => void, join: JoinMerge): void {
    this.#onChange = onChange;
    this.#join = join;
    this.pull();
  }

  pull(): void {
    void this.#read();
  }

  take(isUnsure: boolean): MergedRecord {
    const { lane, record, key } = this.#queue[this.#at++] as QueuedRecord;
    this.#lastKey = key;
    return lane.emit(record, { key, isUnsure });
  }

  async close(): Promise<void> {
    this.isOver = true;
    this.#abortController.abort();
    await this.#batches?.return?.().catch(() => {}); // the lane is closed; its result no longer matters
  }

  get #head(): QueuedRecord | undefined {
    return this.#queue[this.#at];
  }

  async #read(): Promise<void> {
    const startedMs = performance.now();
    const { timeoutMs } = this.#options;
    const timer = setTimeout(() => this.#fail(deadlineExceeded(timeoutMs)), this.#remainingMs);
    try {
      this.#batches ??= this.#readAttempts();
      while (!this.isOver && !this.hasNext) {
        const { done } = await this.#batches.next();
        if (this.isOver) return;
        if (done) this.isOver = true;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      clearTimeout(timer);
      this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - startedMs));
      this.#onChange(this);
    }
  }

  /** Yields after each part. */
  async *#readAttempts(): AsyncGenerator<void, void, undefined> {
    const { signal } = this.#abortController;
    for await (const { lanes, limit, open, goOn, isReplaced } of this.#options.attempts()) {
      let records = 0;
      try {
        for await (const batch of open({ signal })) {
          records += batch.records.length;
          this.#use(batch, lanes);
          yield;
        }
        if (records < limit) return;
        goOn();
        for (const lane of lanes) if (!lane.isFinished) lane.restart();
      } catch (error) {
        signal.throwIfAborted();
        if (!isReplaced(error)) throw error;
        // What was not emitted comes again.
        this.#queue = [];
        this.#at = 0;
        for (const lane of lanes) if (!lane.isFinished) lane.restart();
      }
    }
  }

  #use({ progress, members, records }: GroupBatch, lanes: readonly GroupedLane[]): void {
    for (const each of progress) {
      const lane = lanes[each.member];
      if (lane === undefined || lane.isFinished) continue;
      if (each.is === 'direct' || each.is === 'silent') this.#openInstead(lane, { isSilent: each.is === 'silent' });
      else lane.update(each);
      if (lane.hasAnswered) this.hasAnswered = true;
    }
    this.#queue = [];
    this.#at = 0;
    for (const [index, record] of records.entries()) {
      const lane = lanes[members[index] ?? -1];
      if (lane === undefined || lane.instead || lane.seen?.has(record.cursor)) continue;
      const own = this.#options.asLines || !(record instanceof LineRecord) ? record : parseLine(record);
      this.#queue.push({ lane, record: own, key: lane.keyFor(own) });
    }
  }

  #openInstead(lane: GroupedLane, options: { isSilent: boolean }): void {
    const opened = this.#options.openInstead(lane, options);
    lane.instead = opened;
    this.#join(opened);
  }

  #fail(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    const problem = error ?? new PortholeError('INTERNAL', 'a group failed without a reason');
    for (const lane of this.#options.lanes) if (!lane.isFinished) lane.fail(problem);
    this.#abortController.abort(error);
    this.#onChange(this);
  }
}

function parseLine({ line }: LineRecord): FoundRecord {
  return JSON.parse(line.toString()) as FoundRecord;
}
