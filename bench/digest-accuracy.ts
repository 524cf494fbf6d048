/*
 * Grouping accuracy of digests on labelled logs: npm run build && npx tsx bench/digest-accuracy.ts DIRECTORY
 *
 * The directory has pairs of NAME.log and NAME.log_structured.csv, as the data sets of LogPAI's loghub: one row for each
 * line, in their order, with a column EventId.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, type FoundRecord, LogDir, mergeShapes, messageShape } from '@porthole/logs';
import { searchItems } from '@porthole/logs/testing';

const LABELS = '.log_structured.csv';

/** The limit of the interface; the counts of the groups are only compared if all of them fit. */
const MAX_GROUPS = 1000;

interface Row {
  name: string;
  format: string;
  lines: number;
  events: number;
  groups: number;
  accuracy: number;
}

async function main([directory]: readonly string[]): Promise<number> {
  if (directory === undefined) {
    process.stderr.write('Usage: npx tsx bench/digest-accuracy.ts DIRECTORY\n');
    return 2;
  }
  const names = readdirSync(directory).filter((name) => name.endsWith(LABELS));
  const logs = new LogDir(directory, { scansHere: true, workers: 0 });
  try {
    const rows: Row[] = [];
    for (const name of names.sort()) rows.push(await measure(logs, name.slice(0, -LABELS.length)));
    process.stdout.write(formatTable(rows));
  } finally {
    await logs.close();
  }
  return 0;
}

async function measure(logs: LogDir, name: string): Promise<Row> {
  const file = `${name}.log`;
  const events = readEvents(join(logs.path, `${name}${LABELS}`));
  const records = await readRecords(logs, file);
  const digest = await logs.digest({ src: [`=${file}`], limit: MAX_GROUPS });
  const groups = groupKeys(records);
  compareCounts(file, groups, digest);
  const lines = assignLines(readFileSync(join(logs.path, file)), { records, groups });
  if (lines.length !== events.length) throw new Error(`${file}: ${lines.length} lines, ${events.length} labels`);
  const [details] = (await logs.details()).filter((entry) => entry.name === file);
  return {
    name,
    format: details?.format ?? '-',
    lines: lines.length,
    events: new Set(events).size,
    groups: digest.totalGroups,
    accuracy: groupingAccuracy(lines, events),
  };
}

function readEvents(path: string): string[] {
  const [header = [], ...rows] = parseCsv(readFileSync(path, 'utf8'));
  const column = header.indexOf('EventId');
  if (column < 0) throw new Error(`${path}: no column EventId`);
  return rows.map((row) => row[column] ?? '');
}

async function readRecords(logs: LogDir, file: string): Promise<FoundRecord[]> {
  const records: FoundRecord[] = [];
  const query = { file, order: 'oldest' as const, limit: 1_000_000, before: 0, after: 0 };
  for await (const batch of searchItems(logs, query)) {
    for (const item of batch) if (item.type === 'record') records.push(item);
  }
  return records.sort((a, b) => a.offset - b.offset);
}

/** The group of each record, as a digest determines it. */
function groupKeys(records: readonly FoundRecord[]): string[] {
  const shapes = records.map(({ source, message }) => (source === undefined ? messageShape(message) : null));
  const merged = mergeShapes(shapes.flatMap((shape) => shape ?? []));
  return records.map(({ level = null, source = null }, index) => {
    const shape = shapes[index] ?? null;
    return toKey({ level, source, shape: shape === null ? null : (merged.get(shape) ?? shape) });
  });
}

function toKey({
  level,
  source,
  shape,
}: {
  level: string | null;
  source: string | null;
  shape: string | null;
}): string {
  return JSON.stringify([level, source, shape]);
}

/** The groups must be those that a digest returns. */
function compareCounts(file: string, keys: readonly string[], { groups, totalGroups }: Digest): void {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isSame = groups.every((group) => counts.get(toKey(group)) === group.count);
  if (!isSame || counts.size !== totalGroups) throw new Error(`${file}: the digest has other groups`);
}

/** The group of each line: that of its record. */
function assignLines(
  bytes: Buffer,
  { records, groups }: { records: readonly FoundRecord[]; groups: readonly string[] },
): string[] {
  const lines: string[] = [];
  let record = 0;
  for (let start = 0; start < bytes.length; ) {
    while ((records[record + 1]?.offset ?? Infinity) <= start) record++;
    lines.push(groups[record] ?? '');
    const newline = bytes.indexOf(10, start);
    start = newline < 0 ? bytes.length : newline + 1;
  }
  return lines;
}

/** The share of lines whose group has exactly the lines of their event. */
function groupingAccuracy(groups: readonly string[], events: readonly string[]): number {
  const eventLines = countEach(events);
  const lines = new Map<string, { count: number; events: Set<string> }>();
  for (const [index, group] of groups.entries()) {
    const known = lines.get(group) ?? { count: 0, events: new Set() };
    known.count++;
    known.events.add(events[index] ?? '');
    lines.set(group, known);
  }
  let right = 0;
  for (const { count, events: found } of lines.values()) {
    const [event = ''] = found;
    if (found.size === 1 && eventLines.get(event) === count) right += count;
  }
  return right / groups.length;
}

function countEach(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ name, format, events, groups, accuracy }) =>
      `| ${name} | ${format} | ${events} | ${groups} | ${accuracy.toFixed(3)} |`,
  );
  const mean = rows.reduce((sum, { accuracy }) => sum + accuracy, 0) / rows.length;
  const header = ['| data set | format | events | groups | grouping accuracy |', '|---|---|--:|--:|--:|'];
  return `${[...header, ...lines, `| mean | | | | ${mean.toFixed(3)} |`].join('\n')}\n`;
}

/** The rows of a CSV text, with quoted fields. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const FIELD = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/y;
  while (FIELD.lastIndex < text.length) {
    const [, quoted, plain = '', end] = FIELD.exec(text) ?? [];
    if (end === undefined) throw new Error(`invalid CSV after ${rows.length} rows`);
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

process.exitCode = await main(process.argv.slice(2));
