/** A stretch of rows that is shown, or of equal ones that can be. */
export interface RowRun {
  isFolded: boolean;
  /** Index of its first row. */
  start: number;
  /** Behind its last row. */
  end: number;
}

/** Equal rows shown around what differs. */
const CONTEXT = 3;

/** Fewer than these are shown rather than folded: the fold would take a row itself. */
const MIN_FOLDED = 4;

/** Folds what is equal, except around what is not. All rows are in exactly one run, in order. */
export function foldRows(isEqual: readonly boolean[]): RowRun[] {
  const runs: RowRun[] = [];
  for (let start = 0; start < isEqual.length; ) {
    let end = start;
    while (end < isEqual.length && isEqual[end] === isEqual[start]) end++;
    if (isEqual[start]) addEqual(runs, { start, end, total: isEqual.length });
    else addShown(runs, start, end);
    start = end;
  }
  return runs;
}

function addEqual(runs: RowRun[], { start, end, total }: { start: number; end: number; total: number }): void {
  const from = start === 0 ? 0 : start + CONTEXT;
  const to = end === total ? end : end - CONTEXT;
  if (to - from < MIN_FOLDED) {
    addShown(runs, start, end);
    return;
  }
  addShown(runs, start, from);
  runs.push({ isFolded: true, start: from, end: to });
  addShown(runs, to, end);
}

function addShown(runs: RowRun[], start: number, end: number): void {
  const last = runs.at(-1);
  if (start === end) return;
  if (last && !last.isFolded) last.end = end;
  else runs.push({ isFolded: false, start, end });
}
