/*
 * A decoder of compressed zstd blocks (RFC 8878), and the checksum of their text. Every size and distance is checked
 * before it is used. In AssemblyScript: `npm run kernel` compiles it to src/kernel/zstd-wasm.ts, which src/packed loads.
 */
import { forgetCodes, literalsEnd, readLiterals } from './zstd/literals';
import { forgetSequences, runSequences } from './zstd/sequences';
import { DONE, forget, INPUT, out } from './zstd/state';

export {
  BAD_CODES,
  BAD_DISTANCE,
  BAD_LITERALS,
  BAD_SEQUENCES,
  DONE,
  INPUT,
  MAX_BLOCK_BYTES,
  MEMORY_BYTES,
  OUTPUT,
  out,
  putOut,
  slide,
} from './zstd/state';
export { addToSum, startSum, sumLow } from './zstd/xxh64';

/** Begins a frame. */
export function start(): void {
  forget();
  forgetCodes();
  forgetSequences();
}

/** Appends the text of the block at INPUT to the output, at most `maxBytes`. */
export function run(bytes: u32, maxBytes: u32): i32 {
  const end = INPUT + bytes;
  const result = readLiterals(INPUT, end);
  return result === DONE ? runSequences(literalsEnd, end, out + maxBytes) : result;
}
