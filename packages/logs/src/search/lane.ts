import { type Keyed, type MergedRun, MergeLane, OriginList, type RecordBatch, sliceBatch } from '@porthole/records';
import { type FoundLines, NOTHING_FOUND, startAt, textOf } from '../scan/block/found-lines.ts';
import { awaitedLater } from '../shared.ts';
import { cursorAt, type FoundStep } from './family-records.ts';
import type { PositionRange, RecordPosition } from './plan/file-parts.ts';

/** Records `[from, to)` of what a step of a scan found. */
export type TakenRecords = Pick<MergedRun<Pick<FoundStep, 'found' | 'opened'>>, 'batch' | 'from' | 'to'>;

/** The records as a batch: in the same memory if they are in one piece, copied otherwise. */
export function takenBatch(taken: readonly TakenRecords[]): RecordBatch {
  const [only] = taken;
  if (only && taken.length === 1) {
    const { found, opened } = only.batch;
    const { text: bytes, ends, times, offsets } = found;
    const origins = [{ file: opened?.name ?? '' }];
    return sliceBatch({ type: 'batch', bytes, ends, times, offsets, origins }, only.from, only.to);
  }
  let [count, length] = [0, 0];
  for (const { batch, from, to } of taken) {
    const { found } = batch;
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
  for (const { batch, from, to } of taken) {
    const { found, opened } = batch;
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

export interface LaneOptions {
  index: number;
  newestFirst: boolean;
  /** Where the scan begins, if at a record. */
  cursor: string | undefined;
  /** What is scanned. */
  range: PositionRange;
}

/** One log of a merged search: what was found and not emitted yet, and how far its scan got. */
export class Lane extends MergeLane<FoundStep> {
  isDone = false;
  readonly #steps: AsyncGenerator<FoundStep, void, undefined>;
  readonly #newestFirst: boolean;
  /** Makes the cursor: most are never needed. */
  #cursor: () => string | undefined;
  /** Position after the steps that were emitted completely. */
  #scannedTo: RecordPosition;
  // kept: has a handler from the start, and is awaited by the pull it is begun for
  #next: Promise<IteratorResult<FoundStep, void>> | undefined;

  constructor(steps: AsyncGenerator<FoundStep, void, undefined>, { index, newestFirst, cursor, range }: LaneOptions) {
    super(index, newestFirst ? 'newest' : 'oldest');
    this.#steps = steps;
    this.#newestFirst = newestFirst;
    this.#cursor = () => cursor;
    this.#scannedTo = newestFirst ? range.to : range.from;
  }

  /** Newest first: every match at or after it was emitted. Oldest first: before it. */
  get emittedTo(): RecordPosition {
    const { batch } = this;
    const next = batch?.found.offsets[this.at];
    if (!batch || next === undefined) return this.#scannedTo;
    return { file: batch.file, offset: this.#newestFirst ? next + 1 : next };
  }

  /** Continuing from it returns what was not emitted yet, and nothing twice. */
  get cursor(): string | undefined {
    return this.#cursor();
  }

  override take(most: number, other: Keyed | undefined): MergedRun<FoundStep> {
    const run = super.take(most, other);
    this.#cursor = () => cursorAt(run.batch, run.to - 1);
    if (!this.hasNext) this.#endStep(run.batch);
    return run;
  }

  /** Begins the next step before it is needed. */
  begin(): void {
    this.#next ??= awaitedLater(this.#steps.next());
  }

  /** Continues the scan for one step. */
  async pull(): Promise<void> {
    const next = this.#next ?? this.#steps.next();
    this.#next = undefined;
    const { value: step } = await next;
    this.isDone = step === undefined;
    if (step === undefined) return;
    this.put(step, step.boundMs);
    if (!this.hasNext) this.#endStep(step);
  }

  /** The memory of the text of the step, once, if all of it has been emitted and is no longer used. */
  takeRoom(): ArrayBuffer | undefined {
    const { found } = this.batch ?? {};
    if (this.hasNext || !found || found.text.buffer.byteLength === 0) return undefined;
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

  /** All of the step is emitted: the lane is where its scan is. */
  #endStep({ reached, file, scannedTo }: FoundStep): void {
    if (reached !== undefined) this.#cursor = () => reached;
    if (scannedTo !== undefined) this.#scannedTo = { file, offset: scannedTo };
  }
}
