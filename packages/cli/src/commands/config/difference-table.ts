import { formatTable } from '../../output/format-table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import type { Difference } from './compare-configs.ts';

const GAP = 2;

/** Cannot be confused with a value: values are JSON, with strings in quotes. */
const MISSING = '(missing)';

/** Keys that differ, with both values. On a narrow terminal, values are printed below their key, untruncated. */
export function differenceTable(
  names: readonly [string, string],
  differences: readonly Difference[],
  terminal: Terminal,
): string {
  const titles = ['key', ...names];
  const rows = differences.map(({ key, a, b }) => [visibleText(key), show(a), show(b)]);
  const widths = titles.map((title, column) =>
    Math.max(...[titles, ...rows].map((row) => displayWidth(row[column] ?? title))),
  );
  const needed = widths.reduce((sum, width) => sum + width, GAP * (titles.length - 1));
  if (needed <= terminal.columns)
    return formatTable(
      titles.map((title) => ({ title })),
      rows,
      terminal,
    );
  const { bold, red, green } = terminal.colors;
  const stacked = rows.map(([key = '', a, b]) => `${bold(key)}\n  ${red(`- ${a}`)}\n  ${green(`+ ${b}`)}\n`);
  return `${red(`- ${names[0]}`)}\n${green(`+ ${names[1]}`)}\n\n${stacked.join('')}`;
}

function show(value: Difference['a']): string {
  return value === undefined ? MISSING : visibleText(JSON.stringify(value));
}

/** An upper bound: characters from U+1100 on may be two columns wide. */
export function displayWidth(text: string): number {
  return [...text].reduce((width, letter) => width + ((letter.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1), 0);
}
