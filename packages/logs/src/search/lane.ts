import { OriginList, type RecordBatch, sliceBatch } from '@porthole/records';
import { type FoundLines, NOTHING_FOUND, startAt, textOf } from '../scan/block/found-lines.ts';
import { cursorAt, type FoundStep } from './family-records.ts';
import type { OpenFile } from './files/open-file.ts';
import type { PositionRange, RecordPosition } from './plan/file-parts.ts';

export interface LaneOptions {
  newestFirst: boolean;
  /** Where the scan begins, if at a record. */
  cursor: string | undefined;
  /** What is scanned. */
  range: PositionRange;
}

/** Records `[from, to)` of what a step of a scan found. */
export interface TakenRecords {
  found: FoundLines;
  opened: OpenFile | undefined;
  from: number;
  to: number;
}

/** The records as a batch: in the same memory if they are in one piece, copied otherwise. */
export function takenBatch(taken: readonly TakenRecords[]): RecordBatch {
  const [only] = taken;
  if (only && taken.length === 1) {
    const { text: bytes, ends, times, offsets } = only.found;
    const origins = [{ file: only.opened?.name ?? '' }];
    return sliceBatch({ type: 'batch', bytes, ends, times, offsets, origins }, only.from, only.to);
  }
  let [count, length] = [0, 0];
  for (const { found, from, to } of taken) {
    count += to - from;
    length += startAt(found, to) - startAt(found, from);
  }
  const origins = new OriginList();
  const joined = {
    type: 'batch' as const,
    bytes: Buffer.allocUnsafe(length),
    ends: new Uint32Array(count),
    times: new Float64Array(count),
    offsets: new Float64Array(count),
    originOf: new Uint16Array(count),
    origins: origins.list,
  };
  const sources = new Map<FoundLines, { text: Buffer; origin: number }>();
  let [at, index] = [0, 0];
  for (const { found, opened, from, to } of taken) {
    let source = sources.get(found);
    if (source === undefined) {
      source = { text: textOf(found, 0, found.ends.length), origin: origins.indexOf(opened?.name ?? '') };
      sources.set(found, source);
    }
    const { text, origin } = source;
    const start = startAt(found, from);
    const shift = at - start;
    at += text.copy(joined.bytes, at, start, startAt(found, to));
    // Most are single records, where the logs of several families alternate: slices would cost more than the records.
    for (let row = from; row < to; row++, index++) {
      joined.ends[index] = (found.ends[row] as number) + shift;
      joined.times[index] = found.times[row] as number;
      joined.offsets[index] = found.offsets[row] as number;
      joined.originOf[index] = origin;
    }
  }
  return joined;
}

const NOTHING: FoundStep = {
  found: NOTHING_FOUND,
  opened: undefined,
  reached: undefined,
  boundMs: Number.NaN,
  file: 0,
  scannedTo: undefined,
};

/** One log of a merged search: what was found and not emitted yet, and how far its scan got. */
export class Lane {
  readonly #steps: AsyncGenerator<FoundStep, void, undefined>;
  readonly #newestFirst: boolean;
  #step = NOTHING;
  #emitted = 0;
  #boundMs: number;
  /** Makes the cursor: most are never needed. */
  #cursor: () => string | undefined;
  #done = false;
  /** Position after the steps that were emitted completely. */
  #scannedTo: RecordPosition;

  constructor(steps: AsyncGenerator<FoundStep, void, undefined>, { newestFirst, cursor, range }: LaneOptions) {
    this.#steps = steps;
    this.#newestFirst = newestFirst;
    this.#cursor = () => cursor;
    this.#scannedTo = newestFirst ? range.to : range.from;
    this.#boundMs = newestFirst ? Infinity : -Infinity;
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** Whether the next record is available. */
  get hasNext(): boolean {
    return this.#emitted < this.#step.found.ends.length;
  }

  /** Nothing that follows from this lane is newer (oldest first: older). A record without a time keeps its position. */
  get boundMs(): number {
    return this.#closer(this.#step.found.times[this.#emitted]);
  }

  /** Newest first: every match at or after it was emitted. Oldest first: before it. */
  get emittedTo(): RecordPosition {
    const { found, file } = this.#step;
    const next = found.offsets[this.#emitted];
    if (next === undefined) return this.#scannedTo;
    return { file, offset: this.#newestFirst ? next + 1 : next };
  }

  /** The time of the next record, if it is available. */
  get nextMs(): number {
    return this.#step.found.times[this.#emitted] ?? Number.NaN;
  }

  /** Continuing from it returns what was not emitted yet, and nothing twice. */
  get cursor(): string | undefined {
    return this.#cursor();
  }

  /**
   * Up to `most` of the next records: one, and those after it that come before `untilMs`, the bound of the lane that
   * leads after this one. `undefined` if the scan must continue first.
   */
  take(most: number, untilMs: number | undefined): TakenRecords | undefined {
    if (!this.hasNext) return undefined;
    const { found, opened } = this.#step;
    const from = this.#emitted;
    const last = Math.min(found.ends.length, from + most);
    let to = untilMs === undefined ? last : from;
    while (to < last && untilMs !== undefined && (to === from || this.#isBefore(found.times[to], untilMs))) {
      this.#boundMs = this.#closer(found.times[to]);
      to++;
    }
    this.#advance(to);
    return { found, opened, from, to };
  }

  /** Continues the scan for one step. */
  async pull(): Promise<void> {
    const { value: step } = await this.#steps.next();
    this.#done = step === undefined;
    this.#step = step ?? NOTHING;
    this.#emitted = 0;
    if (!this.hasNext) this.#endStep();
  }

  /** The memory of the text of the step, once, if all of it has been emitted and is no longer used. */
  takeRoom(): ArrayBuffer | undefined {
    const { found } = this.#step;
    if (this.hasNext || found === NOTHING_FOUND || found.text.buffer.byteLength === 0) return undefined;
    // It may be made from the text.
    const cursor = this.#cursor();
    this.#cursor = () => cursor;
    const room = found.text.buffer;
    found.text = NOTHING_FOUND.text;
    return room;
  }

  async close(): Promise<void> {
    await this.#steps.return();
  }

  #advance(to: number): void {
    const step = this.#step;
    this.#emitted = to;
    this.#cursor = () => cursorAt(step, to - 1);
    if (!this.hasNext) this.#endStep();
  }

  #isBefore(timeMs: number | undefined, untilMs: number): boolean {
    const bound = this.#closer(timeMs);
    return this.#newestFirst ? bound > untilMs : bound < untilMs;
  }

  /** All of the step is emitted: the lane is where its scan is. */
  #endStep(): void {
    const { reached } = this.#step;
    if (reached !== undefined) this.#cursor = () => reached;
    this.#boundMs = this.#closer(this.#step.boundMs);
    const { file, scannedTo } = this.#step;
    if (scannedTo !== undefined) this.#scannedTo = { file, offset: scannedTo };
  }

  #closer(timeMs: number | undefined): number {
    if (timeMs === undefined || Number.isNaN(timeMs)) return this.#boundMs;
    return this.#newestFirst ? Math.min(timeMs, this.#boundMs) : Math.max(timeMs, this.#boundMs);
  }
}

/** The bound of all others: what comes before it comes from this lane. `undefined`: they are all done. */
export function nextBound(lanes: readonly Lane[], leader: Lane, newestFirst: boolean): number | undefined {
  let bound: number | undefined;
  for (const lane of lanes) {
    if (lane === leader || lane.isDone) continue;
    const { boundMs } = lane;
    bound = bound === undefined ? boundMs : newestFirst ? Math.max(bound, boundMs) : Math.min(bound, boundMs);
  }
  return bound;
}

/** The lane whose records come next: the newest (or oldest) that could still come from any. */
export function leadingLane(lanes: readonly Lane[], newestFirst: boolean): Lane | undefined {
  let leader: Lane | undefined;
  for (const lane of lanes) {
    if (lane.isDone) continue;
    const leads = !leader || (newestFirst ? lane.boundMs > leader.boundMs : lane.boundMs < leader.boundMs);
    // If that is still unknown, the lane that must be read first leads.
    if (leads || (leader && lane.boundMs === leader.boundMs && leader.hasNext && !lane.hasNext)) leader = lane;
  }
  return leader;
}
