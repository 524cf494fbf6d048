import type { MemberClock } from '@porthole/contract';

/** A member's clock was set. It is only known between which two measurements, so some of its times may be from either side. */
export interface ClockStep {
  /** How far it was ahead before. */
  readonly offsetMs: number;
  /** When the step was found, by the clock of this node. */
  readonly foundMs: number;
  /** The first time of the member that may be from after the step, and the last that may be from before it. */
  readonly firstAfterMs: number;
  readonly lastBeforeMs: number;
}

/** The clock of a member now, and when it was set; oldest first. */
export interface SteppedClock extends MemberClock {
  readonly steps?: readonly ClockStep[] | undefined;
}

export interface TimeRange {
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** How far the clock was ahead when it showed this time. */
export function offsetAt({ offsetMs, steps = [] }: SteppedClock, timeMs: number): number {
  let found = offsetMs;
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index] as ClockStep;
    // Where both are possible, the middle is as good a guess as any.
    if (timeMs >= (step.firstAfterMs + step.lastBeforeMs) / 2) break;
    found = step.offsetMs;
  }
  return found;
}

/** A time of the member by the clock of this node. */
export function toOwnTime(clock: SteppedClock, timeMs: number): number {
  return timeMs - offsetAt(clock, timeMs);
}

/** The times of the member that may lie in a range by the clock of this node, which may be more than do. */
export function toMemberRange(clock: SteppedClock, { fromMs = -Infinity, toMs = Infinity }: TimeRange): TimeRange {
  let [first, end] = [Infinity, -Infinity];
  for (const { offsetMs, sinceMs, untilMs } of eras(clock)) {
    const from = Math.max(fromMs + offsetMs, sinceMs);
    const to = Math.min(toMs + offsetMs, untilMs + 1);
    if (from >= to) continue;
    first = Math.min(first, from);
    end = Math.max(end, to);
  }
  // Its clock has shown none of these times.
  if (first >= end) [first, end] = [fromMs + clock.offsetMs, toMs + clock.offsetMs];
  return { ...(first > -Infinity && { fromMs: first }), ...(end < Infinity && { toMs: end }) };
}

/** The time of the member at which a range begins or ends. */
export function toMemberEdge(clock: SteppedClock, timeMs: number, edge: 'from' | 'to'): number {
  const range = toMemberRange(clock, edge === 'from' ? { fromMs: timeMs } : { toMs: timeMs });
  return range.fromMs ?? range.toMs ?? timeMs;
}

/** Why it is uncertain which records lie in the range; `undefined` if both ends are clear of every step. */
export function describeUncertainty(clock: SteppedClock, { fromMs, toMs }: TimeRange): string | undefined {
  const { steps = [] } = clock;
  for (const [index, step] of steps.entries()) {
    const afterMs = steps[index + 1]?.offsetMs ?? clock.offsetMs;
    const firstMs = step.firstAfterMs - Math.max(step.offsetMs, afterMs);
    const lastMs = step.lastBeforeMs - Math.min(step.offsetMs, afterMs);
    const isNear = (timeMs: number | undefined) => timeMs !== undefined && timeMs >= firstMs && timeMs <= lastMs;
    if (!isNear(fromMs) && !isNear(toMs)) continue;
    const bySeconds = (afterMs - step.offsetMs) / 1000;
    const by = `${bySeconds > 0 ? '+' : ''}${bySeconds.toFixed(1)} s`;
    return `its clock was set by ${by} at about ${toText(step.foundMs)}: times from ${toText(firstMs)} to ${toText(lastMs)} are uncertain`;
  }
  return undefined;
}

function toText(timeMs: number): string {
  return new Date(Math.round(timeMs)).toISOString();
}

/** Between two steps, in times of the member; they overlap where it is not known which applies. */
function* eras({ offsetMs, steps = [] }: SteppedClock) {
  let sinceMs = -Infinity;
  for (const step of steps) {
    yield { offsetMs: step.offsetMs, sinceMs, untilMs: step.lastBeforeMs };
    sinceMs = step.firstAfterMs;
  }
  yield { offsetMs, sinceMs, untilMs: Infinity };
}
