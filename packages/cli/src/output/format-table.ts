import Table from 'cli-table3';
import type { Terminal } from './terminal.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

const PARTS = ['top', 'bottom', 'left', 'mid', 'right'];
const ENDS = ['', '-mid', '-left', '-right'];
const NO_LINES = Object.fromEntries(PARTS.flatMap((part) => ENDS.map((end) => [part + end, ''])));

const GAP = '  ';

/** Minimum width of the last column. */
const MIN_LAST = 12;

/** Aligned columns without borders. On a terminal, the last column is truncated to fit. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { colors, columns: room }: Terminal,
): string {
  const head = columns.map(({ title }) => title);
  const front = render(
    columns.slice(0, -1),
    [head, ...rows].map((row) => row.slice(0, -1)),
  );
  // Titles have no colours, so the length of their line is the width of all columns but the last.
  const used = front.split('\n', 1)[0]?.length ?? 0;
  const lastWidth = Math.max(MIN_LAST, room - used - GAP.length);
  const body = render(columns, [head, ...rows], Number.isFinite(lastWidth) ? lastWidth : undefined);
  const [titles = '', ...lines] = body.split('\n').map((line) => line.trimEnd());
  return `${[colors.dim(titles), ...lines].join('\n')}\n`;
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
