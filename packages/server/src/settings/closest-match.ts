import { editDistance } from '@porthole/logs';

/** More edits would make the suggestion a guess. */
const MAX_EDITS = 3;

/**
 * The candidate a misspelt word most likely means, or `undefined` when none is near. Letter case does not count; an
 * exchange of two neighbours (`prot`) is one edit; at most a third of the letters may differ. The first of equals wins.
 */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestEdits = MAX_EDITS + 1;
  for (const candidate of candidates) {
    const allowed = Math.min(bestEdits - 1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    const edits = editDistance(wanted, candidate.toLowerCase(), allowed);
    if (edits > allowed) continue;
    best = candidate;
    bestEdits = edits;
  }
  return best;
}
