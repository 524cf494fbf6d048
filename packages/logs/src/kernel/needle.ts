import { MAX_NEEDLE_BYTES, type Needle } from './scan-kernel.ts';

/**
 * Bytes from frequent to rare in log text, counted over logs of databases; bytes that are missing here are rarer still.
 * Only speed depends on it.
 */
const FREQUENT = '\0 0e12ta3no5i4r8s67\t9".,l:cd-u/\nm[]pgf={}hbvy_kwTxSINFO()ERADLCPMG|BjUVqzHWY+XKZQJ#;*%&@!<>';

/**
 * Prepares a text for searching. Letters beyond ASCII are compared exactly: do not pass a text that needs case folding
 * for them.
 */
export function makeNeedle(text: string | Uint8Array, { caseSensitive }: { caseSensitive: boolean }): Needle {
  const given = Buffer.from(text).subarray(0, MAX_NEEDLE_BYTES);
  const mask = given.map((byte) => (!caseSensitive && isLetter(byte) ? 0x20 : 0));
  const bytes = given.map((byte, index) => byte | (mask[index] ?? 0));
  return { bytes, mask, rarest: rarestTwo(bytes) };
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 97 && lower <= 122;
}

function rarestTwo(bytes: Uint8Array): [number, number] {
  const byRarity = Array.from(bytes, (byte, index) => ({ index, rarity: byteRarity(byte) })).sort(
    (a, b) => b.rarity - a.rarity,
  );
  const first = byRarity[0]?.index ?? 0;
  // The second of two equal adjacent bytes adds little.
  const other = byRarity.find(({ index }) => bytes[index] !== bytes[first]) ?? byRarity[1];
  return [first, other?.index ?? first];
}

/** Higher for bytes that are rarer in logs. */
export function byteRarity(byte: number): number {
  const position = FREQUENT.indexOf(String.fromCharCode(byte));
  return position < 0 ? FREQUENT.length : position;
}
