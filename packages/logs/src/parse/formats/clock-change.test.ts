import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS, createFormat } from '../detect-format.ts';
import { createZone } from '../zone.ts';

const OPTIONS = { zone: createZone('Europe/Berlin'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };

/** A line of each format, or layout, without a zone; with the date in its own spelling. */
const LINES: [string, (month: 'Mar' | 'Oct', day: string, clock: string) => string][] = [
  ['contract', (month, day, clock) => `2026-${number(month)}-${day} ${clock}.000\tINFO\ta.go:1\tx\n`],
  [
    'lindb-access',
    (month, day, clock) => `2026-${number(month)}-${day} ${clock}.000\t::1 3ms "GET / HTTP/1.1" 200 1\n`,
  ],
  ['lindb-slow-sql', (month, day, clock) => `# Time: 2026-${number(month)}-${day} ${clock} \n`],
  ['json', (month, day, clock) => `{"time":"2026-${number(month)}-${day}T${clock}","msg":"x"}\n`],
  ['glog', (month, day, clock) => `I${number(month)}${day} ${clock}.000000       1 a.go:1] x\n`],
  ['glog', (month, day, clock) => `I2026${number(month)}${day} ${clock}.000000 12345 a.cc:1] x\n`],
  ['capnslog', (month, day, clock) => `2026-${number(month)}-${day} ${clock}.000000 I | embed: x\n`],
  ['capnslog', (month, day, clock) => `raft2026/${number(month)}/${day} ${clock} INFO: x\n`],
  ['log4j', (month, day, clock) => `2026-${number(month)}-${day} ${clock},000 [main] INFO  c.e.App - x\n`],
  ['nginx-error', (month, day, clock) => `2026/${number(month)}/${day} ${clock} [error] 1#1: x\n`],
  ['syslog', (month, day, clock) => `${month} ${day} ${clock} db1 su[77]: x\n`],
  ['iso', (month, day, clock) => `2026-${number(month)}-${day} ${clock} x\n`],
  ['iso', (month, day, clock) => `1:M ${day} ${month} 2026 ${clock}.000 * x\n`],
];

function number(month: 'Mar' | 'Oct'): string {
  return month === 'Mar' ? '03' : '10';
}

/** Clocks were set forward on 2026-03-29 at 02:00 (01:00 UTC), and back on 2026-10-25 at 03:00 (01:00 UTC). */
const TIMES: ['Mar' | 'Oct', string, string, string][] = [
  ['Mar', '29', '01:59:59', '2026-03-29T00:59:59.000Z'],
  ['Mar', '29', '02:30:00', '2026-03-29T01:30:00.000Z'], // skipped: as if the clock had not been set forward
  ['Mar', '29', '03:00:00', '2026-03-29T01:00:00.000Z'],
  ['Oct', '25', '01:59:59', '2026-10-24T23:59:59.000Z'],
  ['Oct', '25', '02:30:00', '2026-10-25T00:30:00.000Z'], // occurs twice: the first
  ['Oct', '25', '03:00:00', '2026-10-25T02:00:00.000Z'],
];

test.each(LINES)('%s: a skipped hour and one that occurs twice (%#)', (name, lineAt) => {
  const head = { timeMs: 0, rank: 0 };
  const read = TIMES.map(([month, day, clock]) => {
    const line = Buffer.from(lineAt(month, day, clock));
    const format = BUILT_IN_FORMATS.detect(line, OPTIONS);
    expect(format.name).toBe(name);
    expect(createFormat(format.spec, OPTIONS).readHead(line, 0, line.length, head)).toBe(true);
    expect(format.decode(line, 0, line.length).timeMs).toBe(head.timeMs);
    return new Date(head.timeMs).toISOString();
  });
  expect(read).toEqual(TIMES.map(([, , , utc]) => utc));
});

test('a file across the hour that occurs twice: the second time it has the times of the first', () => {
  const text = ['02:15:00', '02:45:00', '02:15:00', '02:45:00', '03:00:00']
    .map((clock) => `2026-10-25 ${clock}.000\tINFO\ta.go:1\tx\n`)
    .join('');
  const bytes = Buffer.from(text);
  const format = BUILT_IN_FORMATS.detect(bytes, OPTIONS);
  const width = bytes.length / 5;
  const times = [0, 1, 2, 3, 4].map((index) => format.decode(bytes, index * width, (index + 1) * width).timeMs ?? 0);
  expect(times.map((timeMs) => new Date(timeMs).toISOString().slice(11, 16))).toEqual([
    '00:15',
    '00:45',
    '00:15',
    '00:45',
    '02:00',
  ]);
});

test('a time with a zone is not affected', () => {
  const line = Buffer.from('{"ts":"2026-10-25T02:30:00.000+0100","msg":"the second time"}\n');
  expect(BUILT_IN_FORMATS.detect(line, OPTIONS).decode(line, 0, line.length).timeMs).toBe(
    Date.parse('2026-10-25T01:30:00Z'),
  );
});
