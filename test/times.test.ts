import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { timePreview } from '@porthole/console/testing';
import { codeOf, parseSearchRequest, type RequestClock, readTime, timeText } from '@porthole/contract';
import { createZone } from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { formatInstant, formatTime, Invocation, timeFlag } from 'porthole/testing';
import { describe, expect, it } from 'vitest';

/* docs/times.md is the table of cases: what is written there holds for API, program and console. */

const HELSINKI = createZone('Europe/Helsinki');
const NOW_MS = Date.UTC(2026, 10, 15, 12);
const CLOCK: RequestClock = { nowMs: NOW_MS, offsetMsAt: HELSINKI.offsetMsAt };

const page = readFileSync(join(import.meta.dirname, '../docs/times.md'), 'utf8');
const [accepted = '', refused = ''] = page.split('## What is refused');
const parseRows = (text: string) =>
  [...text.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, a = '', b = '']) => [a, b]);
const CASES = parseRows(accepted);
const REFUSED = parseRows(refused);

/** Each reads a time on its own way: the instant, or the error. */
const READERS: Readonly<Record<string, (text: string, clock?: RequestClock) => string>> = {
  api: (text, clock = CLOCK) => {
    try {
      const { fromMs = Number.NaN } = parseSearchRequest(new URLSearchParams({ from: text }), clock, { maxRecords: 1 });
      return new Date(fromMs).toISOString();
    } catch (error) {
      expect(codeOf(error)).toBe('PARAMETER_INVALID');
      return (error as Error).message.replace(/^invalid "from" "(?:[^"\\]|\\.)*"(?:\.\.\.)?: /, '');
    }
  },
  program: (text, clock = CLOCK) => {
    try {
      const timeMs = timeFlag(new Invocation([], { since: text }, {} as never), 'since', clock) ?? Number.NaN;
      return new Date(timeMs).toISOString();
    } catch (error) {
      return (error as Error).message.replace(/^invalid --since "(?:[^"\\]|\\.)*": /, '');
    }
  },
  console: (text, clock = CLOCK) => {
    const shown = timePreview(text, clock, 'utc');
    const [, day, month, year, time] = /^(\d+) (\w+) (\d+) ([\d:.]+) UTC$/.exec(shown) ?? [];
    return day === undefined ? shown : new Date(`${day} ${month} ${year} ${time} UTC`).toISOString();
  },
};

describe.each(Object.entries(READERS))('the %s', (_, read) => {
  it.each(CASES)('reads %s as %s', (text, instant) => {
    expect(read(text)).toBe(instant);
  });

  it.each(REFUSED)('refuses %s: %s', (text, problem) => {
    expect(read(text)).toBe(problem);
  });
});

it('the page has every form', () => {
  expect(CASES.length).toBeGreaterThan(40);
  expect(REFUSED.length).toBeGreaterThan(10);
});

/** Texts near the grammar: made of its parts, in and out of order. */
const nearTimes = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'now',
        'today',
        'yesterday',
        'ago',
        'T',
        'Z',
        ' UTC',
        '+02:00',
        ' -0330',
        ' 05:30',
        ':',
        '.',
        '-',
        '@',
        ' ',
      ),
      fc.constantFrom(
        '2026-11-15',
        '2026-03-29',
        '2026-10-25',
        '14:05',
        '3:30',
        '23:59:60',
        '15m',
        '1h30m',
        '2 days',
        'CET',
      ),
      fc.integer({ min: 0, max: 2_000_000_000 }).map(String),
      fc.bigInt({ min: 0n, max: 10n ** 21n }).map(String),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(''));

it('all read any text alike', () => {
  fc.assert(
    fc.property(fc.oneof(nearTimes, fc.string({ minLength: 1 })), (text) => {
      const { api, program, console: shown } = READERS;
      if (text.trim() === '') return;
      const instant = api?.(text);
      expect(program?.(text)).toBe(instant);
      // The preview writes years as they are, this test reads only those of four digits back.
      if (!/^[-+0]/.test(instant ?? '')) expect(shown?.(text)).toBe(instant);
    }),
    { numRuns: runs(500) },
  );
});

describe('what is written is read back', () => {
  const instants = fc.integer({ min: Date.UTC(1974, 0), max: Date.UTC(2100, 0) });
  const zones = ['Europe/Helsinki', 'America/New_York', 'Asia/Kolkata', 'UTC', 'Australia/Lord_Howe'].map(createZone);

  it.each(zones)('in $name', (zone) => {
    const clock = { nowMs: NOW_MS, offsetMsAt: zone.offsetMsAt };
    const read = (text: string) => readTime(text, clock);
    fc.assert(
      fc.property(instants, (timeMs) => {
        expect(read(new Date(timeMs).toISOString())).toEqual({ timeMs });
        expect(read(formatInstant(timeMs, zone))).toEqual({ timeMs });
        expect(read(timeText(timeMs))).toEqual({ timeMs });
        expect(read(String(timeMs))).toEqual({ timeMs });
        expect(read(`${timeMs}123`)).toEqual({ timeMs });
        expect(read(`${timeMs}123456`)).toEqual({ timeMs });
        expect(read(String(Math.floor(timeMs / 1000)))).toEqual({ timeMs: Math.floor(timeMs / 1000) * 1000 });
        // The zone of log lines and that of the grammar are one: the earlier of two, and the same in a gap.
        const wall = formatTime(timeMs, zone);
        expect(read(wall)).toEqual({ timeMs: zone.toEpochMs(Date.parse(`${wall.replace(' ', 'T')}Z`)) });
      }),
      { numRuns: runs(250) },
    );
  });

  it('also before 1973 and far away, where bare milliseconds would be taken for another unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.integer({ min: -1e12, max: 1e12 }), (far, near) => {
        for (const timeMs of [far, near]) expect(readTime(timeText(timeMs), CLOCK)).toEqual({ timeMs });
      }),
    );
  });
});
