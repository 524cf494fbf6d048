import { type FoundStep, lineAt, parseRecord } from './family-records.ts';
import type { RecordPosition } from './position.ts';

export interface LaneOptions {
  newestFirst: boolean;
  /** Where the scan begins, if at a record. */
  cursor: string | undefined;
  /** Where the scan begins. */
  start: RecordPosition;
}

const NOTHING: FoundStep = {
  found: { text: new Uint8Array(), ends: new Uint32Array(), offsets: new Float64Array(), times: new Float64Array() },
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
  /** A cursor, or the line of a record that has one: most are never needed. */
  #cursor: string | Buffer | undefined;
  #done = false;
  /** Position after the steps that were emitted completely. */
  #scannedTo: RecordPosition;

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
    return Buffer.isBuffer(this.#cursor) ? parseRecord(this.#cursor).cursor : this.#cursor;
  }

  /** The next record, as a line of JSON; `undefined` if the scan must continue first. */
  take(): Buffer | undefined {
    if (!this.hasNext) return undefined;
    const line = lineAt(this.#step.found, this.#emitted);
    this.#boundMs = this.boundMs;
    this.#advance(1, line);
    return line;
  }

  /** Up to `most` records at once, for a lane without any other. */
  takeMany(most: number): { lines: Buffer; count: number } | undefined {
    if (!this.hasNext) return undefined;
    const { text, ends } = this.#step.found;
    const count = Math.min(most, ends.length - this.#emitted);
    const start = this.#emitted === 0 ? 0 : (ends[this.#emitted - 1] ?? 0);
    const end = ends[this.#emitted + count - 1] ?? start;
    const lines = Buffer.from(text.buffer, text.byteOffset + start, end - start);
    this.#advance(count, lineAt(this.#step.found, this.#emitted + count - 1));
    return { lines, count };
  }

  /** Continues the scan for one step. */
  async pull(): Promise<void> {
    const { value: step } = await this.#steps.next();
    this.#done = step === undefined;
    this.#step = step ?? NOTHING;
    this.#emitted = 0;
    if (!this.hasNext) this.#endStep();
  }

  async close(): Promise<void> {
    await this.#steps.return();
  }

  #advance(count: number, lastLine: Buffer): void {
    this.#emitted += count;
    this.#cursor = lastLine;
    if (!this.hasNext) this.#endStep();
  }

  /** All of the step is emitted: the lane is where its scan is. */
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
    // If that is still unknown, the lane that must be read first leads.
    if (leads || (leader && lane.boundMs === leader.boundMs && leader.hasNext && !lane.hasNext)) leader = lane;
  }
  return leader;
}
