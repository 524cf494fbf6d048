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
  /** Of the shown columns. */
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
