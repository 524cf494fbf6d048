/** Letters that follow each other, and those that begin a word, are what people type. */
const FOLLOWING = 3;
const WORD_START = 4;

/**
 * How well a text fits what was typed: every word of it must be there, its letters in order. `null`: not at all. The
 * higher the better.
 */
export function fuzzyScore(query: string, text: string): number | null {
  const lower = text.toLowerCase();
  let total = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = wordScore(word, lower);
    if (score === null) return null;
    total += score;
  }
  // Of two that fit alike, the shorter one says it better.
  return total - lower.length / 100;
}

/** Those that fit, the best first; equals in the order they came. */
export function fuzzyFilter<Entry>(
  entries: readonly Entry[],
  query: string,
  textOf: (entry: Entry) => string,
): Entry[] {
  if (query.trim() === '') return [...entries];
  return entries
    .map((entry) => ({ entry, score: fuzzyScore(query, textOf(entry)) }))
    .filter((scored): scored is { entry: Entry; score: number } => scored.score !== null)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

function wordScore(word: string, text: string): number | null {
  const whole = text.indexOf(word);
  // Letters in order can be found almost anywhere; the word itself is meant.
  if (whole >= 0)
    return word.length * (FOLLOWING + 1) + (isWordStart(text, whole) ? 2 * WORD_START : 0) + (whole === 0 ? 1 : 0);
  let score = 0;
  let last = -2;
  for (const letter of word) {
    const index = text.indexOf(letter, Math.max(0, last + 1));
    if (index < 0) return null;
    score += index === last + 1 ? FOLLOWING : isWordStart(text, index) ? WORD_START : 0;
    last = index;
  }
  return score / 2;
}

function isWordStart(text: string, index: number): boolean {
  return index === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(index - 1));
}
