/** Shifted by one byte: four bytes are loaded, and the products depend on the first three only. */
const MULTIPLIER: u32 = 0x3779b100;
const TAG_MULTIPLIER: u32 = 0xebca6b00;

/** Spreads grams over the table; src/scrub/needle-table.ts, which fills it, uses the same function. */
function hashOf(gram: u32): u32 {
  return (gram * MULTIPLIER) >>> 16;
}

/** Most grams that share a hash with a needle's gram differ in their tag. */
function tagOf(gram: u32): u32 {
  return (gram * TAG_MULTIPLIER) >>> 29;
}

/**
 * Looks up the gram at every `step`th position of the `length` bytes at `text`. `grams` has a byte for each hash, with
 * a bit for every tag. Writes the positions of grams that occur in a needle to `hits`; returns how many.
 */
export function findGrams(grams: u32, text: u32, length: u32, step: u32, hits: u32): u32 {
  const stop = text + length;
  let at = text;
  let written = hits;
  // All four lookups are issued before the first result is used.
  while (at + 3 * step < stop) {
    const a = tagsAt(grams, at);
    const b = tagsAt(grams, at + step);
    const c = tagsAt(grams, at + 2 * step);
    const d = tagsAt(grams, at + 3 * step);
    if ((a | b | c | d) !== 0) {
      written = note(written, at, a, text);
      written = note(written, at + step, b, text);
      written = note(written, at + 2 * step, c, text);
      written = note(written, at + 3 * step, d, text);
    }
    at += 4 * step;
  }
  while (at < stop) {
    written = note(written, at, tagsAt(grams, at), text);
    at += step;
  }
  return (written - hits) >> 2;
}

function tagsAt(grams: u32, at: u32): u32 {
  return load<u8>(grams + hashOf(load<u32>(at)));
}

/** Always stores, and overwrites it if it was not a hit: no branch to mispredict. */
function note(written: u32, at: u32, tags: u32, text: u32): u32 {
  store<u32>(written, at - text);
  return written + 4 * ((tags >>> tagOf(load<u32>(at))) & 1);
}
