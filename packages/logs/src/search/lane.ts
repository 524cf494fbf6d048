import { type FoundStep, lineOf, recordOf } from './family-records.ts';
import type { Place } from './place.ts';

export interface LaneOptions {
  newestFirst: boolean;
  /** Where the scan begins, if at a record. */
  cursor: string | undefined;
  /** Where the scan begins. */
  start: Place;
}

const NOTHING: FoundStep = {
  found: { text: new Uint8Array(), ends: new Uint32Array(), offsets: new Float64Array(), times: new Float64Array() },
  reached: undefined,
  boundMs: Number.NaN,
  file: 0,
  scannedTo: undefined,
};

/** One log among those told together: what was found and not told yet, and how far its scan has come. */
export class Lane {
  readonly #steps: AsyncGenerator<FoundStep, void, undefined>;
  readonly #newestFirst: boolean;
  #step = NOTHING;
  #told = 0;
  #boundMs: number;
  /** A cursor, or the line of a record that has one: most are never asked for. */
  #cursor: string | Buffer | undefined;
  #done = false;
  /** Of the steps that were told wholly. */
  #scannedTo: Place;

  constructor(steps: AsyncGenerator<FoundStep, void, undefined>, { newestFirst, cursor, start }: LaneOptions) {
    this.#steps = steps;
    this.#newestFirst = newestFirst;
    this.#cursor = cursor;
    this.#scannedTo = start;
    this.#boundMs = newestFirst ? Infinity : -Infinity;
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** Whether the record to be told next is at hand. */
  get hasNext(): boolean {
    return this.#told < this.#step.found.ends.length;
  }

  /** Nothing that comes from here is newer (oldest first: older). A record without a time keeps its place. */
  get boundMs(): number {
    return this.#closer(this.#step.found.times[this.#told]);
  }

  /** Newest first: everything that matches and stands at or behind it was told. Oldest first: before it. */
  get toldTo(): Place {
    const { found, file } = this.#step;
    const next = found.offsets[this.#told];
    if (next === undefined) return this.#scannedTo;
    return { file, offset: this.#newestFirst ? next + 1 : next };
  }

  /** The time of the record that is to be told next, if it is at hand. */
  get nextMs(): number {
    return this.#step.found.times[this.#told] ?? Number.NaN;
  }

  /** Going on next to it tells what was not told yet, and nothing twice. */
  get cursor(): string | undefined {
    return Buffer.isBuffer(this.#cursor) ? recordOf(this.#cursor).cursor : this.#cursor;
  }

  /** The record to be told next, as a line of JSON; `undefined` where the scan must go on first. */
  take(): Buffer | undefined {
    if (!this.hasNext) return undefined;
    const line = lineOf(this.#step.found, this.#told);
    this.#boundMs = this.boundMs;
    this.#tell(1, line);
    return line;
  }

  /** Up to `most` records at once, for a lane that has no other beside it. */
  takeMany(most: number): { lines: Buffer; count: number } | undefined {
    if (!this.hasNext) return undefined;
    const { text, ends } = this.#step.found;
    const count = Math.min(most, ends.length - this.#told);
    const start = this.#told === 0 ? 0 : (ends[this.#told - 1] ?? 0);
    const end = ends[this.#told + count - 1] ?? start;
    const lines = Buffer.from(text.buffer, text.byteOffset + start, end - start);
    this.#tell(count, lineOf(this.#step.found, this.#told + count - 1));
    return { lines, count };
  }

  /** Goes on scanning for a step. */
  async pull(): Promise<void> {
    const { value: step } = await this.#steps.next();
    this.#done = step === undefined;
    this.#step = step ?? NOTHING;
    this.#told = 0;
    if (!this.hasNext) this.#endStep();
  }

  async close(): Promise<void> {
    await this.#steps.return();
  }

  #tell(count: number, lastLine: Buffer): void {
    this.#told += count;
    this.#cursor = lastLine;
    if (!this.hasNext) this.#endStep();
  }

  /** All of the step is told: the lane stands where its scan does. */
  #endStep(): void {
    this.#cursor = this.#step.reached ?? this.#cursor;
    this.#boundMs = this.#closer(this.#step.boundMs);
    const { file, scannedTo } = this.#step;
    if (scannedTo !== undefined) this.#scannedTo = { file, offset: scannedTo };
  }

  #closer(timeMs: number | undefined): number {
    if (timeMs === undefined || Number.isNaN(timeMs)) return this.#boundMs;
    return this.#newestFirst ? Math.min(timeMs, this.#boundMs) : Math.max(timeMs, this.#boundMs);
  }
}

/** The lane whose records come next: the newest (or oldest) that could still come from any. */
export function leadingLane(lanes: readonly Lane[], newestFirst: boolean): Lane | undefined {
  let leader: Lane | undefined;
  for (const lane of lanes) {
    if (lane.isDone) continue;
    const leads = !leader || (newestFirst ? lane.boundMs > leader.boundMs : lane.boundMs < leader.boundMs);
    // Where it cannot be told yet, the one that must be looked into goes first.
    if (leads || (leader && lane.boundMs === leader.boundMs && leader.hasNext && !lane.hasNext)) leader = lane;
  }
  return leader;
}
