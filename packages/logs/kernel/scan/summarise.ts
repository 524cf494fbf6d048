/* Summarises the records of a block. Part of ../scan.ts. */
import { LEVELS, SUMMARY, TIMES } from '../scan';

const COUNTS: u32 = 24;

/**
 * Of the first `count` records: the earliest and the latest time, the most by which one is older than an earlier one,
 * how many have no time, and how many there are of each rank, 0 to 6. They are left in SUMMARY.
 */
export function summarise(count: u32): void {
  let earliest: f64 = Infinity;
  let latest: f64 = -Infinity;
  let late: f64 = 0;
  let untimed: u32 = 0;
  memory.fill(SUMMARY + COUNTS, 0, 32);
  for (let index: u32 = 0; index < count; index++) {
    const time = load<f64>(TIMES + (index << 3));
    const rank = SUMMARY + COUNTS + 4 + ((<u32>load<u8>(LEVELS + index)) << 2);
    store<u32>(rank, load<u32>(rank) + 1);
    // biome-ignore lint/suspicious/noGlobalIsNan: the language of the kernel has no other
    if (isNaN(time)) {
      untimed++;
      continue;
    }
    earliest = min(earliest, time);
    if (time > latest) latest = time;
    else late = max(late, latest - time);
  }
  store<f64>(SUMMARY, earliest);
  store<f64>(SUMMARY, latest, 8);
  store<f64>(SUMMARY, late, 16);
  store<u32>(SUMMARY, untimed, COUNTS);
}
