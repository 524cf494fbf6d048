/*
 * Packs bytes as blocks of ClickHouse, compressed by LZ4, in AssemblyScript: `npm run kernel` compiles it to
 * src/kernel/blocks-wasm.ts, which src/ship/block-packer.ts loads. Nothing is allocated here.
 *
 * A block: the checksum of all that follows (16 bytes), the method, how many bytes follow the checksum, how many bytes
 * they are decompressed, and the sequences.
 */

import { checksum } from './blocks/checksum';
import { compress } from './blocks/compress';

const CHECKSUM_BYTES: u32 = 16;
const HEADER_BYTES: u32 = 9;
const METHOD_LZ4: u8 = 0x82;

/** Memory layout, read by the host. What is read beyond an end is ignored, what is written there is overwritten. */
export const TABLE: u32 = 64;
export const TABLE_BYTES: u32 = 65536;
export const INPUT: u32 = TABLE + TABLE_BYTES + 64;
export const INPUT_BYTES: u32 = 1048576;
export const OUTPUT: u32 = INPUT + INPUT_BYTES + 64;
/** What does not repeat gets longer by one byte in 255. */
export const OUTPUT_BYTES: u32 = INPUT_BYTES + INPUT_BYTES / 255 + 64;
export const MEMORY_BYTES: u32 = OUTPUT + OUTPUT_BYTES + 64;

/** Makes a block of the first `length` bytes of INPUT, at OUTPUT; returns how many bytes it has. */
export function pack(length: u32): u32 {
  const header = OUTPUT + CHECKSUM_BYTES;
  const end = compress(INPUT, length, header + HEADER_BYTES, TABLE, TABLE_BYTES);
  store<u8>(header, METHOD_LZ4);
  store<u32>(header + 1, end - header);
  store<u32>(header + 5, length);
  checksum(header, end - header, OUTPUT);
  return end - OUTPUT;
}
