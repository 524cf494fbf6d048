import type { ShownRecord } from '../source/log-source.ts';
import type { RecordRow, Row, TextMatcher, TextRange, WorkspaceState } from './workspace-state.ts';

/** Two lines take no more room than one that says there are two. */
const FEWEST = 3;

/** Numbers are looked for in this much of a line; what follows must be the same. */
const MASKED_CHARACTERS = 400;

/** A word with a digit: a number, a time, an address, an id. */
const VARYING = /[\w.:+-]*\d[\w.:+-]*/g;

type FoldRules = Pick<WorkspaceState, 'focusedKey' | 'expanded'> & {
  /** A match of the search is never hidden. */
  matcher: TextMatcher | null;
};

/**
 * The rows with runs of lines that differ in numbers only as one row each: the first, which has all of them in `folded`.
 * The focused row begins a run of its own, and matches stand alone.
 */
export function foldRows(rows: readonly Row[], { focusedKey, expanded, matcher }: FoldRules): readonly Row[] {
  const shown: Row[] = [];
  let run: RecordRow[] = [];
  const endRun = () => {
    const [first] = run;
    if (first && run.length >= FEWEST) {
      const isOpened = expanded.size > 0 && run.some(({ key }) => expanded.has(foldKey(key)));
      shown.push({ ...first, folded: run, ...(isOpened && { isOpened }) });
      if (isOpened) shown.push(...run.slice(1));
    } else shown.push(...run);
    run = [];
  };
  for (const row of rows) {
    const [first] = run;
    const isAlone = row.kind !== 'record' || (matcher !== null && isMatch(row.record, matcher));
    if (first && (isAlone || row.key === focusedKey || !isRepeated(row, first))) endRun();
    if (isAlone) shown.push(row);
    else run.push(row);
  }
  endRun();
  return shown.length === rows.length && !shown.some((row) => row.kind === 'record' && row.folded) ? rows : shown;
}

/** Marks an opened run among the opened rows. */
export function foldKey(key: string): string {
  return `× ${key}`;
}

/** The last of the rows that a shown row stands for. */
export function lastOf(row: Row): Row {
  return (row.kind === 'record' && !row.isOpened && row.folded?.at(-1)) || row;
}

/** Where a row is shown, also within a run; -1 if it is not loaded. */
export function shownIndex(rows: readonly Row[], key: string | null): number {
  if (key === null) return -1;
  const index = rows.findIndex((row) => row.key === key);
  if (index >= 0) return index;
  return rows.findIndex((row) => row.kind === 'record' && row.folded?.some((other) => other.key === key));
}

function isRepeated(
  { record, isContext }: RecordRow,
  { record: first, isContext: isOtherContext }: RecordRow,
): boolean {
  if (isContext || isOtherContext || record.unfinished || record.node !== first.node || record.level !== first.level)
    return false;
  return maskedText(record) === maskedText(first);
}

const matched = new WeakMap<TextMatcher, WeakMap<ShownRecord, boolean>>();

/** Whether a record is a match of a search, which looks at its lines as they are in the file. Each is looked at once. */
export function isMatch(record: ShownRecord, matcher: TextMatcher): boolean {
  const results = matched.get(matcher) ?? new WeakMap<ShownRecord, boolean>();
  matched.set(matcher, results);
  const known = results.get(record);
  if (known !== undefined) return known;
  const result = matcher(record.raw ?? record.message).length > 0;
  results.set(record, result);
  return result;
}

const masked = new WeakMap<ShownRecord, string>();

/** The line as it is in its file, with what varies replaced. */
function maskedText(record: ShownRecord): string {
  const known = masked.get(record);
  if (known !== undefined) return known;
  const line = record.raw ?? record.message;
  const text = line.slice(0, MASKED_CHARACTERS).replace(VARYING, '#') + line.slice(MASKED_CHARACTERS);
  masked.set(record, text);
  return text;
}

export function unionMatcher(matchers: readonly TextMatcher[]): TextMatcher {
  const [only] = matchers;
  if (only && matchers.length === 1) return only;
  return (text) => mergeRanges(matchers.flatMap((matcher) => matcher(text)));
}

function mergeRanges(ranges: readonly TextRange[]): TextRange[] {
  const merged: TextRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}
