/** Comparisons of two shapes in one call: many shapes with the same first word could need their square. */
const MAX_COMPARISONS = 2_000_000;

/**
 * Finds for each row a more general one that covers it: equal words, or a variable where it has a value. Rows are different,
 * sorted and have the same number of words. Returns the rows that change, with their new words.
 */
export function absorbShapes(rows: readonly string[][]): Map<number, string[]> {
  const generals = indexGenerals(rows);
  const changed = new Map<number, string[]>();
  let comparisons = 0;
  for (const [row, words] of rows.entries()) {
    let best = 0;
    for (const general of [...(generals.byFirst.get(words[0] ?? '') ?? []), ...generals.variable]) {
      if (++comparisons > MAX_COMPARISONS) return changed;
      const constants = general === words ? 0 : countCovered(general, words);
      if (constants <= best) continue;
      best = constants;
      changed.set(row, general);
    }
  }
  return changed;
}

/** Rows with a variable, by their first word. */
interface Generals {
  byFirst: Map<string, string[][]>;
  /** Those whose first word is variable. */
  variable: string[][];
}

function indexGenerals(rows: readonly string[][]): Generals {
  const generals: Generals = { byFirst: new Map(), variable: [] };
  for (const words of rows) {
    const [first = ''] = words;
    if (first.includes('*')) {
      generals.variable.push(words);
    } else if (words.some((word) => word.includes('*'))) {
      const known = generals.byFirst.get(first);
      if (known) known.push(words);
      else generals.byFirst.set(first, [words]);
    }
  }
  return generals;
}

/** How many constant words two rows share if the general one covers the other; 0 if it does not, or they share too few. */
function countCovered(general: readonly string[], words: readonly string[]): number {
  let constants = 0;
  let covered = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const pattern = general[at] ?? '';
    if (word !== pattern) {
      if (!covers(pattern, word)) return 0;
      covered++;
    } else if (/\p{L}/u.test(word)) {
      constants++;
    }
  }
  return constants >= covered ? constants : 0;
}

/** Whether the word is a value of the pattern's one variable. A row of asterisks or dashes is none. */
function covers(pattern: string, word: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0 || pattern.includes('*', star + 1)) return false;
  const tailLength = pattern.length - star - 1;
  if (word.length < star + tailLength) return false;
  if (!word.startsWith(pattern.slice(0, star)) || !word.endsWith(pattern.slice(star + 1))) return false;
  const value = word.slice(star, word.length - tailLength);
  return value === '' ? star > 0 : /[\p{L}\d]/u.test(value);
}
