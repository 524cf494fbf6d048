import type { FoundRecord } from '../types.ts';
import type { FoundStep } from './family-records.ts';

export interface LaneOptions {
  newestFirst: boolean;
  /** Where the scan begins, if at a record. */
  cursor: string | undefined;
}

/** One log among those told together: what was found and not told yet, and how far its scan has come. */
export class Lane {
  readonly #steps: AsyncGenerator<FoundStep, void, undefined>;
  readonly #newestFirst: boolean;
  #step: FoundStep = { records: [], reached: undefined, boundMs: undefined };
  #told = 0;
  #boundMs: number;
  #cursor: string | undefined;
  #done = false;

  constructor(steps: AsyncGenerator<FoundStep, void, undefined>, { newestFirst, cursor }: LaneOptions) {
    this.#steps = steps;
    this.#newestFirst = newestFirst;
    this.#cursor = cursor;
    this.#boundMs = newestFirst ? Infinity : -Infinity;
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** The record to be told next, if it is at hand. */
  get next(): FoundRecord | undefined {
    return this.#step.records[this.#told];
  }

  /** Nothing that comes from here is newer (oldest first: older). A record without a time keeps its place. */
  get boundMs(): number {
    return this.#closer(this.next?.timeMs);
  }

  /** Going on next to it tells what was not told yet, and nothing twice. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  take(): FoundRecord | undefined {
    const record = this.next;
    if (!record) return undefined;
    this.#boundMs = this.boundMs;
    this.#told++;
    this.#cursor = record.cursor;
    if (!this.next) this.#endStep();
    return record;
  }

  /** Goes on scanning for a step. */
  async pull(): Promise<void> {
    const { value: step } = await this.#steps.next();
    this.#done = step === undefined;
    this.#step = step ?? { records: [], reached: undefined, boundMs: undefined };
    this.#told = 0;
    if (!this.next) this.#endStep();
  }

  async close(): Promise<void> {
    await this.#steps.return();
  }

  /** All of the step is told: the lane stands where its scan does. */
  #endStep(): void {
    this.#cursor = this.#step.reached ?? this.#cursor;
    this.#boundMs = this.#closer(this.#step.boundMs);
  }

  #closer(timeMs: number | undefined): number {
    if (timeMs === undefined) return this.#boundMs;
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
    if (leads || (leader && lane.boundMs === leader.boundMs && leader.next && !lane.next)) leader = lane;
  }
  return leader;
}
