import { byteRarity, type Needle } from '../kernel/scan-kernel.ts';
import { GRAM_BYTES } from './types.ts';

/** More grams of one text tell hardly any more blocks apart. */
const MAX_GRAMS = 64;

/** The rows of the grams that a block must have to contain the needle, presumably rare ones first; none: too short. */
export function gramRows({ bytes }: Pick<Needle, 'bytes'>): number[] {
  const grams = new Map<number, number>();
  for (let at = 0; at + GRAM_BYTES <= bytes.length; at++) {
    let [gram, rarity] = [0, 0];
    for (let k = 0; k < GRAM_BYTES; k++) {
      const byte = foldByte(bytes[at + k] ?? 0);
      gram |= byte << (8 * k);
      rarity += byteRarity(byte);
    }
    grams.set(rowOf(gram), rarity);
  }
  const rows = [...grams].sort(([, a], [, b]) => b - a).map(([row]) => row);
  return rows.slice(0, MAX_GRAMS);
}

/** As in kernel/scan/text-grams.ts. */
function rowOf(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> 17;
}

function foldByte(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}
