import { stripVTControlCharacters } from 'node:util';

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Truncated to no less than this where the terminal is narrow, in the middle. Its cells have no colours. */
  minWidth?: number;
  /** Left out where the terminal is still too narrow; the highest first. */
  hideRank?: number;
}

/** Between columns. */
export const GAP = '  ';

/** The last column is truncated first, at its end, to no less than this. */
const MIN_LAST = 12;

interface Fit {
  /** Indices of the columns. */
  shown: number[];
  /** The widths of the shown columns. */
  widths: number[];
}

/** Which columns are shown in `room`, and how wide. */
export function fitColumns(columns: readonly Column[], natural: readonly number[], room: number): Fit {
  const last = columns.length - 1;
  const smallest = (index: number) => {
    const width = natural[index] ?? 0;
    return Math.min(width, columns[index]?.minWidth ?? (index === last ? MIN_LAST : width));
  };
  let shown = columns.map((_, index) => index);
  const excess = (width: (index: number) => number) =>
    shown.reduce((sum, index) => sum + width(index), GAP.length * (shown.length - 1)) - room;
  while (excess(smallest) > 0) {
    const rank = Math.max(...shown.map((index) => columns[index]?.hideRank ?? 0));
    if (rank === 0) break;
    shown = shown.filter((index) => columns[index]?.hideRank !== rank);
  }
  let over = Math.max(
    0,
    excess((index) => natural[index] ?? 0),
  );
  const widths = shown.map((index) => natural[index] ?? 0);
  for (let place = shown.length - 1; place >= 0; place--) {
    const index = shown[place] ?? 0;
    const cut = Math.min(over, (natural[index] ?? 0) - smallest(index));
    widths[place] = (natural[index] ?? 0) - cut;
    over -= cut;
  }
  return { shown, widths };
}

/** Columns a text takes, without its colours. An upper bound: not all of these characters are two columns wide. */
export function displayWidth(text: string): number {
  return [...stripVTControlCharacters(text)].reduce((width, letter) => width + (MAY_BE_WIDE.test(letter) ? 2 : 1), 0);
}

/** Hangul, CJK, emoji and what follows; not punctuation, arrows and the like. */
const MAY_BE_WIDE = /[\u{1100}-\u{115f}\u{2300}-\u{10ffff}]/u;

/** Cuts a text without colours to a width, in the middle: names differ at their ends. */
export function cutMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const letters = [...text];
  const room = Math.max(0, width - 1);
  const tail = takeWidth(letters.toReversed(), Math.floor(room / 2)).toReversed();
  const head = takeWidth(letters, room - displayWidth(tail.join('')));
  return `${head.join('')}…${tail.join('')}`;
}

/** As many of the letters as fit. */
function takeWidth(letters: readonly string[], width: number): string[] {
  let used = 0;
  const end = letters.findIndex((letter) => {
    used += displayWidth(letter);
    return used > width;
  });
  return letters.slice(0, end < 0 ? undefined : end);
}

/** Cuts a text without colours to a width, at its end. */
export function cutEnd(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${takeWidth([...text], width - 1).join('')}…`;
}
