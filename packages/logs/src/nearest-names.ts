/** With more names than this nothing is suggested: comparing all of them would delay other requests. */
export const MAX_COMPARED_NAMES = 1000;

/** A name that differs in more is another name. */
const MAX_EDITS = 8;

/** The names a mistyped one may have meant, nearest first; empty if there are too many to compare. */
export function nearestNames(wanted: string, names: readonly string[], { most = 3 }: { most?: number } = {}): string[] {
  if (names.length > MAX_COMPARED_NAMES) return [];
  const allowed = allowedFor(wanted);
  return names
    .map((name) => ({ name, distance: distanceTo(wanted, name, allowed) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ name }) => name);
}

function allowedFor(wanted: string): number {
  return Math.min(MAX_EDITS, Math.max(2, Math.floor(wanted.length / 3)));
}

/** Edits from one name to the other; a substring of the other counts as one edit (`broker` for `lind-broker.log`). */
function distanceTo(wanted: string, name: string, allowed: number): number {
  const [a, b] = [wanted.toLowerCase(), name.toLowerCase()];
  if (a.length >= 3 && b.includes(a)) return 1;
  return editDistance(a, b, allowed);
}

/**
 * Insertions, deletions, replacements and swaps of neighbours. With `most`, infinite as soon as there must be more of
 * them: only cells that near to the diagonal are computed.
 */
export function editDistance(a: string, b: string, most = Number.POSITIVE_INFINITY): number {
  // Each missing or additional letter is an edit.
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY;
  const far = Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => (index <= most ? index : far));
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(b.length + 1).fill(far);
    if (i <= most) row[0] = i;
    let least = row[0] ?? far;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? far) + 1, (row[j - 1] ?? far) + 1, (last[j - 1] ?? far) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, (beforeLast[j - 2] ?? far) + 1);
      row[j] = best;
      least = Math.min(least, best);
    }
    // A swap reaches back two rows.
    if (least > most && Math.min(...last) >= most) return far;
    beforeLast = last;
    last = row;
  }
  const distance = last[b.length] ?? far;
  return distance <= most ? distance : far;
}
