import type { ConfigDifference, ConfigValue } from '@porthole/contract';
import { formatTable } from '../../output/format-table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { displayWidth } from './difference-table.ts';

const TITLES = ['ROLE', 'KEY', 'MAJORITY', 'DIFFERS', 'NODES'];

const GAP = 2;

/** Cannot be confused with a value: values are JSON, with strings in quotes. */
const MISSING = '(missing)';
const NO_MAJORITY = '(no majority)';

/** Whether nodes differ in a key in which they should not. */
export function isDrift({ isExpected, values }: ConfigDifference): boolean {
  return !isExpected && values.some(({ isMajority, isSameMeaning }) => !isMajority && !isSameMeaning);
}

/** One row per value that differs from the majority. On a narrow terminal, values are printed below their key, untruncated. */
export function outlierTable(role: string, differences: readonly ConfigDifference[], terminal: Terminal): string {
  const rows = differences.flatMap((difference) => outlierRows(role, difference));
  const widths = TITLES.map((title, column) =>
    Math.max(...[TITLES, ...rows].map((row) => displayWidth(row[column] ?? title))),
  );
  const needed = widths.reduce((sum, width) => sum + width, GAP * (TITLES.length - 1));
  if (needed > terminal.columns) return differences.map((difference) => stacked(role, difference, terminal)).join('');
  return formatTable(
    TITLES.map((title) => ({ title })),
    rows,
    terminal,
  );
}

function outlierRows(role: string, { key, values }: ConfigDifference): string[][] {
  const most = values.find(({ isMajority }) => isMajority);
  const others = values.filter((value) => value !== most);
  return others.map((value, index) => [
    ...(index === 0 ? [visibleText(role), visibleText(key), most ? show(most) : NO_MAJORITY] : ['', '', '']),
    show(value),
    formatNodes(value),
  ]);
}

function stacked(role: string, { key, values }: ConfigDifference, { colors }: Terminal): string {
  const lines = values.map((value) => {
    const line = `${value.isMajority ? ' ' : '!'} ${show(value)}  ${formatNodes(value)}`;
    return `  ${value.isMajority || value.isSameMeaning ? line : colors.red(line)}\n`;
  });
  return `${colors.bold(`${visibleText(role)} ${visibleText(key)}`)}\n${lines.join('')}`;
}

function show({ value, isMajority, isSameMeaning }: ConfigValue): string {
  const text = value === null ? MISSING : visibleText(JSON.stringify(value));
  return isSameMeaning && !isMajority ? `${text} (equivalent)` : text;
}

function formatNodes({ nodes }: ConfigValue): string {
  return visibleText(nodes.join(', '));
}
