import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS } from '../../parse/detect-format.ts';
import { createZone } from '../../parse/zone.ts';
import type { Piece } from '../ring/ring-entry.ts';
import { HOLD_MS, IDLE_MS, MAX_PIECE_BYTES, RecordAssembler } from './record-assembler.ts';

const LINE = '2026-11-15 10:00:00.000\tINFO\ta/b.go:1\tone\n';
const FORMAT = BUILT_IN_FORMATS.detect(Buffer.from(LINE.repeat(3)), { zone: createZone('UTC'), writtenMs: 0 });

const assembler = (offset = 0) => new RecordAssembler(FORMAT, offset, { continues: offset > 0 });
const bytes = (text: string) => Buffer.from(text);
const shown = (pieces: readonly Piece[]) =>
  pieces.map(({ bytes: text, continued, unfinished }) => {
    const marks = `${continued ? '+' : ''}${unfinished ? '…' : ''}`;
    return `${marks}${text}`;
  });

test('a record is emitted when the next one starts', () => {
  const records = assembler();
  expect(records.push(bytes(`${LINE}\tat a\n\tat b\n`), 0)).toEqual([]);
  expect(shown(records.push(bytes(LINE), 1))).toEqual([`${LINE}\tat a\n\tat b\n`]);
});

test('a record is emitted after the hold time, and later lines continue it', () => {
  const records = assembler();
  records.push(bytes(LINE), 0);
  expect(records.dueMs).toBe(HOLD_MS);
  expect(records.flush(HOLD_MS - 1)).toEqual([]);
  expect(shown(records.flush(HOLD_MS))).toEqual([LINE]);
  expect(records.dueMs).toBe(Infinity);
  records.push(bytes('\tat a\n'), 100);
  expect(shown(records.flush(100 + HOLD_MS))).toEqual(['+\tat a\n']);
});

test('lines that keep coming do not delay a record forever', () => {
  const records = assembler();
  let emitted: Piece[] = [];
  for (let now = 0; emitted.length === 0; now += 10) {
    records.push(bytes(now === 0 ? LINE : '\tmore\n'), now);
    emitted = records.flush(now);
    expect(now).toBeLessThan(60);
  }
});

test('an incomplete line is emitted after the idle time, and its rest continues it', () => {
  const records = assembler();
  records.push(bytes(LINE.slice(0, 30)), 0);
  expect(records.dueMs).toBe(IDLE_MS);
  expect(records.flush(IDLE_MS - 1)).toEqual([]);
  expect(shown(records.flush(IDLE_MS))).toEqual([`…${LINE.slice(0, 30)}`]);
  records.push(bytes(LINE.slice(30)), 2000);
  const rest = records.push(bytes(LINE), 2001);
  expect(shown(rest)).toEqual([`+${LINE.slice(30)}`]);
  expect(rest[0]?.offset).toBe(30);
  expect(shown(records.flush(3000))).toEqual([LINE]);
});

test('a line in many small parts is one record', () => {
  const records = assembler();
  const emitted = Array.from(LINE, (letter, index) => records.push(bytes(letter), index)).flat();
  expect(shown([...emitted, ...records.flush(1000)])).toEqual([LINE]);
});

test('CRLF stays as it is', () => {
  const records = assembler();
  const line = LINE.replace('\n', '\r\n');
  expect(shown([...records.push(bytes(line + line), 0), ...records.flushAll()])).toEqual([line, line]);
});

test('a line too long to buffer is split between characters', () => {
  const records = assembler();
  const long = `${LINE.trimEnd()}${'ä'.repeat(MAX_PIECE_BYTES)}\n`;
  const whole = bytes(long);
  const pieces: Piece[] = [];
  for (let at = 0; at < whole.length; at += 100_000) pieces.push(...records.push(whole.subarray(at, at + 100_000), 0));
  pieces.push(...records.flushAll());
  expect(pieces.map(({ bytes: text }) => text.toString()).join('')).toBe(long);
  expect(pieces.map(({ continued }) => continued)).toEqual(pieces.map((_, index) => index > 0));
  expect(pieces.every(({ bytes: text }) => text.length <= 2 * MAX_PIECE_BYTES)).toBe(true);
});

test('lines before the first record are a record at the start of a file, and a continuation elsewhere', () => {
  expect(shown([...assembler().push(bytes(`banner\nmore\n${LINE}`), 0)])).toEqual(['banner\nmore\n']);
  expect(shown([...assembler(7).push(bytes(`\tat a\n${LINE}`), 0)])).toEqual(['+\tat a\n']);
});

test('any input at any time: every byte is emitted once, in order', () => {
  const part = fc.constantFrom(LINE, '\tat x\n', LINE.slice(0, 20), 'x', '\n', '\r\n', `${LINE}${LINE}`, '');
  const steps = fc.array(fc.tuple(part, fc.nat({ max: 1500 })), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (parts) => {
      const records = assembler();
      const pieces: Piece[] = [];
      let now = 0;
      for (const [text, pause] of parts) {
        pieces.push(...records.push(bytes(text), now));
        now += pause;
        pieces.push(...records.flush(now));
      }
      pieces.push(...records.flushAll());
      let offset = 0;
      for (const piece of pieces) {
        expect(piece.offset).toBe(offset);
        expect(piece.bytes.length).toBeGreaterThan(0);
        offset += piece.bytes.length;
      }
      expect(pieces.map(({ bytes: text }) => text.toString()).join('')).toBe(parts.map(([text]) => text).join(''));
    }),
  );
});
