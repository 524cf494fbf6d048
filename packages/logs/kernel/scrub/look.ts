/** Shifted by a byte: of the four bytes that are loaded, the products depend on the first three alone. */
const MULTIPLIER: u32 = 0x3779b100;
const TAG_MULTIPLIER: u32 = 0xebca6b00;

/** How grams are spread over the table; src/scrub/needle-table.ts, which fills it, does the same. */
function hashOf(gram: u32): u32 {
  return (gram * MULTIPLIER) >>> 16;
}

/** Of the grams with one hash, most have other tags than those that are looked for. */
function tagOf(gram: u32): u32 {
  return (gram * TAG_MULTIPLIER) >>> 29;
}

/**
 * Looks up the gram at every `step`th position of the `length` bytes at `text`. `grams` has a byte for each hash, with a
 * bit for every tag. Positions with a gram that is looked for are written to `hits`; returns how many.
 */
export function look(grams: u32, text: u32, length: u32, step: u32, hits: u32): u32 {
  const stop = text + length;
  let at = text;
  let written = hits;
  // All four are looked up before any is waited for.
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

/** Always written, and written over where it was no hit: nothing to guess for the processor. */
function note(written: u32, at: u32, tags: u32, text: u32): u32 {
  store<u32>(written, at - text);
  return written + 4 * ((tags >>> tagOf(load<u32>(at))) & 1);
}
