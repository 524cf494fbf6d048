import { describe, expect, it } from 'vitest';
import { LocalTimesReader } from './local-times.ts';
import { parseUserFormats } from './user-format.ts';
import { createZone, fixedZoneName } from './zone.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 12);

const read = (lines: readonly string[], reader = new LocalTimesReader()) =>
  reader.read(Buffer.from(`${lines.join('\n')}\n`), NOW_MS);

describe('times without a zone', () => {
  it.each([
    ['LinDB', ['2026-11-15 11:00:00.500\tINFO\ta.go:1\tone', '2026-11-15 11:00:00.250\tWARN\ta.go:1\ttwo']],
    ['ISO', ['2026-11-15T11:00:00.500 INFO one', '2026-11-15T11:00:00.250 WARN two']],
    ['docker without a wrapper time', ['[2026-11-15 11:00:00,500] INFO one', '[2026-11-15 11:00:00,250] INFO two']],
  ])('are found in lines of %s', (_name, lines) => {
    const atMs = Date.UTC(2026, 10, 15, 11);
    expect(read(lines)).toEqual({ hasLocal: true, lastMs: atMs + 250, newestMs: atMs + 500 });
  });

  it.each([
    ['an offset', ['2026-11-15T11:00:00.500+08:00 INFO one', '2026-11-15T11:00:00.250+08:00 WARN two']],
    ['a Z', ['{"ts":"2026-11-15T11:00:00Z","level":"info","msg":"one"}']],
    ['epoch times', ['{"ts":1794741120.004,"level":"info","msg":"one"}']],
    ['no times', ['one', 'two']],
    ['nothing', ['']],
  ])('are none in lines with %s', (_name, lines) => {
    expect(read(lines)).toEqual({ hasLocal: false });
  });

  it('that lack a year say nothing of when they were written', () => {
    expect(read(['Nov 15 11:00:00 host app[1]: one', 'Nov 15 11:00:01 host app[1]: two'])).toEqual({ hasLocal: true });
  });

  it('are read with formats of the settings', () => {
    const { formats } = parseUserFormats([
      { name: 'own', lines: '{level};{time};{message}', times: 'yyyy/MM/dd HH:mm:ss' },
    ]);
    const found = read(['W;2026/11/15 11:00:00;one'], new LocalTimesReader(formats));
    expect(found).toMatchObject({ hasLocal: true, lastMs: Date.UTC(2026, 10, 15, 11) });
  });
});

it.each([
  [8 * 3_600_000, 'UTC+08:00'],
  [5.75 * 3_600_000, 'UTC+05:45'],
  [-3.5 * 3_600_000, 'UTC-03:30'],
  [0, 'UTC'],
])('a zone of a fixed offset has it at all times: %d', (offsetMs, name) => {
  expect(fixedZoneName(offsetMs)).toBe(name);
  const zone = createZone(name);
  expect([zone.name, zone.offsetMsAt(NOW_MS), zone.toEpochMs(NOW_MS)]).toEqual([name, offsetMs, NOW_MS - offsetMs]);
});
