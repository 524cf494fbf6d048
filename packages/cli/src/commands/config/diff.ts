import { type ClusterConfigDiff, type ConfigDifference, type ConfigValue, isDrift } from '@porthole/contract';
import { type FlatSetting, MASK } from '@porthole/server/config';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { displayWidth } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { formatCount } from '../../output/format-units.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { Receipt } from '../../records/receipt.ts';
import { openNode } from '../../sources/open-node.ts';
import { memberSelection } from '../../sources/source-flags.ts';
import { type ConfigDocument, readConfig } from './config-document.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const [a, b] = args;
  if (a === undefined) return diffCluster(invocation);
  if (b === undefined)
    throw new ProgramError(`expected two configurations, or none to compare the whole cluster; got only ${a}`);
  const documents = await Promise.all([readConfig(invocation, a), readConfig(invocation, b)]);
  const comparison = compareConfigs(...documents);
  const { differences, uncomparable } = comparison;
  await terminal.write(render(invocation.text('output') ?? 'table', { names: [a, b], comparison, terminal }));
  if (uncomparable.length > 0) {
    const keys = uncomparable.length === 1 ? '1 key' : `${uncomparable.length} keys`;
    terminal.note(`${keys} not compared (secret on both sides): ${visibleText(uncomparable.join(', '))}`);
  }
  const stale = documents.flatMap(({ staleness }) => staleness ?? []);
  for (const staleness of stale) terminal.warn(visibleText(staleness));
  if (differences.length > 0) return EXIT.different;
  return stale.length > 0 ? EXIT.partial : EXIT.ok;
}

interface Rendering {
  names: readonly [string, string];
  comparison: Comparison;
  terminal: Terminal;
}

function render(output: string, { names, comparison, terminal }: Rendering): string {
  const { differences, uncomparable, all } = comparison;
  const [a, b] = names;
  if (output === 'json')
    return `${JSON.stringify({ a, b, equal: differences.length + uncomparable.length === 0, differences, uncomparable }, null, 2)}\n`;
  if (differences.length === 0) return '';
  if (output === 'table') return differenceTable(names, differences, terminal);
  return unifiedDiff(names, all)
    .map((line) => `${paint(terminal.isTty ? visibleText(line) : line, terminal)}\n`)
    .join('');
}

function paint(line: string, { colors }: Terminal): string {
  if (/^(?:---|\+\+\+) /.test(line)) return colors.bold(line);
  if (line.startsWith('@@')) return colors.cyan(line);
  if (line.startsWith('-')) return colors.red(line);
  return line.startsWith('+') ? colors.green(line) : line;
}

/** Compares the configurations of all nodes, role by role. */
async function diffCluster(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const output = invocation.text('output') ?? 'table';
  if (output === 'unified')
    throw new ProgramError('-o unified needs two configurations; use -o table or -o json for the cluster');
  const by = invocation.text('by');
  const request = { ...memberSelection(invocation), ...(by !== undefined && { by }) };
  const node = await openNode(invocation);
  const options = { signal: interruptSignal() };
  const diff = await node.configDiff(request, options);
  const hasDrift = diff.roles.some(({ differences }) => differences.some(isDrift));
  const receipt = new Receipt();
  receipt.add(diff);
  const equal = !hasDrift && !receipt.isPartial && diff.roles.every(({ notCompared }) => notCompared.length === 0);
  if (output === 'json') await terminal.write(`${JSON.stringify({ equal, ...diff }, null, 2)}\n`);
  else await writeTable(diff, invocation);
  receipt.warn(terminal);
  if (hasDrift) return EXIT.different;
  return receipt.isPartial ? EXIT.partial : EXIT.ok;
}

async function writeTable({ roles }: ClusterConfigDiff, invocation: Invocation): Promise<void> {
  const { terminal } = invocation;
  const withExpected = invocation.isOn('expected');
  for (const { role: name, label, nodes, comparedKeys, notCompared, withoutFingerprint = {}, differences } of roles) {
    const role = label === undefined ? name : `${name} ${label || '(no label)'}`;
    const shown = differences.filter(({ isExpected }) => withExpected || !isExpected);
    const hidden = differences.length - shown.length;
    terminal.note(
      `${visibleText(role)}: ${formatCount(nodes.length, 'node')}, ${formatCount(comparedKeys, 'key')} compared`,
    );
    if (hidden > 0)
      terminal.note(
        `  ${formatCount(hidden, 'key')} ${hidden === 1 ? 'differs' : 'differ'} as expected; show with --expected`,
      );
    const secrets = notCompared.map((key) => {
      const without = withoutFingerprint[key] ?? [];
      const isOfAll = without.length === 0 || without.length === nodes.length;
      return isOfAll ? key : `${key} (no fingerprint of ${without.join(', ')})`;
    });
    if (secrets.length > 0) terminal.note(`  not compared (secret): ${visibleText(secrets.join(', '))}`);
    if (shown.length > 0) await terminal.write(outlierTable(role, shown, terminal));
  }
}

type Value = FlatSetting['value'];

/** A key with both values; a value is absent where a configuration does not have the key. */
export interface Difference {
  key: string;
  a?: Value;
  b?: Value;
}

export interface Comparison {
  /** Sorted by key. */
  differences: Difference[];
  /** Keys whose values are masked on both sides. */
  uncomparable: string[];
  /** All keys of both, sorted. */
  all: Difference[];
}

/** Compares key by key. Values are equal if their JSON is: 1 is not "1". */
export function compareConfigs(a: ConfigDocument, b: ConfigDocument): Comparison {
  const [left, right] = [valuesByKey(a), valuesByKey(b)];
  const keys = [...new Set([...left.keys(), ...right.keys()])].sort();
  const all = keys.map((key) => ({ key, ...valueAt(left, 'a', key), ...valueAt(right, 'b', key) }));
  return {
    all,
    differences: all.filter((pair) => !isSame(pair)),
    uncomparable: all.filter((pair) => isSame(pair) && holdsMask(pair.a)).map(({ key }) => key),
  };
}

export function isSame({ a, b }: Difference): boolean {
  return a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

function valuesByKey({ settings }: ConfigDocument): Map<string, Value> {
  return new Map(settings.map(({ key, value }) => [key, value]));
}

function valueAt(values: Map<string, Value>, name: 'a' | 'b', key: string): Omit<Difference, 'key'> {
  const value = values.get(key);
  return value === undefined ? {} : { [name]: value };
}

function holdsMask(value: Value | undefined): boolean {
  return JSON.stringify(value)?.includes(MASK) ?? false;
}

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

const CONTEXT = 3;

export interface DiffLine {
  sign: ' ' | '-' | '+';
  text: string;
}

/** What `diff -u` prints for two sorted lists of `key = value`; empty if they are equal. */
export function unifiedDiff(names: readonly [string, string], pairs: readonly Difference[]): string[] {
  const lines = diffLines(pairs);
  const hunks = splitHunks(lines);
  if (hunks.length === 0) return [];
  const body = hunks.flatMap(({ from, to }) => {
    const before = lines.slice(0, from);
    const hunk = lines.slice(from, to);
    const range = (other: '-' | '+') => {
      const count = (part: readonly DiffLine[]) => part.filter(({ sign }) => sign === ' ' || sign === other).length;
      const [start, length] = [count(before), count(hunk)];
      // An empty range starts at the line before it.
      return `${other}${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
    };
    return [`@@ ${range('-')} ${range('+')} @@`, ...hunk.map(({ sign, text }) => sign + text)];
  });
  return [`--- ${names[0]}`, `+++ ${names[1]}`, ...body];
}

/** One line per key and side; within a run of changes removals come first, like in `diff`. */
function diffLines(pairs: readonly Difference[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const pair of pairs) {
    const line = (value: Difference['a']) => `${pair.key} = ${JSON.stringify(value)}`;
    if (isSame(pair)) {
      lines.push(...added, { sign: ' ', text: line(pair.a) });
      added = [];
      continue;
    }
    if (pair.a !== undefined) lines.push({ sign: '-', text: line(pair.a) });
    if (pair.b !== undefined) added.push({ sign: '+', text: line(pair.b) });
  }
  return [...lines, ...added];
}

/** Runs of changes with their context; overlapping ones are joined. `to` is exclusive. */
function splitHunks(lines: readonly DiffLine[]): { from: number; to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    const [from, to] = [Math.max(0, index - CONTEXT), Math.min(lines.length, index + 1 + CONTEXT)];
    const last = hunks.at(-1);
    if (last && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  }
  return hunks;
}
