/* What the key of a JSON record means. The host fills the table of keys. Part of ../scan.ts. */
import { KNOWN_KEYS } from '../scan';

export const TIME: i32 = 1;
export const LEVEL: i32 = 2;
/** A level in another form, which is left to the host unless there is a level. */
export const OTHER_LEVEL: i32 = 3;
export const SOURCE: i32 = 4;
/** From here on, by the order of their names. */
export const MESSAGE: i32 = 16;
export const TAG: i32 = 64;
export const TAGS: u32 = 32;
/** Changes what others mean. */
const UNUSUAL: i32 = 255;

/** A row is a role, a length, and the key in lower case. */
const ROW_BYTES: u32 = 32;
const ROWS: u32 = 256;
const LONGEST: u32 = 30;

/** The role of the key `[start, end)`, whatever its case; 0: none; negative: left to the host. */
export function findRole(start: u32, end: u32): i32 {
  const length = end - start;
  for (let at = start; at < end; at++) {
    const byte = load<u8>(at);
    // Letters beyond ASCII may have others in lower case.
    if (byte >= 0x80 || byte === 92) return -1;
  }
  if (length === 0 || length > LONGEST) return 0;
  let row = (length + lower(load<u8>(start)) * 5 + lower(load<u8>(end - 1)) * 17) % ROWS;
  while (true) {
    const at = KNOWN_KEYS + row * ROW_BYTES;
    const role = load<u8>(at);
    if (role === 0) return 0;
    if (load<u8>(at + 1) === length && isKey(at + 2, start, length)) return role === UNUSUAL ? -1 : role;
    row = (row + 1) % ROWS;
  }
}

function isKey(known: u32, key: u32, length: u32): bool {
  for (let index: u32 = 0; index < length; index++) {
    if (load<u8>(known + index) !== <u8>lower(load<u8>(key + index))) return false;
  }
  return true;
}

function lower(byte: u8): u32 {
  return byte >= 65 && byte <= 90 ? byte | 32 : byte;
}
