import { MAX_NEEDLE_BYTES, type Needle } from './scan-kernel.ts';

/**
 * Bytes from frequent to rare in log text, by a count over logs of databases; what is not here is rarer still. Only the
 * speed depends on it.
 */
const FREQUENT = '\0 0e12ta3no5i4r8s67\t9".,l:cd-u/\nm[]pgf={}hbvy_kwTxSINFO()ERADLCPMG|BjUVqzHWY+XKZQJ#;*%&@!<>';

/** How a text is looked for. Letters beyond ASCII are taken as they are: give no text that has them folded. */
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
  // Of two equal bytes side by side the second tells little.
  const other = byRarity.find(({ index }) => bytes[index] !== bytes[first]) ?? byRarity[1];
  return [first, other?.index ?? first];
}

/** The rarer a byte is in logs, the higher. */
export function byteRarity(byte: number): number {
  const position = FREQUENT.indexOf(String.fromCharCode(byte));
  return position < 0 ? FREQUENT.length : position;
}
