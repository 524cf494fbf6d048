/* Looks for holes of NULs. Part of ../scan.ts. */
import { TEXT } from '../scan';

/** Whether one of the bytes at `from`, `from + 256`, and so on before `to` is a NUL. */
export function hasNulSample(from: u32, to: u32): bool {
  const stop = TEXT + to;
  let at = TEXT + from;
  let nuls: u32 = 0;
  while (at + 1792 < stop) {
    nuls |= <u32>(load<u8>(at) === 0) | <u32>(load<u8>(at, 256) === 0);
    nuls |= <u32>(load<u8>(at, 512) === 0) | <u32>(load<u8>(at, 768) === 0);
    nuls |= <u32>(load<u8>(at, 1024) === 0) | <u32>(load<u8>(at, 1280) === 0);
    nuls |= <u32>(load<u8>(at, 1536) === 0) | <u32>(load<u8>(at, 1792) === 0);
    at += 2048;
  }
  for (; at < stop; at += 256) nuls |= <u32>(load<u8>(at) === 0);
  return nuls !== 0;
}
