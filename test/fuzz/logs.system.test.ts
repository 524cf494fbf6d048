import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createZone, decodeRecord } from '@porthole/logs';
import {
  BUILT_IN_FORMATS,
  buildGzMap,
  createFormat,
  FORMAT_NAMES,
  gzFile,
  parseTimestamp,
  RegexPrefilter,
} from '@porthole/logs/testing';
import { describe, expect } from 'vitest';
import { fuzz } from './testing/fuzz.ts';

const SAMPLES = join(import.meta.dirname, '../../packages/logs/src/parse/fixtures');
const OPTIONS = { zone: createZone('Europe/Berlin'), writtenMs: Date.UTC(2026, 10, 15) };
const WRAPPED = ['docker+json', 'docker+ansi+text', 'cri+glog'] as const;
const FORMATS = [...FORMAT_NAMES, ...WRAPPED].map((name) => createFormat(name, OPTIONS));
const MIB = 1024 ** 2;

/** The first lines of every kind of log there is a sample of. */
const LINES = readdirSync(SAMPLES)
  .filter((name) => name.endsWith('.log'))
  .map((name) => readFileSync(join(SAMPLES, name)).subarray(0, 600));

fuzz('records', {
  corpus: LINES,
  runs: 250,
  check(input) {
    const head = { timeMs: 0, rank: 0 };
    for (const format of [...FORMATS, BUILT_IN_FORMATS.detect(input, OPTIONS)]) {
      if (format.readHead(input, 0, input.length, head)) expect([0, 1, 2, 3, 4, 5, 6]).toContain(head.rank);
      expect(format.decode(input, 0, input.length).message).toBeTypeOf('string');
    }
    expect(decodeRecord(input)).toBeTypeOf('object');
  },
});

fuzz('timestamps', {
  corpus: ['2026-11-15 05:00:00.000', '2024-02-29 23:59:60', '1970-01-01 00:00:00.123456789', '0000-12-31 24:00:00'],
  check(input) {
    const time = parseTimestamp(input, 0, input.length);
    if (!time) return;
    expect([Number.isInteger(time.localMs), time.end <= input.length]).toEqual([true, true]);
    // What was read is the time that is written there.
    const wholeSeconds = Math.floor(time.localMs / 1000) * 1000;
    const [date = '', clock = ''] = input.toString('latin1', 0, 19).split(' ');
    if (!clock.endsWith(':60') && date > '0100')
      expect(new Date(wholeSeconds).toISOString().slice(0, 19)).toBe(`${date}T${clock}`);
  },
});

fuzz('regular expressions', {
  corpus: [
    'took":"[0-9]{3}ms.*family',
    '(?i:error|warn(ing)?)\\b',
    '^\\s*at [\\w.$]+\\(([^)]*)\\)$',
    '[[:alpha:]]+\\x{1F600}\\pL(?P<name>a{2,5}?)',
    '((a{1,100}){1,100}){1,100}',
    '(?:(?:(?:a|b)*)*)*c',
    '[^\\x00-\\x{10FFFF}]|\\Q.*\\E|\\C',
  ],
  runs: 400,
  check(input) {
    for (const caseSensitive of [false, true]) {
      const filter = new RegexPrefilter(input.toString(), { caseSensitive });
      for (const texts of filter.textSets) expect(Object.keys(texts)).toBeDefined();
      expect(filter.automaton === undefined || typeof filter.automaton === 'object').toBe(true);
    }
  },
});

describe('archives', () => {
  const text = Buffer.from('2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: text\n'.repeat(50));
  let file: ReturnType<typeof gzFile> | undefined;
  fuzz('archives', {
    corpus: [gzipSync(text), Buffer.concat([gzipSync('a\n'), gzipSync(text)]), gzipSync(Buffer.alloc(4 * MIB))],
    runs: 250,
    check(input) {
      file ??= gzFile();
      const { fd, sizeBytes } = file(input);
      const map = buildGzMap(fd, sizeBytes, { maxTextBytes: 16 * MIB });
      expect(map.textBytes).toBeLessThanOrEqual(16 * MIB);
    },
  });
});
