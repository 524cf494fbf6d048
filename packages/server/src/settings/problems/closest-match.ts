import { editDistance } from '@porthole/logs';

/** Beyond three edits a suggestion is a guess. */
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
    // Each letter too many or too few is an edit: most candidates need no comparing.
    if (Math.abs(wanted.length - candidate.length) > allowed) continue;
    const edits = editDistance(wanted, candidate.toLowerCase());
    if (edits > allowed) continue;
    if (edits === 0) return candidate;
    best = candidate;
    bestEdits = edits;
  }
  return best;
}
