import type { BenchContext } from './context.ts';
import { type Load, recordLoad, runWrk } from './wrk.ts';

interface Comparison {
  /** Requests per second. */
  ours: number;
  theirs: number;
  /** Ours divided by theirs. */
  ratio: number;
  /** The single rounds of both. */
  rounds: string;
}

/**
 * Loads two servers in turns and compares the highest rates. Rounds are interleaved and the order within a round
 * alternates, so that a machine that grows slower or faster meanwhile favours neither.
 */
export async function compareLoads(
  context: BenchContext,
  { ours, theirs }: { ours: Load; theirs: Load },
): Promise<Comparison> {
  const { rounds, roundSeconds, warmUpSeconds } = context.effort;
  const our: number[] = [];
  const their: number[] = [];
  for (const load of [ours, theirs]) {
    recordLoad(context, load);
    if (warmUpSeconds > 0) await runWrk(context, load, warmUpSeconds);
  }
  for (let round = 0; round < rounds; round++) {
    const inOrder = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
    for (const load of inOrder) (load === ours ? our : their).push(await runWrk(context, load, roundSeconds));
  }
  return {
    ours: highest(our),
    theirs: highest(their),
    ratio: highest(our) / highest(their),
    rounds: `${showAll(our)} against ${showAll(their)}`,
  };
}

/** Of times, the one that other work on the machine disturbed least. */
export function fastest(times: readonly number[]): number {
  return Math.min(...times);
}

/** Of rates, the one that other work on the machine disturbed least. */
export function highest(rates: readonly number[]): number {
  return Math.max(...rates);
}

export function showAll(values: readonly number[]): string {
  return values.map(showNumber).join(', ');
}

/** With as many decimals as mean something. */
export function showNumber(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/** The value that so large a share of all is not above. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
