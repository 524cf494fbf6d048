/** `SEED=random MORE=10` runs ten times as many cases of every property, and new ones. */
const MORE = Number(process.env.MORE ?? 1);

/** Tables are tried whole of which tests usually try a part. */
export const IS_LONG_RUN = MORE > 1;

/** How often something is run or tried: `count` times, and MORE times as often in a long run. */
export function runs(count: number): number {
  return Math.max(1, Math.round(count * MORE));
}
