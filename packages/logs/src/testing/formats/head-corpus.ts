import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_IN_FORMATS } from '../../parse/detect-format.ts';
import type { Format } from '../../parse/format.ts';
import { createZone } from '../../parse/zone.ts';

/** A log with the truth about it; `FORMAT.md` beside the logs explains the keys. */
interface Truth {
  zone: string;
  modified: string;
  quiet?: boolean;
  unjudged?: readonly string[];
  records: readonly TrueRecord[];
}

interface TrueRecord {
  line: number;
  time: string | null;
  level: string | null;
}

export interface JudgedFile {
  name: string;
  format: string;
  /** What is wrong, the first line of each kind; nothing if all of it is right. */
  problems: string[];
}

/** Reads every log of a directory that has its truth beside it. */
export function judgeCorpus(directory: string): JudgedFile[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => judgeFile(directory, name.replace(/\.log$/, '')));
}

function judgeFile(directory: string, name: string): JudgedFile {
  const bytes = readFileSync(join(directory, `${name}.log`));
  const truth = JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8')) as Truth;
  const format = BUILT_IN_FORMATS.detect(bytes, {
    zone: createZone(truth.zone),
    writtenMs: Date.parse(truth.modified),
  });
  const found = readRecords(bytes, format);
  return { name, format: format.name, problems: truth.quiet ? judgeQuiet(found) : judge(found, truth) };
}

function judgeQuiet(found: readonly TrueRecord[]): string[] {
  const loud = found.find(({ time, level }) => time !== null || level !== null);
  return loud ? [`line ${loud.line}: ${show(loud)}, but there is nothing to be read`] : [];
}

function judge(found: readonly TrueRecord[], { records, unjudged = [] }: Truth): string[] {
  const problems: string[] = [];
  const lines = new Set(records.map(({ line }) => line));
  const foundLines = new Map(found.map((record) => [record.line, record]));
  const added = found.find(({ line }) => !lines.has(line));
  const missing = records.find(({ line }) => !foundLines.has(line));
  if (added) problems.push(`line ${added.line} starts no record`);
  if (missing) problems.push(`line ${missing.line} starts a record`);
  for (const key of ['time', 'level'] as const) {
    if (unjudged.includes(key)) continue;
    const wrong = records.filter((record) => {
      const other = foundLines.get(record.line);
      return other && other[key] !== record[key];
    });
    const [first] = wrong;
    if (first)
      problems.push(
        `line ${first.line}: ${key} ${foundLines.get(first.line)?.[key]}, not ${first[key]} (${wrong.length} of ${records.length})`,
      );
  }
  return problems;
}

function show({ time, level }: TrueRecord): string {
  return [time, level].filter(Boolean).join(' ');
}

function readRecords(bytes: Buffer, format: Format): TrueRecord[] {
  const starts: { start: number; line: number }[] = [];
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    if (starts.length === 0 || format.readHead(bytes, start, end, { timeMs: 0, rank: 0 })) starts.push({ start, line });
    start = end;
  }
  return starts
    .map(({ start, line: at }, index) => {
      const end = starts[index + 1]?.start ?? bytes.length;
      const { timeMs, level } = format.decode(bytes, start, end);
      const isBlank = bytes.toString('utf8', start, end).trim() === '';
      return {
        line: at,
        time: timeMs === undefined ? null : new Date(timeMs).toISOString(),
        level: level ?? null,
        isBlank,
      };
    })
    .filter(({ isBlank }) => !isBlank);
}
