/*
 * The inner loop of scrubbing, in AssemblyScript: `npm run kernel` makes src/kernel/grams-wasm.ts of it, and
 * src/kernel/gram-kernel.ts is the other side. Nothing is allocated here.
 */

/** Where things lie in memory; the other side reads these. For each hash a byte, with a bit for every tag. */
export const GRAMS: u32 = 0;
export const GRAM_HASHES: u32 = 65536;
/** As much text as stays in the nearest caches from the moment it is copied here. */
export const TEXT: u32 = GRAMS + GRAM_HASHES;
export const TEXT_BYTES: u32 = 65536;
/** Four bytes are loaded for a gram of three. */
export const HITS: u32 = TEXT + TEXT_BYTES + 64;
/** Every look may be a hit; they are four positions apart at least. */
export const MAX_HITS: u32 = TEXT_BYTES / 4;
export const MEMORY_BYTES: u32 = HITS + MAX_HITS * 4;

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

/** Looks at every so many positions before `to`. Those with a gram that is looked for are left in HITS; tells how many. */
export function look(to: u32, step: u32): u32 {
  const stop = TEXT + to;
  let at = TEXT;
  let written = HITS;
  // All four are looked up before any is waited for.
  while (at + 3 * step < stop) {
    const a = tagsAt(at);
    const b = tagsAt(at + step);
    const c = tagsAt(at + 2 * step);
    const d = tagsAt(at + 3 * step);
    if ((a | b | c | d) !== 0) {
      written = note(written, at, a);
      written = note(written, at + step, b);
      written = note(written, at + 2 * step, c);
      written = note(written, at + 3 * step, d);
    }
    at += 4 * step;
  }
  while (at < stop) {
    written = note(written, at, tagsAt(at));
    at += step;
  }
  return (written - HITS) >> 2;
}

function tagsAt(at: u32): u32 {
  return load<u8>(GRAMS + hashOf(load<u32>(at)));
}

/** Always written, and written over where it was no hit: nothing to guess for the processor. */
function note(written: u32, at: u32, tags: u32): u32 {
  store<u32>(written, at - TEXT);
  return written + 4 * ((tags >>> tagOf(load<u32>(at))) & 1);
}
