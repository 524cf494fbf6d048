import { readFileSync } from 'node:fs';
import { BUILT_IN_FORMATS } from '../../parse/detect-format.ts';
import type { Format } from '../../parse/format.ts';
import { createZone } from '../../parse/zone.ts';
import { LOG_SYSTEMS } from './systems.ts';

export const FIXTURES = new URL('../../parse/fixtures/', import.meta.url);

/** A zone that is neither UTC nor, most likely, the local zone; and when fixtures were written that do not say so. */
export const FIXTURE_ZONE = 'Asia/Shanghai';
export const FIXTURE_WRITTEN_MS = Date.parse('2026-11-15T00:30:00Z');

/** What is compared of a record: its time in UTC and its level, if it has them. */
export interface JudgedRecord {
  time?: string;
  level?: string;
}

/** What is wrong, or nothing. */
export type Verdict = readonly ('records' | 'times' | 'levels' | 'not recognised')[];

/** The records that a fixture has, and when it was written. */
export function readTruth(fixture: string): { records: JudgedRecord[]; writtenMs: number } {
  const { records, written } = JSON.parse(readFileSync(new URL(`${fixture}.json`, FIXTURES), 'utf8')) as {
    records: JudgedRecord[];
    written?: string;
  };
  return { records, writtenMs: written === undefined ? FIXTURE_WRITTEN_MS : Date.parse(written) };
}

/** The same number of records, times and levels in the same order. */
function judge(found: readonly JudgedRecord[], truth: readonly JudgedRecord[]): Verdict {
  const isSame = (key: 'time' | 'level') =>
    found.length === truth.length && truth.every((record, index) => record[key] === found[index]?.[key]);
  return [
    ...(found.length === truth.length ? [] : (['records'] as const)),
    ...(isSame('time') ? [] : (['times'] as const)),
    ...(isSame('level') ? [] : (['levels'] as const)),
  ];
}

/** How Porthole reads a fixture. */
export function judgeFixture(fixture: string): { format: string; verdict: Verdict } {
  const bytes = readFileSync(new URL(`${fixture}.log`, FIXTURES));
  const { records, writtenMs } = readTruth(fixture);
  const format = BUILT_IN_FORMATS.detect(bytes, { zone: createZone(FIXTURE_ZONE), writtenMs });
  return { format: format.name, verdict: judge(readRecords(bytes, format), records) };
}

function readRecords(bytes: Buffer, format: Format): JudgedRecord[] {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length; start = bytes.indexOf(10, start) + 1 || bytes.length) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    if (starts.length === 0 || format.readHead(bytes, start, end, { timeMs: 0, rank: 0 })) starts.push(start);
  }
  return starts.map((start, index) => {
    const { timeMs, level } = format.decode(bytes, start, starts[index + 1] ?? bytes.length);
    return { ...(timeMs !== undefined && { time: new Date(timeMs).toISOString() }), ...(level && { level }) };
  });
}

/** How lnav reads the fixtures, as `npm run formats -- --write` noted it. */
export interface LnavVerdicts {
  version: string;
  verdicts: Record<string, Verdict>;
}

export function readLnavVerdicts(): LnavVerdicts {
  return JSON.parse(readFileSync(new URL('lnav.json', FIXTURES), 'utf8')) as LnavVerdicts;
}

/** The table of systems in Markdown, with a last line that counts what is read right. */
export function formatTable({ version, verdicts }: LnavVerdicts): string {
  let right = 0;
  let lnavRight = 0;
  const rows = LOG_SYSTEMS.map(({ system, fixture, missing }) => {
    if (fixture === undefined) return `| ${system} | | ${missing} | |`;
    const { format, verdict } = judgeFixture(fixture);
    const lnav = verdicts[fixture];
    if (verdict.length === 0) right++;
    if (lnav?.length === 0) lnavRight++;
    return `| ${system} | \`${format}\` | ${shown(verdict)} | ${lnav ? shown(lnav) : ''} |`;
  });
  const total = LOG_SYSTEMS.length;
  return [
    `| system | format | Porthole | ${version} |`,
    '|---|---|---|---|',
    ...rows,
    `| read right | | ${right} of ${total} | ${lnavRight} of ${total} |`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function shown(verdict: Verdict): string {
  if (verdict.length === 0) return 'right';
  return verdict.includes('not recognised') ? 'not recognised' : `wrong: ${verdict.join(', ')}`;
}
