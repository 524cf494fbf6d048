import type { ConfigDifference, ConfigValue } from '@porthole/contract';
import { displayWidth } from '../../output/display-width.ts';
import { formatTable } from '../../output/format-table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import type { Difference } from './compare-configs.ts';

/* Tables of differences. On a narrow terminal, values are printed below their key, untruncated. */

const OUTLIER_TITLES = ['ROLE', 'KEY', 'MAJORITY', 'DIFFERS', 'NODES'];

const GAP = 2;

/** Cannot be confused with a value: values are JSON, with strings in quotes. */
const MISSING = '(missing)';
const NO_MAJORITY = '(no majority)';

/** Keys that differ between two configurations, with both values. */
export function differenceTable(
  names: readonly [string, string],
  differences: readonly Difference[],
  terminal: Terminal,
): string {
  const rows = differences.map(({ key, a, b }) => [visibleText(key), showValue(a), showValue(b)]);
  const { bold, red, green } = terminal.colors;
  return (
    tableIfItFits(['key', ...names], rows, terminal) ??
    [
      `${red(`- ${names[0]}`)}\n${green(`+ ${names[1]}`)}\n\n`,
      ...rows.map(([key = '', a, b]) => `${bold(key)}\n  ${red(`- ${a}`)}\n  ${green(`+ ${b}`)}\n`),
    ].join('')
  );
}

/** One row per value that differs from the majority. */
export function outlierTable(role: string, differences: readonly ConfigDifference[], terminal: Terminal): string {
  const rows = differences.flatMap((difference) => outlierRows(role, difference));
  return (
    tableIfItFits(OUTLIER_TITLES, rows, terminal) ??
    differences.map((difference) => stackOutliers(role, difference, terminal)).join('')
  );
}

function tableIfItFits(titles: readonly string[], rows: readonly string[][], terminal: Terminal): string | undefined {
  const widths = titles.map((title, column) =>
    Math.max(...[titles, ...rows].map((row) => displayWidth(row[column] ?? title))),
  );
  const needed = widths.reduce((sum, width) => sum + width, GAP * (titles.length - 1));
  if (needed > terminal.columns) return undefined;
  return formatTable(
    titles.map((title) => ({ title })),
    rows,
    terminal,
  );
}

function outlierRows(role: string, { key, values }: ConfigDifference): string[][] {
  const most = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== most);
  return others.map((value, index) => [
    ...(index === 0 ? [visibleText(role), visibleText(key), most ? showOutlier(most) : NO_MAJORITY] : ['', '', '']),
    showOutlier(value),
    formatNodes(value),
  ]);
}

function stackOutliers(role: string, { key, values }: ConfigDifference, { colors }: Terminal): string {
  const lines = values.map((value) => {
    const line = `${value.isMajority || value.isNotCompared ? ' ' : '!'} ${showOutlier(value)}  ${formatNodes(value)}`;
    return `  ${value.isMajority || value.isSameMeaning || value.isNotCompared ? line : colors.red(line)}\n`;
  });
  return `${colors.bold(`${visibleText(role)} ${visibleText(key)}`)}\n${lines.join('')}`;
}

function showOutlier({ value, isMajority, isSameMeaning, isNotCompared }: ConfigValue): string {
  const text = showValue(value ?? undefined);
  if (isNotCompared) return `${text} (not compared)`;
  return isSameMeaning && !isMajority ? `${text} (equivalent)` : text;
}

function showValue(value: Difference['a']): string {
  return value === undefined ? MISSING : visibleText(JSON.stringify(value));
}

function formatNodes({ nodes }: ConfigValue): string {
  return visibleText(nodes.join(', '));
}
