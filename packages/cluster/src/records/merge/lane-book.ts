import type { MemberReport } from '@porthole/contract';
import type { FoundRecord, SearchEnd } from '@porthole/logs/types';
import { deadlineExceeded } from '../../fan-out/bounded-calls.ts';
import { offsetAt, type SteppedClock } from '../../fan-out/clock-steps.ts';
import { toOutcome } from '../../fan-out/member-failure.ts';
import type { MemberSnapshot } from '../../state/snapshots/member-snapshot.ts';
import { coveredRange } from '../search/cluster-coverage.ts';
import type { SnapshotReport } from '../search/open-or-snapshot.ts';
import { isTime, toClusterRecord } from '../to-cluster-record.ts';
import { LineRecord, type LineRows, type LineRun, type MergedRecords } from './record-lines.ts';

export interface BookOptions {
  /** Breaks ties between records with the same time. */
  index: number;
  id: string;
  clock: SteppedClock;
  newestFirst: boolean;
  firstBatchMs: number;
  /** Report fields if its snapshot is searched instead. */
  instead?: (() => SnapshotReport | undefined) | undefined;
  /** Why it is uncertain which of its records were asked for. */
  doubt?: string | undefined;
  /** What earlier pages have emitted, if it continues exactly there. */
  reached?: LaneReach | undefined;
}

/** The key of the last emitted record, and how many records with this key were emitted. */
export interface LaneReach {
  key: number;
  count: number;
}

/** What a response needs to know about a member that was searched. */
export type QueriedLane = Pick<
  LaneBook,
  | 'id'
  | 'hasAnswered'
  | 'end'
  | 'lastEnd'
  | 'problem'
  | 'delivered'
  | 'snapshot'
  | 'reached'
  | 'disorderMs'
  | 'hasNext'
  | 'deliveredCursors'
  | 'ownCoverage'
  | 'undeliveredTimes'
  | 'report'
>;

/** One member of a search: what it sent, and what of it was emitted. */
export abstract class LaneBook {
  readonly index: number;
  readonly id: string;
  readonly uncertaintyMs: number;
  /** It sent something, if only the empty batch. */
  hasAnswered = false;
  /** Its first records missed the deadline: the others are emitted without it. */
  isLate = false;
  /** Of the whole search. */
  end: SearchEnd | undefined;
  /** The error it failed with. */
  problem: unknown;
  delivered = 0;
  /** Set when it has emitted a record, or left one out that an earlier page has emitted. */
  reached: LaneReach | undefined;
  /** How far its records were out of order. */
  disorderMs = 0;
  /** Invalid items. */
  protected skipped = 0;
  /** Of the pages that have come. */
  protected pageEnd: SearchEnd | undefined;
  readonly #options: BookOptions;
  /** The last emitted record per file, in order of emission. */
  readonly #cursors = new Map<string, string>();
  #last: FoundRecord | LineRecord | undefined;

  constructor(options: BookOptions) {
    this.#options = options;
    this.index = options.index;
    this.id = options.id;
    this.uncertaintyMs = options.clock.uncertaintyMs;
  }

  /** Whether it sent records that were not emitted. */
  abstract get hasNext(): boolean;

  /** Times, by the clock of this node, of records that it sent and that were not emitted. */
  abstract undeliveredTimes(): number[];

  protected abstract get elapsedMs(): number;

  /** The snapshot that is searched instead. */
  get snapshot(): MemberSnapshot | undefined {
    return this.#options.instead?.()?.snapshot;
  }

  /** Its end, or that of the pages that have come. */
  get lastEnd(): SearchEnd | undefined {
    return this.end ?? this.pageEnd;
  }

  /** Cursors of the last emitted records by file, in order of emission. */
  get deliveredCursors(): ReadonlyMap<string, string> {
    this.#noteLast();
    return this.#cursors;
  }

  /** Coverage of its closing record, by the clock of this node; `null`: nothing, `undefined`: not received yet. */
  get ownCoverage(): { fromMs: number; toMs: number } | null | undefined {
    return this.lastEnd && coveredRange(this.lastEnd, this.#options.clock);
  }

  report(): MemberReport {
    const elapsedMs = Math.round(this.elapsedMs);
    const { snapshot: _snapshot, ...instead } = this.#options.instead?.() ?? {};
    return { id: this.id, asOfMs: null, ...this.#outcome(), ...instead, elapsedMs, count: this.delivered };
  }

  /** Emits a record. */
  protected deliver(record: FoundRecord | LineRecord, isUnsure: boolean): MergedRecords {
    const atMs = this.timeOf(record);
    if (record instanceof LineRecord) return this.deliverLines(record.asLines(), { atMs, isUnsure });
    this.noteSkipped(record);
    this.delivered++;
    return toClusterRecord(record, { node: this.id, atMs, isUnsure });
  }

  /** Emits lines in a row. `atMs`: the last time of theirs. */
  protected deliverLines(
    lines: LineRows,
    { atMs, isUnsure }: { atMs: number | undefined; isUnsure: boolean },
  ): LineRun {
    // They are of the same file.
    this.noteSkipped(lines.last);
    this.delivered += lines.count;
    return { type: 'lines', node: this.id, offsetMs: this.offsetOf(lines.times[lines.first]), atMs, isUnsure, lines };
  }

  /** By the clock of this node. */
  protected timeOf({ timeMs }: { timeMs?: number | undefined }): number | undefined {
    return this.correct(timeMs);
  }

  /** A time of the member by the clock of this node. */
  protected correct(timeMs: number | undefined): number | undefined {
    return isTime(timeMs) ? timeMs - this.offsetOf(timeMs) : undefined;
  }

  /** How far its clock was ahead when it showed this time. */
  protected offsetOf(timeMs: number | undefined): number {
    const { clock } = this.#options;
    return isTime(timeMs) ? offsetAt(clock, timeMs) : clock.offsetMs;
  }

  /** The key of a record after one with this key. Never smaller: a record out of order or without a time stays behind it. */
  protected keyAfter(key: number, timeMs: number | undefined): number {
    const own = this.#keyOf(timeMs);
    if (own === undefined) return key;
    if (own <= key) this.disorderMs = Math.max(this.disorderMs, key - own);
    return Math.max(key, own);
  }

  /** The same for a record that is left out. */
  protected laterKey(key: number, { timeMs }: FoundRecord | LineRecord): number {
    return Math.max(key, this.#keyOf(timeMs) ?? key);
  }

  protected noteReached(key: number): void {
    const { reached } = this;
    if (reached === undefined) {
      const before = this.#options.reached;
      this.reached = { key, count: before?.key === key ? before.count + 1 : 1 };
      return;
    }
    reached.count = reached.key === key ? reached.count + 1 : 1;
    reached.key = key;
  }

  /** Continues after a record that is not emitted. */
  protected noteSkipped(record: FoundRecord | LineRecord): void {
    if (record.file !== this.#last?.file) this.#noteLast();
    this.#last = record;
  }

  /** Reports invalid items of its response: it may be a later version. */
  protected skippedDetail(): string | undefined {
    if (this.skipped > 0) return `${this.skipped} invalid items in its response were skipped`;
    const problems = Array.isArray(this.lastEnd?.problems) ? this.lastEnd.problems : [];
    return problems.find(({ code }) => code === 'BAD_ANSWER')?.detail;
  }

  #outcome(): Pick<MemberReport, 'outcome' | 'detail' | 'isPartial'> {
    if (this.problem !== undefined) return toOutcome(this.problem);
    const isCut = this.isLate && this.lastEnd === undefined;
    // The empty batch is no answer: it may have died since.
    const isEmpty = !this.hasAnswered || (this.delivered === 0 && !this.hasNext);
    if (isCut && isEmpty) return toOutcome(deadlineExceeded(this.#options.firstBatchMs));
    if (isCut) return { outcome: 'ok', detail: 'its records were late; some are missing', isPartial: true };
    const skipped = this.skippedDetail();
    if (skipped !== undefined) return { outcome: 'version', detail: skipped, isPartial: true };
    const { doubt } = this.#options;
    return { outcome: 'ok', detail: doubt ?? null, ...(doubt !== undefined && { isPartial: true }) };
  }

  #keyOf(timeMs: number | undefined): number | undefined {
    const atMs = this.correct(timeMs);
    return atMs === undefined || !this.#options.newestFirst ? atMs : -atMs;
  }

  #noteLast(): void {
    if (this.#last === undefined) return;
    this.#cursors.delete(this.#last.file);
    this.#cursors.set(this.#last.file, this.#last.cursor);
  }
}
