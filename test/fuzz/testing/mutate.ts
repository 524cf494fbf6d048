/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Bytes at which parsers decide, in texts and in binary numbers. */
const SPECIAL_BYTES = Buffer.from('\0\n\r\t "\'\\%&+,-./0123456789:;<=>?@[]{}~\x7f\x80\xbf\xc0\xe2\xf0\xff', 'latin1');

/** An input of the corpus with a few changes; sometimes two of them together. */
export function mutate(corpus: readonly Uint8Array[], random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = () => Buffer.from(corpus[below(corpus.length)] ?? []);
  let bytes: Buffer = pick();
  for (let changes = 1 + below(6); changes > 0; changes--) bytes = change(bytes, { below, pick });
  return bytes;
}

interface Chance {
  below(limit: number): number;
  pick(): Buffer;
}

/** Larger inputs are the business of the limits on size, which have tests of their own. */
const MOST_BYTES = 64 * 1024;

function change(bytes: Buffer, { below, pick }: Chance): Buffer {
  const at = below(bytes.length + 1);
  const until = at + below(Math.min(64, bytes.length - at + 1));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, until), bytes.subarray(until)];
  const byte = Buffer.from([below(2) === 0 ? below(256) : (SPECIAL_BYTES[below(SPECIAL_BYTES.length)] ?? 0)]);
  const changes = [
    () => Buffer.concat([before, byte, after]), // replaced, or inserted
    () => Buffer.concat([before, byte, part, after]),
    () => Buffer.concat([before, after]),
    () => Buffer.concat([before, ...Array.from({ length: 2 + below(40) }, () => part), after]),
    () => before, // cut
    () => Buffer.concat([before, pick(), after]),
    () => flipBit(bytes, at, below(8)),
  ];
  return changes[below(changes.length)]?.().subarray(0, MOST_BYTES) ?? bytes;
}

function flipBit(bytes: Buffer, at: number, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
  return flipped;
}
