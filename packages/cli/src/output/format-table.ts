import Table from 'cli-table3';
import { type Column, cutMiddle, displayWidth, fitColumns, GAP } from './fit-columns.ts';
import type { Terminal } from './terminal.ts';

const PARTS = ['top', 'bottom', 'left', 'mid', 'right'];
const ENDS = ['', '-mid', '-left', '-right'];
const NO_LINES = Object.fromEntries(PARTS.flatMap((part) => ENDS.map((end) => [part + end, ''])));

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
