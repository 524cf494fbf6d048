import { describe, expect, it } from 'vitest';
import { createZone } from '../../zone.ts';
import { compileTimeLayout, TimeLayoutError } from './time-layout.ts';

const OPTIONS = { zone: createZone('Asia/Shanghai'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };

/** The time at the start of a text and what follows it; `undefined` if there is none. */
function read(layout: string, text: string): [string, string] | undefined {
  const bytes = Buffer.from(text);
  const time = { timeMs: Number.NaN, end: 0 };
  if (!compileTimeLayout(layout)(OPTIONS)(bytes, 0, bytes.length, time)) return undefined;
  return [new Date(time.timeMs).toISOString(), text.slice(time.end)];
}

describe('a time layout', () => {
  it.each([
    ['yyyy-MM-dd HH:mm:ss', '2026-11-15 10:00:00 x', '2026-11-15T02:00:00.000Z', ' x'],
    ['yyyy-MM-dd HH:mm:ss[.S]', '2026-11-15 10:00:00.1239 x', '2026-11-15T02:00:00.123Z', ' x'],
    ["yyyy-MM-dd'T'HH:mm:ssX", '2026-11-15T10:00:00+02:00', '2026-11-15T08:00:00.000Z', ''],
    ['yyyy-MM-dd HH:mm:ss[ X]', '2026-07-15 10:00:00 CEST [1]', '2026-07-15T08:00:00.000Z', ' [1]'],
    // Which zone CST is cannot be known: the time is in the zone of the file.
    ['yyyy-MM-dd HH:mm:ss[ X]', '2026-11-15 10:00:00 CST x', '2026-11-15T02:00:00.000Z', ' x'],
    ['yyyy-MM-dd HH:mm:ss[ X]', '2026-11-15 10:00:00 INFO', '2026-11-15T02:00:00.000Z', ' INFO'],
    ['yyMMdd H:mm:ss', '261115  9:00:00', '2026-11-15T01:00:00.000Z', ''],
    ['MMM d, yyyy H:mm:ss a', 'Nov 5, 2026 12:00:01 AM x', '2026-11-04T16:00:01.000Z', ' x'],
    ['MMM d, yyyy H:mm:ss a', 'Nov 5, 2026 12:00:01 pm x', '2026-11-05T04:00:01.000Z', ' x'],
    ['EEE MMM d HH:mm:ss yyyy', 'Sun Nov  8 10:00:00 2026', '2026-11-08T02:00:00.000Z', ''],
    ['yyyy-MM-dd-HH.mm.ss.SO', '2026-11-15-10.00.00.5-090', '2026-11-15T11:30:00.500Z', ''],
    ['epoch', '1794736800.5: x', '2026-11-15T10:00:00.500Z', ': x'],
    ['epoch', '1794736800123456789 x', '2026-11-15T10:00:00.123Z', ' x'],
    ['epoch', '1.7947368005e+09 x', '2026-11-15T10:00:00.500Z', ' x'],
    // Without a year or a date: before the file was last written.
    ['MM-dd HH:mm:ss', '12-31 23:59:59', '2025-12-31T15:59:59.000Z', ''],
    ['HH:mm:ss', '08:00:00', '2026-11-15T00:00:00.000Z', ''],
    ['HH:mm:ss', '23:00:00', '2026-11-14T15:00:00.000Z', ''],
  ])('%s reads %j', (layout, text, time, rest) => {
    expect(read(layout, text)).toEqual([time, rest]);
  });

  it.each([
    ['yyyy-MM-dd HH:mm:ss', '2026-02-30 10:00:00'],
    ['yyyy-MM-dd HH:mm:ss', '2026-11-15 24:00:00'],
    ['yyyy-MM-dd HH:mm:ss', '2026-11-15 10:00:000'],
    ['yyyy-MM-dd HH:mm:ss', '2026-11-15 10:00'],
    ['MMM d, yyyy H:mm:ss a', 'Nov 5, 2026 13:00:01 AM'],
    ['epoch', '2026 x'],
    ['epoch', '123 x'],
  ])('%s does not read %j', (layout, text) => {
    expect(read(layout, text)).toBeUndefined();
  });

  it.each([
    ['yyyy-MM-dd', 'has no HH'],
    ['HH:mm[:ss', 'has an open bracket'],
    ['HH:mm]:ss', 'closes no bracket'],
    ['QQ HH:mm', 'has an unknown field Q'],
  ])('%s is rejected', (layout, message) => {
    expect(() => compileTimeLayout(layout)).toThrow(TimeLayoutError);
    expect(() => compileTimeLayout(layout)).toThrow(message);
  });
});
