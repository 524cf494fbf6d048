import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createZone } from '../../zone.ts';
import { readIsoTime } from './iso-time.ts';

const zone = createZone('Etc/GMT-8');

function read(text: string) {
  const time = { timeMs: 0, end: 0 };
  const bytes = Buffer.from(text);
  if (!readIsoTime(bytes, 0, bytes.length, zone, time)) return undefined;
  return [new Date(time.timeMs).toISOString(), text.slice(time.end)];
}

describe('a time', () => {
  test.each([
    ['2024-08-16 09:48:23', '2024-08-16T01:48:23.000Z', ''],
    ['2024-08-16T09:48:23.118', '2024-08-16T01:48:23.118Z', ''],
    ['2024/08/16 09:48:23,118 x', '2024-08-16T01:48:23.118Z', ' x'],
    ['2024.08.16 09:48:23.118999 x', '2024-08-16T01:48:23.118Z', ' x'],
    ['2024-08-16T09:48:23Z', '2024-08-16T09:48:23.000Z', ''],
    ['2024-08-16T09:48:23.118Z]', '2024-08-16T09:48:23.118Z', ']'],
    ['2024-08-16T09:48:23Zulu', '2024-08-16T01:48:23.000Z', 'Zulu'],
    ['2024-08-16T09:48:23+02:00 x', '2024-08-16T07:48:23.000Z', ' x'],
    ['2024-08-16T09:48:23-0330', '2024-08-16T13:18:23.000Z', ''],
    ['2024-08-16 09:48:23+00', '2024-08-16T09:48:23.000Z', ''],
    ['2024-08-16 09:48:23 +0200 x', '2024-08-16T07:48:23.000Z', ' x'],
    ['2024-08-16 09:48:23 +02:00] x', '2024-08-16T07:48:23.000Z', '] x'],
    ['2024-08-16 09:48:23 UTC x', '2024-08-16T09:48:23.000Z', ' x'],
    ['2024-08-16 09:48:23 GMT', '2024-08-16T09:48:23.000Z', ''],
    ['2024-08-16 09:48:23 UTCx', '2024-08-16T01:48:23.000Z', ' UTCx'],
    ['2024-08-16 09:48:23 -03 [1]', '2024-08-16T12:48:23.000Z', ' [1]'],
    ['2024-08-16 09:48:23 -03 degrees', '2024-08-16T01:48:23.000Z', ' -03 degrees'],
    ['2024-08-16 09:48:23 -9999', '2024-08-16T01:48:23.000Z', ' -9999'],
    ['2024-08-16 09:48:23 - x', '2024-08-16T01:48:23.000Z', ' - x'],
    ['2024-08-16 09:48:23+', '2024-08-16T01:48:23.000Z', '+'],
  ])('%j is read', (text, iso, rest) => {
    expect(read(text)).toEqual([iso, rest]);
  });

  test.each([
    '',
    '2024-08-16',
    '2024-08/16 09:48:23',
    '2024-02-30 09:48:23',
    '2024-08-16_09:48:23',
    '2024-08-16 24:48:23',
    '20x4-08-16 09:48:23',
    '16-08-2024 09:48:23',
  ])('%j is not a time', (text) => {
    expect(read(text)).toBeUndefined();
  });

  test('with any offset is the instant a parser of ISO times finds', () => {
    const instant = fc.integer({ min: 0, max: Date.parse('9990-01-01T00:00:00Z') });
    fc.assert(
      fc.property(instant, fc.nat(14), fc.nat(59), fc.constantFrom('+', '-'), (ms, hours, minutes, sign) => {
        const two = (value: number) => String(value).padStart(2, '0');
        const text = `${new Date(ms).toISOString().slice(0, -1)}${sign}${two(hours)}:${two(minutes)}`;
        expect(read(text)).toEqual([new Date(Date.parse(text)).toISOString(), '']);
        expect(read(text.replace(/:(\d\d)$/, '$1'))).toEqual(read(text));
      }),
    );
  });
});
