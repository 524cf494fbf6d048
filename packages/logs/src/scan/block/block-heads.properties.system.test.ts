import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { ScanKernel } from '../../kernel/scan-kernel.ts';
import { BUILT_IN_FORMATS, createFormat } from '../../parse/detect-format.ts';
import type { Format, LineHead } from '../../parse/format.ts';
import { createZone } from '../../parse/zone.ts';
import { BlockScanner } from './block-scanner.ts';
import { BLOCK_BYTES, blockAt, ERROR_RANK } from './blocks.ts';

/*
 * The scan finds heads by the kernel, which compares times with those it has learned, and asks the format about lines of
 * which it is not sure. The reference asks the format about every line.
 */

const FIXTURES = [
  fileURLToPath(new URL('../../../fixtures/heads/', import.meta.url)),
  fileURLToPath(new URL('../../parse/fixtures/', import.meta.url)),
  fileURLToPath(new URL('../../parse/fixtures/real/', import.meta.url)),
];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York'].map((name) => createZone(name));
const kernel = new ScanKernel();

interface Fixture {
  name: string;
  bytes: Buffer;
  writtenMs: number;
}

const fixtures: Fixture[] = FIXTURES.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => ({ name, bytes: readFileSync(`${folder}${name}`), writtenMs: Date.parse('2026-11-18T10:00:00Z') })),
);

interface Head {
  at: number;
  timeMs: number;
  rank: number;
}

/** Lines as they are read one by one. */
function slowHeads(bytes: Buffer, format: Format): Head[] {
  const heads: Head[] = [];
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    if (bytes[start] !== 10 && format.readHead(bytes, start, end, head)) heads.push({ at: start, ...head });
    start = end;
  }
  return heads;
}

function scannerOf(bytes: Buffer, format: Format): BlockScanner {
  const text = {
    sizeBytes: bytes.length,
    read: (target: Buffer, at: number, position: number, length: number) =>
      bytes.copy(target, at, position, Math.min(bytes.length, position + length)),
  };
  return new BlockScanner(kernel, text, { format });
}

/** For each block the time of its first head, and where the head is that follows the block. */
function blockEnds(bytes: Buffer, format: Format): { firstMs: number; nextAt: number }[] {
  const scanner = scannerOf(bytes, format);
  return Array.from({ length: Math.ceil(bytes.length / BLOCK_BYTES) }, (_, block) => {
    scanner.load(block);
    return { firstMs: scanner.firstTime(), nextAt: scanner.toOffset(scanner.recordsEnd()) };
  });
}

/** The same by the heads of all lines. Where none follows within a block, it is not known. */
function slowBlockEnds(bytes: Buffer, heads: readonly Head[]): { firstMs: number; nextAt: unknown }[] {
  return Array.from({ length: Math.ceil(bytes.length / BLOCK_BYTES) }, (_, block) => {
    const [start, end] = [block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES];
    const first = heads.find(({ at }) => (block === 0 ? at === 0 : at >= start && at < end));
    const next = heads.find(({ at }) => at >= end && at < end + BLOCK_BYTES);
    return { firstMs: first?.timeMs ?? Number.NaN, nextAt: next?.at ?? expect.any(Number) };
  });
}

/** The blocks of which it is known that they have no errors, without looking at their heads. */
function blocksWithoutErrors(bytes: Buffer, format: Format): number[] {
  const scanner = scannerOf(bytes, format);
  return Array.from({ length: Math.ceil(bytes.length / BLOCK_BYTES) }, (_, block) => block).filter((block) => {
    scanner.load(block);
    return !scanner.mayHaveErrors();
  });
}

/** The heads of all blocks, as a scan finds them. */
function scannedHeads(bytes: Buffer, format: Format): { heads: Head[]; unsure: number } {
  const scanner = scannerOf(bytes, format);
  const heads: Head[] = [];
  let unsure = 0;
  for (let block = 0; block * BLOCK_BYTES < bytes.length; block++) {
    scanner.load(block);
    const { count, starts, times, ranks } = scanner.records();
    unsure += kernel.reached[1] ?? 0;
    for (let index = 0; index < count; index++) {
      const start = starts[index] ?? 0;
      // What precedes the first head is a record, too.
      if (index === 0 && !scanner.headAt(start)) continue;
      heads.push({ at: scanner.toOffset(start), timeMs: times[index] ?? 0, rank: ranks[index] ?? 0 });
    }
  }
  return { heads, unsure };
}

function expectSame(bytes: Buffer, spec: string, options: Parameters<typeof createFormat>[1]): void {
  const slow = slowHeads(bytes, createFormat(spec, options));
  const format = createFormat(spec, options);
  const errors = new Set(slow.filter(({ rank }) => rank >= ERROR_RANK).map(({ at }) => blockAt(at)));
  expect(blocksWithoutErrors(bytes, format).filter((block) => errors.has(block))).toEqual([]);
  for (let pass = 0; pass < 2; pass++) expect(blockEnds(bytes, format)).toEqual(slowBlockEnds(bytes, slow));
  // What is learned in the first pass is used in the second one.
  for (let pass = 0; pass < 2; pass++) {
    const { heads } = scannedHeads(bytes, format);
    const wrong = heads.findIndex((head, index) => !isSame(head, slow[index]));
    if (wrong < 0 && heads.length === slow.length) continue;
    const at = Math.min(heads[wrong]?.at ?? Infinity, slow[wrong]?.at ?? slow[heads.length]?.at ?? Infinity);
    const line = bytes.toString('latin1', at, bytes.indexOf(10, at));
    expect.fail(
      `${spec.split('~')[0]}: ${JSON.stringify(line)} is ${JSON.stringify(heads[wrong])}, not ${JSON.stringify(slow[wrong])} in ${options.zone.name}`,
    );
  }
}

function isSame(one: Head, other: Head | undefined): boolean {
  return one.at === other?.at && Object.is(one.timeMs, other.timeMs) && one.rank === other.rank;
}

/** Numbers that are the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return (((state ^ (state >>> 13)) >>> 0) / 2 ** 32) * below;
  };
}

/** What may be taken for a part of a time, a level or an envelope, or end a line. */
const PIECES = [
  ...[' UTC', ' CET', ' EST ', 'Z', '+0100', ' +01:00', ' -03', ' -03 [', ' PM', ' am', ' a.m.', ' 2026', ' 2026 CET'],
  ...['.5', ',123', ':7', ':118', '[UTC]', ' (CET)', '[Etc/UTC]', ' Etc/UTC', '.1234567890123', ',1234567890', ' - '],
  ...['\r', '\0', '\x1b[31m', '\xef\xbb\xbf', '<34>', '<34>1 ', '{"', '{"a":1}', '- ', '  ', '\t', ' ', '\xe2\x80\xaf'],
  ...[
    'ERROR',
    '[error]',
    'level=warn',
    'level="event" ',
    'D1',
    ' D ',
    ' X ',
    'debug 1:',
    'DEBUG2',
    'fatal error',
    'INFO+2',
  ],
  ...['DEBUG-4', 'warn: ', 'Error: ', 'W', '<E>', '(info)', '[', ']', '[ WARN ]', '|', '"', "'", ':', ': ', ': {', '.'],
  ...[' "GET / HTTP/1.1" 404 ', '| 500 |', ' GET /x 301 ', '/503 ', '%SYS-3-X: ', '] 12 +', '] 12 |', '0/0/0/1/1 404 '],
  ...[
    'LOG:  ',
    'DETAIL:  ',
    'ERROR:  ',
    'STATEMENT:  ',
    'got signal 11',
    'was terminated by signal',
    'exception',
    'sshd[1]: ',
  ],
  ...['0', '1', '9', '23', '60', '99', '2026', '2026-11-17', '17/Nov/2026', 'Nov 17', 'Mon ', 'x', 'mär', '@4', '_'],
];

const HEAD_BYTES = 90;

function mutate(line: string, random: (below: number) => number, others: readonly string[]): string {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random(list.length))] as T;
  const at = Math.floor(random(Math.min(line.length + 1, HEAD_BYTES)));
  switch (Math.floor(random(9))) {
    case 0:
    case 1:
      return line.replace(/\d\d:\d\d:\d\d/, () => {
        const parts = [24.2, 60.2, 60.4].map((below) => String(Math.floor(random(below))).padStart(2, '0'));
        return parts.join(':');
      });
    case 2:
      return line.slice(0, at) + pick(PIECES) + line.slice(at);
    case 3:
      return line.slice(0, at) + pick(PIECES) + line.slice(at + 1 + Math.floor(random(6)));
    case 4:
      return line.slice(0, at) + line.slice(at + 1 + Math.floor(random(4)));
    case 5:
      return line.slice(0, at);
    case 6:
      return line.slice(0, at) + pick(others).slice(Math.max(0, at + Math.floor(random(5)) - 2));
    case 7:
      return line.replace(/\d(?=\D)/g, (digit) => (random(6) < 1 ? String(Math.floor(random(10))) : digit));
    default:
      return line.replace(/(\d\d:\d\d:\d\d(?:[.,]\d+)?)/, (clock) => clock + pick(PIECES));
  }
}

/** Lines of a fixture, as they are and changed, with some line ends of other systems. */
function generateText({ bytes }: Fixture, random: (below: number) => number, count: number): Buffer {
  const lines = bytes.toString('latin1').split(/\r?\n/);
  const text: string[] = [...lines];
  for (let index = 0; index < count; index++) {
    let line = lines[Math.floor(random(lines.length))] ?? '';
    for (let changes = 1 + Math.floor(random(2)); changes > 0; changes--) line = mutate(line, random, lines);
    text.push(line + (random(10) < 1 ? '\r' : ''));
  }
  return Buffer.from(text.join('\n') + (random(2) < 1 ? '\n' : ''), 'latin1');
}

describe('records found by the kernel are those that the format finds line by line', () => {
  for (const [index, zone] of ZONES.entries()) {
    test(`in all kinds of logs, and in changed lines of them, in ${zone.name}`, () => {
      const random = createRandom(1 + index);
      for (const fixture of fixtures) {
        const { bytes, writtenMs } = fixture;
        const { spec } = BUILT_IN_FORMATS.detect(bytes, { zone, writtenMs });
        expectSame(bytes, spec, { zone, writtenMs });
        expectSame(generateText(fixture, random, 30), spec, { zone, writtenMs });
      }
    });
  }

  test('in texts of several blocks, at whatever position of a block a line is', () => {
    const random = createRandom(77);
    for (const name of [
      'log4j.log',
      'nginx-access.log',
      'syslog.log',
      'klog.log',
      'redis.log',
      'porthole.log',
      'lindb-broker.log',
      'postgresql.log',
      'spring.log',
      'python-basic.log',
      'kibana-json.log',
      'logrus-json-run.log',
      'etcd-json.log',
    ]) {
      const fixture = fixtures.find((each) => each.name === name);
      if (!fixture) continue;
      const { bytes, writtenMs } = fixture;
      const { spec } = BUILT_IN_FORMATS.detect(bytes, { zone: createZone('UTC'), writtenMs });
      const parts = Array.from({ length: 20 }, () => generateText(fixture, random, 200));
      const text = Buffer.concat([...parts, Buffer.from('x'.repeat(300_000)), ...parts]);
      for (const zone of ZONES) expectSame(text, spec, { zone, writtenMs });
    }
  });
});

/** Two days around the end of summer time, a line each minute. */
function everyMinute(render: (date: Date) => string): Buffer {
  const startMs = Date.parse('2026-10-24T12:00:00Z');
  const lines = Array.from({ length: 2 * 1440 }, (_, minute) => render(new Date(startMs + minute * 60_007)));
  return Buffer.from(`${lines.join('\n')}\n`);
}

const iso = (date: Date) => date.toISOString();
const SPELLINGS: Readonly<Record<string, (date: Date) => string>> = {
  log4j: (date) => `${iso(date).slice(0, -1).replace('T', ' ').replace('.', ',')} WARN  [main] org.Log: text`,
  iso: (date) => `${iso(date)} [error] text`,
  offset: (date) => `${iso(date).slice(0, -1)}+02:00 INFO text`,
  own: (date) => `${iso(date).slice(0, -1).replace('T', ' ')}\tINFO\ta.go:1\ttext`,
  clock: (date) => `${iso(date).slice(11, 19)} INFO text`,
  syslog: (date) => `Oct ${iso(date).slice(8, 10)} ${iso(date).slice(11, 19)} host app[1]: error: text`,
  access: (date) =>
    `10.0.0.1 - - [${iso(date).slice(8, 10)}/Oct/2026:${iso(date).slice(11, 19)} +0100] "GET / HTTP/1.1" 404 5`,
  gin: (date) =>
    `[GIN] ${iso(date).slice(0, 10).replaceAll('-', '/')} - ${iso(date).slice(11, 19)} | 500 | 1ms | 1.1.1.1 | GET "/"`,
  klog: (date) => `W10${iso(date).slice(8, 10)} ${iso(date).slice(11, 23)}456    1 a.go:1] text`,
  python: (date) => `${iso(date).slice(0, 19).replace('T', ' ')},123 - app.module - ERROR - text`,
  json: (date) => `{"ts":"${iso(date)}","level":"warning","msg":"text"}`,
  'json, the level first': (date) => `{"level":30,"time":"${iso(date).slice(0, -1)}+01:00","msg":"text"}`,
  logfmt: (date) => `time="${iso(date).slice(0, 19)}Z" level=warning msg="text"`,
};

describe('the kernel reads nearly every line itself', () => {
  for (const [name, render] of Object.entries(SPELLINGS)) {
    test(`of ${name}, and right where clocks change`, () => {
      const bytes = everyMinute(render);
      const writtenMs = Date.parse('2026-10-26T13:00:00Z');
      for (const zone of ZONES) {
        const { spec } = BUILT_IN_FORMATS.detect(bytes, { zone, writtenMs });
        expectSame(bytes, spec, { zone, writtenMs });
        const format = createFormat(spec, { zone, writtenMs });
        scannedHeads(bytes, format);
        const { heads, unsure } = scannedHeads(bytes, format);
        expect(heads.length).toBe(2880);
        expect(heads[7]?.rank).toBeGreaterThan(0);
        expect(unsure).toBeLessThan(200);
      }
    });
  }

  test('also the first one of each block, when nothing else of a block is read', () => {
    const day = everyMinute(SPELLINGS.own as (date: Date) => string);
    const bytes = Buffer.concat(Array.from({ length: 40 }, () => day));
    const options = { zone: createZone('UTC'), writtenMs: Date.parse('2026-10-26T13:00:00Z') };
    const format = createFormat(BUILT_IN_FORMATS.detect(bytes, options).spec, options);
    const readHead = vi.spyOn(format, 'readHead');
    expect(blockEnds(bytes, format).length).toBeGreaterThan(10);
    // The first line of the text, and one of each day.
    expect(readHead.mock.calls.length).toBeLessThan(8);
  });
});
