import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { levelRank } from '../parse/level.ts';
import { eventually } from '../testing/eventually.ts';
import { FIXTURES } from '../testing/formats/format-table.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FoundRecord, RecordFilter } from '../types.ts';
import { seededRandom } from './testing/seeded-random.ts';

/*
 * A filter by level or time decides by the heads of records, which are read without decoding them; what is shown is decoded.
 * The reference is what is shown without a filter.
 */

/** `MORE=20 SEED=1000` searches for new cases. */
const RUNS = Number(process.env.MORE ?? 1);
const FIRST_SEED = Number(process.env.SEED ?? 1);

const MOST_PADDING = 140 * 1024;

const MARKS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'0123456789-.'].map((mark, at) => [mark, 'abcdefghijkl'.charAt(at).repeat(3)]),
);

const TEXTS = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.log'))
  // Digits would make some of them rotated files of others.
  .map((name) => ({
    name: `${name.replaceAll(/[^a-z]/g, (mark) => MARKS[mark] ?? 'x')}.log`,
    text: `${readFileSync(new URL(name, FIXTURES), 'latin1').trimEnd()}\n`,
  }));

type Shown = Pick<FoundRecord, 'file' | 'offset' | 'level' | 'timeMs' | 'unfinished'>;

function keyOf({ file, offset, level, timeMs, unfinished }: Shown): string {
  return `${file} ${offset} ${level} ${timeMs} ${unfinished ?? false}`;
}

function isWanted({ level, timeMs }: Shown, { minLevel, fromMs = -Infinity, toMs = Infinity }: RecordFilter): boolean {
  if (minLevel !== undefined && (level === undefined || levelRank(level) < levelRank(minLevel))) return false;
  if (fromMs === -Infinity && toMs === Infinity) return true;
  return timeMs !== undefined && timeMs >= fromMs && timeMs < toMs;
}

/** Some lines of a log again, each made longer somewhere: what follows is that far from its start. */
function withLongLines(text: string, random: () => number): string {
  const lines = text.split('\n').slice(0, -1);
  const long = Array.from({ length: 3 }, () => {
    const line = lines[Math.floor(random() * lines.length)] ?? '';
    const at = Math.floor(random() * line.length);
    const padding = (random() < 0.5 ? 'x' : '-x ').repeat(MOST_PADDING);
    return line.slice(0, at) + padding.slice(0, Math.floor(random() * MOST_PADDING)) + line.slice(at);
  });
  return `${text}${long.join('\n')}\n${lines.join('\n')}\n`;
}

async function expectFilters(logs: LogDir, name: string): Promise<void> {
  const { records } = await runSearch(logs, { src: [`=${name}`] });
  const times = records.flatMap(({ timeMs }) => timeMs ?? []).sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)] ?? 0;
  const filters: RecordFilter[] = [{ minLevel: 'ERROR' }, { minLevel: 'TRACE' }, { fromMs: middle }, { toMs: middle }];
  for (const [index, filter] of filters.entries()) {
    const found = await runSearch(logs, { src: [`=${name}`], order: index % 2 ? 'newest' : 'oldest', ...filter });
    const expected = records.filter((record) => isWanted(record, filter)).map(keyOf);
    expect({ name, filter, found: found.records.map(keyOf).toSorted() }).toEqual({
      ...{ name, filter },
      found: expected.toSorted(),
    });
  }
}

test('a search with a filter finds what is shown without it, however far into a line time and level stand', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const random = seededRandom(seed);
    const dir = tempDir();
    for (const { name, text } of TEXTS) writeFileSync(join(dir, name), withLongLines(text, random), 'latin1');
    const logs = openDir(dir);
    for (const { name } of TEXTS) await expectFilters(logs, name);
  }
});

/** What a follow of all logs has emitted. */
function collect(
  logs: LogDir,
  filter: RecordFilter,
  signal: AbortSignal,
): { items: FollowItem[]; ready: Promise<void> } {
  const items: FollowItem[] = [];
  const follow = logs.follow({ start: 'end', ...filter }, { signal, positions: true });
  const ready = (async () => {
    const first = await follow.next();
    if (!first.done) items.push(...first.value);
  })();
  void ready.then(async () => {
    for await (const more of { [Symbol.asyncIterator]: () => follow }) items.push(...more);
  });
  return { items, ready };
}

/** The records; later parts of one have its time and level, which only the first shows. */
function recordsOf(items: readonly FollowItem[]): FoundRecord[] {
  const firsts = new Map<string, FoundRecord>();
  return items.flatMap((item) => {
    if (item.type !== 'record') return [];
    const { timeMs: _timeMs, level: _level, ...part } = item;
    const first = firsts.get(item.file);
    if (item.continued && first) return { ...part, ...timeAndLevel(first) };
    firsts.set(item.file, item);
    return item;
  });
}

function timeAndLevel({ timeMs, level }: FoundRecord): Pick<FoundRecord, 'timeMs' | 'level'> {
  return { ...(timeMs !== undefined && { timeMs }), ...(level && { level }) };
}

test('a follow with a filter emits what it emits without it, in whatever pieces logs are written', async () => {
  const filters: RecordFilter[] = [{ minLevel: 'ERROR' }, { minLevel: 'WARN' }, { fromMs: Date.UTC(2026, 10, 15) }];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const random = seededRandom(seed);
    const dir = tempDir();
    const rests = new Map(TEXTS.map(({ name, text }) => [name, text]));
    for (const { name, text } of TEXTS) writeFileSync(join(dir, name), text, 'latin1');
    const logs = openDir(dir);
    // Logs without times are followed only by their names.
    const timed = new Set((await runSearch(logs, {})).records.map(({ file }) => file));
    const stopping = new AbortController();
    const all = collect(logs, {}, stopping.signal);
    const some = filters.map((filter) => ({ filter, ...collect(logs, filter, stopping.signal) }));
    await Promise.all([all, ...some].map(({ ready }) => ready));
    while (rests.size > 0) {
      for (const [name, rest] of rests) {
        const length = Math.ceil(random() * random() * 400);
        appendFileSync(join(dir, name), rest.slice(0, length), 'latin1');
        rests.set(name, rest.slice(length));
        if (rest.length <= length) rests.delete(name);
      }
      await delay(random() * 4); // pause: lines arrive in several reads
    }
    await eventually(() => {
      const records = recordsOf(all.items);
      const ends = new Map(records.map(({ file, offset, bytes }) => [file, offset + bytes]));
      for (const { name, text } of TEXTS)
        if (timed.has(name)) expect([name, ends.get(name)]).toEqual([name, 2 * text.length]);
      for (const { filter, items } of some) {
        const expected = records.filter((record) => isWanted(record, filter)).map(keyOf);
        expect({ filter, found: recordsOf(items).map(keyOf).toSorted() }).toEqual({
          filter,
          found: expected.toSorted(),
        });
      }
    });
    stopping.abort();
  }
});
