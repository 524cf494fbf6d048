import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { type BookOptions, LaneBook, type QueriedLane } from '../records/merge/lane-book.ts';
import { joinEnds } from '../records/merge/member-pages.ts';
import type { LineRecord, MergedRecords } from '../records/merge/record-lines.ts';
import { memberCoverage } from '../records/search/cluster-coverage.ts';
import type { GroupLane } from './group-lane.ts';
import type { MemberProgress } from './group-search.ts';

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
  /** Until its last record or page came: the others may take longer. */
  #heardMs: number | undefined;
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

  /** Some of its records are on another node. They come after what has come, except those out of order. */
  undeliveredTimes(): number[] {
    if (!this.hasNext) return [];
    const group = this.#group();
    const times = [group.reachedMs, this.#edgeMs, ...group.waiting(this).map((record) => this.timeOf(record))];
    return times.filter((time) => time !== undefined);
  }

  keyFor(record: FoundRecord | LineRecord): number {
    this.#heardMs = performance.now() - this.#startedMs;
    this.queuedKey = this.keyAfter(this.queuedKey, record.timeMs);
    return this.queuedKey;
  }

  emit(record: FoundRecord | LineRecord, { key, isUnsure }: { key: number; isUnsure: boolean }): MergedRecords {
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
      this.#heardMs = performance.now() - this.#startedMs;
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
    return this.#elapsedMs ?? this.#heardMs ?? performance.now() - this.#startedMs;
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
