import type { BenchContext } from './context.ts';
import { type Load, type LoadResult, recordLoad, runWrk } from './wrk.ts';

interface Comparison {
  ours: number;
  theirs: number;
  /** Ours divided by theirs. */
  ratio: number;
  /** The single rounds of both. */
  rounds: string;
}

/**
 * Loads two servers, or two URLs of one, in turns and compares the medians. Rounds are interleaved and the order within
 * a round alternates, so that a machine that grows slower or faster meanwhile favours neither.
 */
export async function compareLoads(
  context: BenchContext,
  { ours, theirs }: { ours: Load; theirs: Load },
  figureOf: (result: LoadResult) => number,
): Promise<Comparison> {
  const { rounds, roundSeconds, warmUpSeconds } = context.effort;
  const figures = new Map<Load, number[]>([
    [ours, []],
    [theirs, []],
  ]);
  for (const load of figures.keys()) {
    recordLoad(context, load);
    await runWrk(context, load, warmUpSeconds);
  }
  for (let round = 0; round < rounds; round++) {
    for (const load of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      figures.get(load)?.push(figureOf(await runWrk(context, load, roundSeconds)));
    }
  }
  const [our = [], their = []] = figures.values();
  const rates = `${our.map(showNumber).join(', ')} against ${their.map(showNumber).join(', ')}`;
  return { ours: median(our), theirs: median(their), ratio: median(our) / median(their), rounds: rates };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
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
