/* Finds where text may have holes of NULs; what is one, src/scan/block/nul-holes.ts decides. Part of ../scan.ts. */
import { TEXT } from '../scan';

/** Whether one of the bytes at `from`, `from + step` and so on, before `to`, is a NUL. */
export function mayHaveHole(from: u32, to: u32, step: u32): bool {
  let nuls: u32 = 0;
  for (let at = from; at < to; at += step) nuls |= <u32>(load<u8>(TEXT + at) === 0);
  return nuls !== 0;
}
