/* Bytes of JSON and UTF-8. Part of ../scan.ts. */

const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;

/** Instead of a position: what is there is not valid. */
export const FAILED: u32 = 0;

/** Which of sixteen bytes a JSON string cannot contain as they are. */
export function specialBytes(bytes: v128): v128 {
  const quoted = v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH)));
  return v128.or(quoted, i8x16.lt_u(bytes, i8x16.splat(32)));
}

/** Whether `[from, to)` is valid UTF-8: what is not is shown with replacement characters, not here. */
export function isUtf8(from: u32, to: u32): bool {
  let at = from;
  while (at < to) {
    if (at + 16 <= to && !v128.any_true(i8x16.shr_u(v128.load(at), 7))) {
      at += 16;
      continue;
    }
    if (load<u8>(at) < 0x80) {
      at++;
      continue;
    }
    const length = characterBytes(at);
    if (length === 0 || at + length > to) return false;
    at += length;
  }
  return true;
}

/** The length of the character beyond ASCII at `at`; 0 if it is not valid. */
function characterBytes(at: u32): u32 {
  const lead = load<u8>(at);
  const second = load<u8>(at, 1);
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return isTail(second) ? 2 : 0;
  if (!isTail(second) || !isTail(load<u8>(at, 2))) return 0;
  if (lead < 0xf0) {
    if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0;
    return 3;
  }
  if (!isTail(load<u8>(at, 3)) || (lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0;
  return 4;
}

function isTail(byte: u8): bool {
  return (byte & 0xc0) === 0x80;
}

/** The position after the escape in a JSON string whose letter is at `at`. */
export function behindEscape(at: u32): u32 {
  switch (load<u8>(at)) {
    case QUOTE:
    case BACKSLASH:
    case 47: // slash
    case 98: // b
    case 102: // f
    case 110: // n
    case 114: // r
    case 116: // t
      return at + 1;
    case 117: // u
      for (let digit: u32 = 1; digit <= 4; digit++) if (!isHex(load<u8>(at + digit))) return FAILED;
      return at + 5;
    default:
      return FAILED;
  }
}

/** The position after `true`, `false` or `null`. */
export function behindLiteral(at: u32): u32 {
  // As little-endian numbers: "true", "null" and "fals".
  const word = load<u32>(at);
  if (word === 0x65757274 || word === 0x6c6c756e) return at + 4;
  return word === 0x736c6166 && load<u8>(at + 4) === 101 ? at + 5 : FAILED;
}

export function isDigit(byte: u8): bool {
  return byte >= 48 && byte <= 57;
}

function isHex(byte: u8): bool {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 97 && letter <= 102);
}
