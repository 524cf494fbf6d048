import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ScanKernel } from '../../kernel/scan-kernel.ts';
import { createFormat } from '../../parse/detect-format.ts';
import { Scrubber, type ScrubRules } from '../../scrub/scrubber.ts';
import { BERLIN } from '../../testing/random-record.ts';
import { runSearch } from '../../testing/run-search.ts';
import { openDir } from '../../testing/temp-dir.ts';
import { DISORDER_MS, firstAt, seekTime } from './seek-time.ts';

const kernel = new ScanKernel();
const scrubberFor = (rules: ScrubRules) => new Scrubber(rules);
const START = Date.parse('2026-06-01T10:00:00Z');
const wall = (epochMs: number) =>
  new Date(epochMs + BERLIN.offsetMsAt(epochMs)).toISOString().slice(0, -1).replace('T', ' ');

/** A file that is open until the test ends, as passed to a job. */
function scanFile(path: string, textBytes: number) {
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  const writtenMs = 0;
  const file = {
    name: 'a.log',
    fd,
    sizeBytes: textBytes,
    textBytes,
    packedMap: undefined,
    textStart: 0,
    start: undefined,
    scrub: undefined,
    format: 'contract' as const,
    zone: BERLIN.name,
    writtenMs,
  };
  const format = createFormat('contract', { zone: BERLIN, writtenMs });
  return { file, tools: { kernel, format, zone: BERLIN, isCancelled: () => false, isDue: () => false, scrubberFor } };
}

interface Line {
  offset: number;
  timeMs: number;
}

/** Records with disorder, long continuations, and holes; their offsets and times. */
function renderLog(steps: readonly { stepMs: number; lateMs: number; more: number; hole: number }[]): {
  text: Buffer;
  lines: Line[];
} {
  const parts: Buffer[] = [];
  const lines: Line[] = [];
  let nowMs = START;
  let length = 0;
  for (const { stepMs, lateMs, more, hole } of steps) {
    nowMs += stepMs;
    const part = Buffer.concat([
      Buffer.from(`${wall(nowMs - lateMs)}\tINFO\ta.go:1\tx${'\n\tat main()'.repeat(more)}\n`),
      Buffer.alloc(hole),
      Buffer.from(hole > 0 ? '\n' : ''),
    ]);
    lines.push({ offset: length, timeMs: nowMs - lateMs });
    parts.push(part);
    length += part.length;
  }
  return { text: Buffer.concat(parts), lines };
}

const step = fc.record({
  stepMs: fc.oneof(fc.nat(2000), fc.nat(600_000)),
  lateMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(DISORDER_MS) }),
  more: fc.oneof({ weight: 8, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.constant(9000) }),
  hole: fc.oneof(
    { weight: 30, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(20_000, 300_000, 3_000_000) },
  ),
});

describe('seeking a time', () => {
  test('omits no match, and finds the first record that is not older', () => {
    const path = join(tempDir(), 'a.log');
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 30 }),
        fc.nat(9),
        fc.array(fc.nat(10_000), { minLength: 4, maxLength: 4 }),
        (pattern, times, picks) => {
          // The holes once, the rest often enough that there is something to bisect.
          const plain = pattern.map((one) => ({ ...one, hole: 0, more: Math.min(one.more, 3) }));
          const { text, lines } = renderLog([pattern, ...Array.from({ length: times * 30 }, () => plain)].flat());
          writeFileSync(path, text);
          const { file, tools } = scanFile(path, text.length);
          for (const pick of picks) {
            const timeMs = (lines[pick % lines.length]?.timeMs ?? 0) + (pick % 3) - 1;
            const first = lines.find((line) => line.timeMs >= timeMs);
            expect(firstAt(file, { timeMs }, tools).offset).toBe(first?.offset ?? text.length);
            const { startBytes, endBytes } = seekTime(file, { fromMs: timeMs, toMs: timeMs + 5000 }, tools);
            for (const line of lines) {
              const isWanted = line.timeMs >= timeMs && line.timeMs < timeMs + 5000;
              if (isWanted) expect(line.offset >= startBytes && line.offset < endBytes).toBe(true);
            }
          }
        },
      ),
      { numRuns: runs(8) },
    );
  });

  test('takes a few dozen small reads in a file of 2 GiB', () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    const size = 2 * 1024 ** 3;
    const fd = openSync(path, 'w');
    // Records at every 64 KiB, each with a different time, and nothing but holes between them.
    const spacing = 64 * 1024;
    const stepMs = 1000;
    for (let offset = 0; offset < size; offset += spacing) {
      writeSync(
        fd,
        `${offset === 0 ? '' : '\n'}${wall(START + (offset / spacing) * stepMs)}\tINFO\ta.go:1\tx\n`,
        offset,
      );
    }
    writeSync(fd, '\n', size - 1);
    closeSync(fd);
    const { file, tools } = scanFile(path, size);
    const timeMs = START + 20_000 * stepMs;
    const before = threadReads();
    const { startBytes, endBytes } = seekTime(file, { fromMs: timeMs, toMs: timeMs + 60_000 }, tools);
    const after = threadReads();
    expect(startBytes).toBeLessThanOrEqual(20_000 * spacing + 1);
    expect(endBytes).toBeGreaterThan(20_060 * spacing);
    expect(after.count - before.count).toBeLessThan(150);
    expect(after.bytes - before.bytes).toBeLessThan(3 * 1024 ** 2);
    expect(endBytes - startBytes).toBeLessThan((60 + (4 * DISORDER_MS) / stepMs) * spacing);
    expect(firstAt(file, { timeMs }, tools).offset).toBe(20_000 * spacing + 1);
  });
});

/** Reads of this thread so far, as counted by the system. */
function threadReads(): { count: number; bytes: number } {
  const text = readFileSync('/proc/thread-self/io', 'utf8');
  const number = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(text)?.[1]);
  return { count: number('syscr'), bytes: number('rchar') };
}

describe('around clock changes', () => {
  /** Lines written by a host whose clock has a fixed offset to UTC. */
  const fixed = (from: string, offsetHours: number) =>
    Array.from({ length: 6000 }, (_, index) => {
      const time = new Date(Date.parse(from) + index * 2400 + offsetHours * 3_600_000).toISOString();
      return `${time.slice(0, -1).replace('T', ' ')}\tINFO\ta.go:1\tline ${index} ${'-'.repeat(40)}\n`;
    }).join('');
  const following = (from: string) =>
    Array.from(
      { length: 6000 },
      (_, index) => `${wall(Date.parse(from) + index * 2400)}\tINFO\ta.go:1\tline ${index} ${'-'.repeat(40)}\n`,
    ).join('');

  const cases: [string, string][] = [
    ['back, by a host that follows them', following('2026-10-24T23:00:00Z')],
    ['back, by a host that does not', fixed('2026-10-24T23:00:00Z', 2)],
    ['forward, by a host that follows them', following('2026-03-29T00:00:00Z')],
    ['forward, by a host that does not', fixed('2026-03-29T00:00:00Z', 1)],
  ];
  test.each(cases)('%s, a time range finds every record in it', async (_, text) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), text);
    const logs = openDir(dir, { zone: BERLIN });
    const { records } = await runSearch(logs, { src: ['=a.log'] });
    expect(records.length).toBe(6000);
    for (let index = 0; index < 6000; index += 250) {
      const fromMs = records[index]?.timeMs ?? 0;
      const toMs = fromMs + 120_000;
      const expected = records
        .filter(({ timeMs = 0 }) => timeMs >= fromMs && timeMs < toMs)
        .map(({ offset }) => offset);
      const found = await runSearch(logs, { src: ['=a.log'], fromMs, toMs });
      expect(found.records.map(({ offset }) => offset)).toEqual(expected);
      const first = await runSearch(logs, { src: ['=a.log'], start: { timeMs: fromMs }, limit: 1 });
      expect(first.records[0]?.offset).toBe(records.find(({ timeMs = 0 }) => timeMs >= fromMs)?.offset);
    }
  });
});
