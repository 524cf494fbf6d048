import { type CallOptions, PortholeError } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { FoundRecord } from '@porthole/logs/types';
import { deadlineExceeded } from '../fan-out/bounded-calls.ts';
import type { QueriedLane } from '../records/merge/lane-book.ts';
import type { JoinMerge, MergeLane, TakeOptions } from '../records/merge/merge-by-time.ts';
import { LineRecord, type MergedRecords } from '../records/merge/record-lines.ts';
import type { GroupBatch, MemberProgress } from './group-search.ts';
import type { GroupedLane } from './grouped-lane.ts';

const OVER = { done: true } as const;

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

/** A helper does not reach a member of which records were emitted: whoever can must continue after them. */
export class MemberLost extends Error {
  constructor() {
    super('a helper does not reach a member that another one has reached');
  }
}

export interface GroupAttempt {
  /** By this node: what it does not reach has failed. */
  isDirect: boolean;
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
  #reading = NO_WORK;
  #isSettling = false;
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

  /** The records of a member that came and were not emitted. */
  waiting(lane: GroupedLane): (FoundRecord | LineRecord)[] {
    return this.#queue.slice(this.#at).flatMap((queued) => (queued.lane === lane ? queued.record : []));
  }

  open(onChange: (lane: MergeLane) => void, join: JoinMerge): void {
    this.#onChange = onChange;
    this.#join = join;
    this.pull();
  }

  pull(): void {
    this.#reading = owned(this.#read(), (error) => this.#fail(error));
  }

  get takenKey(): number {
    return this.#lastKey ?? -Infinity;
  }

  take({ isUnsure }: Pick<TakeOptions, 'isUnsure'>): MergedRecords {
    const { lane, record, key } = this.#queue[this.#at++] as QueuedRecord;
    this.#lastKey = key;
    return lane.emit(record, { key, isUnsure });
  }

  async settle(mostRecords: number): Promise<void> {
    this.#isSettling = true;
    await this.#reading;
    const most = this.#queue.length + mostRecords;
    while (this.#batches && !this.isOver && this.#queue.length <= most) {
      const { done } = await this.#batches.next().catch(() => OVER); // its records are emitted; the next page reports it
      if (done) return;
    }
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
      // A helper that fails after the page is full says nothing about the members.
      if (this.#isSettling) this.isOver = true;
      else this.#fail(error);
    } finally {
      clearTimeout(timer);
      this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - startedMs));
      this.#onChange(this);
    }
  }

  /** Yields after each part. */
  async *#readAttempts(): AsyncGenerator<void, void, undefined> {
    const { signal } = this.#abortController;
    for await (const attempt of this.#options.attempts()) {
      const { lanes, limit, open, goOn, isReplaced } = attempt;
      let records = 0;
      try {
        for await (const batch of open({ signal })) {
          records += batch.records.length;
          this.#use(batch, attempt);
          yield;
        }
        if (records < limit || this.#isSettling) return;
        goOn();
        for (const lane of lanes) if (!lane.isFinished) lane.restart();
      } catch (error) {
        signal.throwIfAborted();
        if (this.#isSettling || !isReplaced(error)) throw error;
        // What was not emitted comes again.
        this.#queue = [];
        this.#at = 0;
        for (const lane of lanes) if (!lane.isFinished) lane.restart();
      }
    }
  }

  #use({ progress, members, records }: GroupBatch, { lanes, isDirect }: GroupAttempt): void {
    for (const each of progress) {
      const lane = lanes[each.member];
      if (lane === undefined || lane.isFinished) continue;
      if (each.is !== 'direct' && each.is !== 'silent') lane.update(each);
      // Nothing of it would be emitted.
      else if (this.#isSettling) continue;
      // Opened again it would begin again.
      else if (lane.delivered > 0) this.#lose(lane, each, { isDirect });
      else this.#openInstead(lane, { isSilent: each.is === 'silent' });
      if (lane.hasAnswered) this.hasAnswered = true;
    }
    // There are some only if it reads on to the end of the page.
    this.#queue = this.#queue.slice(this.#at);
    this.#at = 0;
    for (const [index, record] of records.entries()) {
      const lane = lanes[members[index] ?? -1];
      if (lane === undefined || lane.instead || lane.seen?.has(record.cursor)) continue;
      const own = this.#options.asLines || !(record instanceof LineRecord) ? record : parseLine(record);
      this.#queue.push({ lane, record: own, key: lane.keyFor(own) });
    }
  }

  #lose(lane: GroupedLane, progress: MemberProgress, { isDirect }: Pick<GroupAttempt, 'isDirect'>): void {
    if (!isDirect) throw new MemberLost();
    const problem = progress.is === 'direct' ? progress.problem : undefined;
    lane.fail(problem ?? new PortholeError('DEADLINE_EXCEEDED', 'it sent records, and then no more'));
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
