/** The names a mistyped one may have meant, nearest first. */
export function nearestNames(wanted: string, names: readonly string[], { most = 3 }: { most?: number } = {}): string[] {
  return names
    .map((name) => ({ name, distance: distanceTo(wanted, name) }))
    .filter(({ distance }) => distance <= allowedFor(wanted))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ name }) => name);
}

/** Whether a name is one that a mistyped one may have meant. */
export function isNear(wanted: string, name: string): boolean {
  return distanceTo(wanted, name) <= allowedFor(wanted);
}

function allowedFor(wanted: string): number {
  return Math.max(2, Math.floor(wanted.length / 3));
}

/** Edits from one word to the other; a part of the other counts as one edit (`broker` for `lind-broker.log`). */
function distanceTo(wanted: string, name: string): number {
  const [a, b] = [wanted.toLowerCase(), name.toLowerCase()];
  if (a.length >= 3 && b.includes(a)) return 1;
  // Each letter too many or too few is an edit: most names need no comparing.
  if (Math.abs(a.length - b.length) > allowedFor(wanted)) return Number.POSITIVE_INFINITY;
  return editDistance(a, b);
}

/** Insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
