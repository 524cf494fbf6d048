import Table from 'cli-table3';
import { cutMiddle, displayWidth } from './display-width.ts';
import type { Terminal } from './terminal.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Truncated to no less than this where the terminal is narrow, in the middle. Its cells have no colours. */
  minWidth?: number;
  /** Left out where the terminal is still too narrow; the highest first. */
  hideRank?: number;
}

const PARTS = ['top', 'bottom', 'left', 'mid', 'right'];
const ENDS = ['', '-mid', '-left', '-right'];
const NO_LINES = Object.fromEntries(PARTS.flatMap((part) => ENDS.map((end) => [part + end, ''])));

/** Between columns. */
export const GAP = '  ';

/** The last column is truncated first, at its end, to no less than this. */
const MIN_LAST = 12;

type TableTerminal = Pick<Terminal, 'colors' | 'columns' | 'note'>;

/** Aligned columns without borders. On a terminal, columns are truncated and left out to fit. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  terminal: TableTerminal,
): string {
  const natural = columns.map(({ title }, index) =>
    Math.max(...[[title], ...rows.map((row) => [row[index] ?? ''])].flat().map(displayWidth)),
  );
  const { shown, widths } = fitColumns(columns, natural, terminal.columns);
  const hidden = columns.filter((_, index) => !shown.includes(index)).map(({ title }) => title.trim());
  if (hidden.length > 0) terminal.note(`the terminal is too narrow for: ${hidden.join(', ')}`);
  const cells = [columns.map(({ title }) => title), ...rows].map((row) =>
    shown.map((index, place) => {
      const text = row[index] ?? '';
      return columns[index]?.minWidth === undefined ? text : cutMiddle(text, widths[place] ?? 0);
    }),
  );
  const body = render(
    shown.flatMap((index) => columns[index] ?? []),
    cells,
    shown.at(-1) === columns.length - 1 ? widths.at(-1) : undefined,
  );
  const [titles = '', ...lines] = body.split('\n').map((line) => line.trimEnd());
  return `${[terminal.colors.dim(titles), ...lines].join('\n')}\n`;
}

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

function render(columns: readonly Column[], rows: readonly (readonly string[])[], lastWidth?: number): string {
  const last = columns.length - 1;
  const table = new Table({
    chars: { ...NO_LINES, middle: GAP },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colAligns: columns.map(({ align = 'left' }) => align),
    colWidths: columns.map((_, index) => (index === last && lastWidth !== undefined ? lastWidth : null)),
  });
  for (const row of rows) table.push([...row]);
  return table.toString();
}
